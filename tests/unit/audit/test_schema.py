from __future__ import annotations

import sqlite3
from contextlib import closing

from vaultroom.audit import schema

SPECIFIED = {
    "sessions": "id started_at ended_at agent_name agent_command policy_hash pubkey head_hash head_sig",
    "events": "id session_id ts seq source action payload rule_name verdict final_effect approved_by wait_ms "
    "eval_micros prev_hash row_hash",
    "schema_migrations": "version applied_at",
}


def test_the_tables_have_the_specified_columns_in_order() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema.DDL:
            connection.execute(statement)
        for table, columns in SPECIFIED.items():
            found = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            assert found == columns.split()
    assert list(schema.EVENT_COLUMNS) == SPECIFIED["events"].split()


def test_the_ddl_can_run_twice() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*schema.DDL, schema.MIGRATED, *schema.DDL, schema.MIGRATED):
            connection.execute(statement)
        assert schema.objects(connection) == schema.expected_objects()
        assert connection.execute("SELECT version FROM schema_migrations").fetchall() == [(1,)]


def test_an_object_more_or_less_is_noticed() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema.DDL:
            connection.execute(statement)
        connection.execute("CREATE VIEW v AS SELECT 1")
        assert schema.objects(connection) - schema.expected_objects() == {
            ("view", "v", "CREATE VIEW v AS SELECT 1")
        }

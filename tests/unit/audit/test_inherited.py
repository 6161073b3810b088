"""What a new host reads; what it refuses is in test_tamper_matrix.py."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.unit.audit.audit_kit import OTHER_HASH, POLICY_HASH, Log
from vaultroom.audit import inherited
from vaultroom.audit.store import Store
from vaultroom.errors import StoreError


def test_a_host_inherits_totals_sessions_and_policies(log: Log) -> None:
    with closing(Store(log.db, create=False)) as store:
        left = inherited.load(store)
        assert inherited.load_policies(store) == {POLICY_HASH, OTHER_HASH}
        head_file, notice = inherited.compare_head_file(store, left.totals, log.key.public)
    assert (left.totals.rows, left.totals.sessions) == (25, 3)
    assert [(item.id, item.segment, item.seq, item.start_cwd) for item in left.unsealed] == [
        (log.unsealed, 1, 6, "/home/user")
    ]
    assert left.tips[log.unsealed].seq == 6
    assert left.sealed is not None
    assert (left.sealed.session_id, left.sealed.seq) == (log.sealed, 11)
    assert head_file is not None
    assert notice == ""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET payload = '{}' WHERE action = 'session.open'",
        "UPDATE events SET action = 'shell.exec'",
        "UPDATE sessions SET agent_command = 'claude'",
        "UPDATE sessions SET head_hash = NULL",
        "UPDATE sessions SET pubkey = NULL",
        "DELETE FROM heads",
        "UPDATE heads SET rows = 'many', seq = x'00'",
    ],
)
def test_a_log_that_cannot_be_read_is_a_store_error(log: Log, statement: str) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        connection.execute(statement)
        connection.commit()
    with (
        closing(Store(log.db, create=False)) as store,
        pytest.raises(StoreError, match="not as Vaultroom left it"),
    ):
        inherited.load(store)

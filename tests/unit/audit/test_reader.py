from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import OTHER_HASH, OTHER_POLICY, Log, add_rows, open_writer, session_start
from vaultroom.audit.reader import AuditReader
from vaultroom.errors import StoreError


def test_pages_go_back_from_the_newest_row(log: Log) -> None:
    with AuditReader(log.db) as reader:
        newest = reader.page(4)
        older = reader.page(4, before=newest[0].rowid)
        everything = reader.page(1000)
    assert [row.rowid for row in (*older, *newest)] == [row.rowid for row in everything[-8:]]
    assert newest[-1].rowid == len(everything)


def test_one_session_in_order(log: Log) -> None:
    with AuditReader(log.db) as reader:
        rows = reader.of_session(log.sealed, after_seq=2, limit=3)
    assert [(row.session_id, row.seq) for row in rows] == [(log.sealed, seq) for seq in (3, 4, 5)]


def test_what_is_newer_than_a_cursor(log: Log) -> None:
    with AuditReader(log.db) as reader:
        cursor = reader.last_rowid()
        assert reader.newer(cursor, 10) == []
        writer = open_writer(log.db, log.key)
        writer.open_session(session_start(log.unsealed, segment=2)).result()
        add_rows(writer, log.unsealed, 3)
        assert [row.seq for row in reader.newer(cursor, 3)] == [7, 8, 9]
        writer.stop()


def test_one_event_its_policy_and_the_sessions(log: Log) -> None:
    with AuditReader(log.db) as reader:
        row = reader.page(1)[0]
        assert reader.by_id(row.id) == row
        assert reader.by_id("nothing") is None
        assert reader.policy(OTHER_HASH) == OTHER_POLICY
        assert reader.policy("nothing") is None
        assert [(item.id, item.ended_at is None) for item in reader.sessions()] == [
            (log.sealed, False),
            (log.taken_over, False),
            (log.unsealed, True),
        ]


def test_no_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        AuditReader(tmp_path / "audit.db")

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log, add_rows, open_writer, session_start
from vaultroom.audit.readonly import readonly
from vaultroom.errors import StoreError


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def count(path: Path) -> int:
    with readonly(path) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def test_a_closed_log_is_read_without_a_trace(log: Log) -> None:
    before = contents(log.db.parent)
    assert count(log.db) == 25
    assert contents(log.db.parent) == before


@pytest.mark.parametrize("with_index", [False, True])
def test_a_killed_hosts_log_is_read_without_a_trace(log: Log, with_index: bool) -> None:
    child = os.fork()
    if child == 0:
        try:
            writer = open_writer(log.db, log.key)
            writer.open_session(session_start(log.unsealed, segment=2)).result()
            add_rows(writer, log.unsealed, 4)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    index = log.db.with_name("audit.db-shm")
    assert log.wal.stat().st_size and index.exists()
    if not with_index:
        index.unlink()
    before = contents(log.db.parent)
    assert count(log.db) == 30
    assert contents(log.db.parent) == before


def test_a_writing_hosts_log_is_read_as_one_state(log: Log) -> None:
    writer = open_writer(log.db, log.key)
    writer.open_session(session_start(log.unsealed, segment=2)).result()
    with readonly(log.db) as connection:
        add_rows(writer, log.unsealed, 2)
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (26,)
    assert count(log.db) == 28
    writer.stop()


def test_no_log_is_an_error_and_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="found nothing"), readonly(tmp_path / "audit.db"):
        pass
    assert list(tmp_path.iterdir()) == []

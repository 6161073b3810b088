from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log
from vaultroom.audit import schema
from vaultroom.audit.store import DuplicateRow, Store, StoreBusy
from vaultroom.audit.verify import verify
from vaultroom.errors import StoreError

POLICY_ROW = ("INSERT INTO policies VALUES (?, x'00', 'now')", ("a",))


def test_a_new_log_has_the_specified_pragmas_and_mode(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "a.db", create=True)) as store:
        assert store.read("PRAGMA journal_mode") == [("wal",)]
        assert store.read("PRAGMA synchronous") == [(2,)]
        assert store.read("SELECT version FROM schema_migrations") == [(1,)]
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


def test_the_tables_are_the_specified_ones() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema.DDL:
            connection.execute(statement)
        found = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
    assert tuple(found) == schema.EVENT_COLUMNS


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "a.db", create=True)) as store:
        store.write([POLICY_ROW])
        with pytest.raises(DuplicateRow):
            store.write([("INSERT INTO policies VALUES ('b', x'00', 'now')", ()), POLICY_ROW])
        assert store.read("SELECT hash FROM policies") == [("a",)]


def test_a_newer_version_is_refused_by_writer_and_verify(log: Log) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (2, 'later')")
        connection.commit()
    with pytest.raises(StoreError, match="found version 2"):
        Store(log.db, create=True)
    with pytest.raises(StoreError, match="found version 2"):
        verify(log.db, None)


@pytest.mark.parametrize("content", [b"hello, I am a text file" * 50, b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    for opening in (lambda: Store(path, create=True), lambda: verify(path, None)):
        with pytest.raises(StoreError) as caught:
            opening()
        assert str(path) in caught.value.message
        assert caught.value.advice
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (x)")
    with pytest.raises(StoreError, match="expected an audit log"):
        Store(path, create=True)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be created") as caught:
        Store(tmp_path / "no" / "a.db", create=True)
    assert "folder" in caught.value.advice


def test_a_lock_of_another_program_is_named_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with (
        closing(Store(path, create=True, busy_seconds=0.05)) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as caught:
            store.write([POLICY_ROW])
        assert "lock" in caught.value.advice
        other.execute("ROLLBACK")
        store.write([POLICY_ROW])


@pytest.mark.parametrize("victim", ["a.db", "a.db-wal"])
def test_a_file_that_was_moved_away_is_noticed(tmp_path: Path, victim: str) -> None:
    with closing(Store(tmp_path / "a.db", create=True)) as store:
        store.write([POLICY_ROW])
        (tmp_path / victim).rename(tmp_path / "elsewhere")
        with pytest.raises(StoreError, match="moved, deleted or replaced"):
            store.write([("DELETE FROM policies", ())])


def test_a_read_only_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Store(path, create=True).close()
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                for folder in tmp_path.parents:
                    if folder.stat().st_uid == 0 and "pytest" in folder.name:
                        folder.chmod(0o755)
                os.seteuid(65534)
            Store(path, create=True)
            os.write(writing, b"opened")
        except StoreError as error:
            os.write(writing, f"{error.message}|{error.advice}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    tmp_path.chmod(0o755)
    assert str(path) in text
    assert "writable" in text

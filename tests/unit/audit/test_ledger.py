"""Failures of the store: exactly the failed rows fail, and the chain goes on cleanly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.unit.audit.audit_kit import an_entry, session_start
from vaultroom.audit.ledger import Append, Ledger
from vaultroom.audit.record import note_entry
from vaultroom.audit.verify import verify
from vaultroom.errors import StoreError
from vaultroom.events import Action, new_ulid
from vaultroom.signing import SigningKey

KEY = SigningKey.generate()


class Faulty:
    """A connection that fails once at a statement, before or after the statement took effect."""

    def __init__(self, connection: sqlite3.Connection, statement: str, *, after: bool) -> None:
        self._connection = connection
        self._statement = statement
        self._after = after

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        hit = self._statement and sql.startswith(self._statement)
        if hit and not self._after:
            self._statement = ""
            raise sqlite3.OperationalError("disk I/O error")
        result = self._connection.execute(sql, parameters)
        if hit:
            self._statement = ""
            raise sqlite3.OperationalError("disk I/O error")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def session() -> str:
    return new_ulid()


@pytest.fixture
def ledger(tmp_path: Path, session: str) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "audit.db", KEY, busy_seconds=0.05)
    ledger.open_session(session_start(session))
    yield ledger
    ledger.stop()


def check(tmp_path: Path, rows: int) -> None:
    report = verify(tmp_path / "audit.db", KEY.public)
    assert report.exit_code == 0, report
    assert report.rows == rows


def append(ledger: Ledger, session: str, count: int = 1) -> list[int | Exception]:
    return ledger.append([Append(an_entry(session)) for _ in range(count)])


@pytest.mark.parametrize("statement", ["BEGIN", "INSERT INTO events", "INSERT INTO heads", "COMMIT"])
@pytest.mark.parametrize("after", [False, True])
def test_the_chain_goes_on_after_a_failure(
    ledger: Ledger, session: str, tmp_path: Path, statement: str, after: bool
) -> None:
    assert append(ledger, session, 3) == [2, 3, 4]
    assert ledger._store is not None
    ledger._store._connection = Faulty(ledger._store._connection, statement, after=after)  # type: ignore[assignment]
    results = append(ledger, session, 3)
    assert all(isinstance(result, StoreError) for result in results)
    took_effect = statement == "COMMIT" and after
    expected = 8 if took_effect else 5
    assert append(ledger, session) == [expected]
    check(tmp_path, expected)


def test_after_a_failed_sync_everything_is_written_again(
    ledger: Ledger, session: str, tmp_path: Path
) -> None:
    """What the kernel calls clean after a failed sync may not be on the disk."""
    with closing(sqlite3.connect(tmp_path / "audit.db")) as keeps_the_wal:
        keeps_the_wal.execute("SELECT count(*) FROM sessions").fetchone()
        append(ledger, session, 3)
        assert ledger._store is not None
        faulty = Faulty(ledger._store._connection, "COMMIT", after=True)
        ledger._store._connection = faulty  # type: ignore[assignment]
        append(ledger, session)
        assert (tmp_path / "audit.db-wal").stat().st_size > 0
        ledger._recover()
        assert (tmp_path / "audit.db-wal").stat().st_size == 0


def test_a_full_database_fails_its_rows_and_goes_on_afterwards(
    ledger: Ledger, session: str, tmp_path: Path
) -> None:
    assert ledger._store is not None
    pages = ledger._store.read("PRAGMA page_count")[0][0]
    ledger._store.read(f"PRAGMA max_page_count = {pages + 3}")  # the reopened connection has no such bound
    done = 0
    for _ in range(200):
        (result,) = append(ledger, session)
        if isinstance(result, StoreError):
            assert "full" in result.message
            assert "space" in result.advice
            break
        done += 1
    else:
        pytest.fail("the database never got full")
    assert append(ledger, session) == [done + 2]
    check(tmp_path, done + 2)


def test_a_lock_fails_its_rows_and_passes(ledger: Ledger, session: str, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "audit.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert isinstance(append(ledger, session)[0], StoreError)
    other.execute("ROLLBACK")
    other.close()
    assert append(ledger, session) == [2]
    check(tmp_path, 2)


def test_one_bad_entry_does_not_harm_its_group(ledger: Ledger, session: str, tmp_path: Path) -> None:
    first = an_entry(session)
    group = [
        first,
        an_entry(session),
        first,
        an_entry("nobody"),
        an_entry(session, tool_args={"x": object()}),
    ]
    results = ledger.append([Append(entry) for entry in [*group, an_entry(session)]])
    assert [type(item).__name__ for item in results] == [
        "int",
        "int",
        "DuplicateRow",
        "StoreError",
        "TypeError",
        "int",
    ]
    assert [item for item in results if isinstance(item, int)] == [2, 3, 4]
    check(tmp_path, 4)


def test_a_policy_is_kept_before_it_judges(ledger: Ledger, session: str, tmp_path: Path) -> None:
    import hashlib

    text = b"version: 1\n# stricter\n"
    note = note_entry(session, Action.POLICY_CHANGE, {}, policy_hash=hashlib.sha256(text).hexdigest())
    assert isinstance(ledger.append([Append(note)])[0], StoreError)
    assert isinstance(ledger.append([Append(note, b"another text")])[0], StoreError)
    assert ledger.append([Append(note, text)]) == [2]
    check(tmp_path, 2)


def test_a_deleted_database_is_never_begun_anew(ledger: Ledger, session: str, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    (tmp_path / "audit.db").rename(moved)
    for _ in range(3):
        assert isinstance(append(ledger, session)[0], StoreError)
    assert not (tmp_path / "audit.db").exists()


def test_another_writers_rows_are_not_taken_for_ones_own(
    ledger: Ledger, session: str, tmp_path: Path
) -> None:
    other = Ledger(tmp_path / "audit.db", KEY, busy_seconds=0.05)
    other.open_session(session_start(session, segment=2))
    assert append(other, session) == [3]
    other.stop()
    assert isinstance(append(ledger, session)[0], StoreError)
    assert isinstance(append(ledger, session)[0], StoreError)
    check(tmp_path, 3)


def test_lone_surrogates_are_stored_and_verified(ledger: Ledger, session: str, tmp_path: Path) -> None:
    results = ledger.append([Append(an_entry(session, argv=("rm", "\udcff"), raw="rm \udcff\0"))])
    assert results == [2]
    check(tmp_path, 2)


def test_a_start_that_does_not_fit_is_refused(ledger: Ledger, session: str, tmp_path: Path) -> None:
    for start in (
        session_start(session),
        session_start(session, segment=2),
        session_start(new_ulid(), segment=2),
    ):
        with pytest.raises(ValueError, match="expected"):
            ledger.open_session(start)
    ledger.close_session(session, "exit", 0)
    with pytest.raises(ValueError, match="unsealed"):
        ledger.open_session(session_start(session, segment=2))
    check(tmp_path, 2)


def test_a_missing_head_file_is_told_in_the_chain(ledger: Ledger, session: str, tmp_path: Path) -> None:
    ledger.stop()
    (tmp_path / "audit.db.head").unlink()
    again = Ledger(tmp_path / "audit.db", KEY, busy_seconds=0.05)
    again.open_session(session_start(session, segment=2))
    again.stop()
    report = verify(tmp_path / "audit.db", KEY.public)
    assert report.exit_code == 0
    assert "head file missing" in report.notices[0]


def test_a_head_file_that_cannot_be_written_does_not_stop_the_log(
    ledger: Ledger, session: str, tmp_path: Path
) -> None:
    head = tmp_path / "audit.db.head"
    head.unlink()
    head.mkdir()
    assert append(ledger, session) == [2]
    assert ledger.head_file_error is not None
    head.rmdir()
    assert append(ledger, session) == [3]
    assert ledger.head_file_error is None
    check(tmp_path, 3)

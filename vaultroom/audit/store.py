"""The writer's connection to the database file: opening, one transaction at a time, errors in plain words.

Only the audit writer's thread uses it. Every failure is a StoreError that names the store, the error and
the way out.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vaultroom.audit import schema
from vaultroom.errors import StoreError

BUSY_SECONDS = 2.0
"""How long a write waits for another program's lock."""

Statement = tuple[str, Sequence[Any]]

_MOVE_AWAY = (
    "Run `vaultroom verify`. To begin a new log, move the database, its -wal and its .head file "
    "into a folder of their own: together they are the evidence."
)
_WAYS_OUT = {
    "SQLITE_FULL": "Free some space on that disk; the log goes on by itself.",
    "SQLITE_IOERR": "Look at the disk (`dmesg`, `df`); the log goes on by itself once writing works.",
    "SQLITE_BUSY": "Another program holds a lock on the log: close it (`fuser` on the file names it).",
    "SQLITE_LOCKED": "Another program holds a lock on the log: close it (`fuser` on the file names it).",
    "SQLITE_READONLY": "Make the file and its folder writable for this user.",
    "SQLITE_PERM": "Make the file and its folder writable for this user.",
    "SQLITE_CANTOPEN": "Create the folder, or make it and the file writable for this user.",
    "SQLITE_NOTADB": "Name another file in `audit.path`, or move this one away.",
    "SQLITE_CORRUPT": _MOVE_AWAY,
    "SQLITE_CONSTRAINT": _MOVE_AWAY,
}


class DuplicateRow(StoreError):
    """A row whose id or place in the chain is taken; the transaction was rolled back."""


class StoreBusy(StoreError):
    """Another program held the lock for too long; nothing was written."""


def tampered(path: Path, found: str) -> StoreError:
    """The error for a log that is not what this program left."""
    return StoreError(f"the audit log {path} is not as Vaultroom left it: {found}", advice=_MOVE_AWAY)


def newer_log(path: Path, version: object) -> StoreError:
    """The error for a log with a schema that this program does not know."""
    return StoreError(
        f"expected schema version {schema.VERSION} or older in {path}, found version {version}",
        advice="A newer Vaultroom wrote this log: update this one.",
    )


def store_error(path: Path, error: Exception) -> StoreError:
    """`error` in plain words, with a way out."""
    name = getattr(error, "sqlite_errorname", None) or ""
    base = "_".join(name.split("_")[:2])
    text = f"the audit log {path} failed: {error}" + (f" ({name})" if name else "")
    advice = _WAYS_OUT.get(base, "Run `vaultroom verify`.")
    if base == "SQLITE_CONSTRAINT":
        return DuplicateRow(text, advice=advice)
    if base in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return StoreBusy(text, advice=advice)
    return StoreError(text, advice=advice)


class Store:
    """One open database. Raises StoreError where it cannot be opened, read or written."""

    def __init__(self, path: Path, *, create: bool, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._wal = path.with_name(path.name + "-wal")
        if create:
            self._create_private()
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=busy_seconds,
                isolation_level=None,
                check_same_thread=True,
                cached_statements=256,
            )
        except sqlite3.Error as error:
            raise store_error(path, error) from error
        try:
            self._prepare(create)
            self._files = self._identities()
        except sqlite3.Error as error:
            self.close()
            raise store_error(path, error) from error
        except BaseException:
            self.close()
            raise

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a small query."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error

    def write(self, statements: Iterable[Statement]) -> None:
        """Run `statements` as one transaction that is on the disk when this returns.

        After any error but StoreBusy and DuplicateRow the file may or may not hold the transaction: open
        it anew and look.
        """
        run = self._connection.execute
        try:
            run("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error
        try:
            for sql, parameters in statements:
                run(sql, parameters)
            run("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, sqlite3.OperationalError) and _is_busy(error):
                raise StoreError(f"the audit log {self.path} failed: {error}") from error
            if isinstance(error, sqlite3.Error):
                raise store_error(self.path, error) from error
            raise
        if self._identities() != self._files:
            raise tampered(self.path, "the file was moved, deleted or replaced while it was open")

    def settle(self) -> None:
        """Move everything that counts from the WAL into the database file, synced, and empty the WAL.

        After a failed sync the kernel may call pages clean that never reached the disk; writing them
        again is the only way to be sure of them.
        """
        busy, *_ = self.read("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        if busy:
            raise StoreBusy(
                f"the audit log {self.path} is being read by another program",
                advice="Close programs that read the log; it goes on by itself.",
            )

    def close(self) -> None:
        try:
            self._connection.close()
        except sqlite3.Error:
            pass

    def _create_private(self) -> None:
        """Make the file, readable by the user alone, and its name durable."""
        try:
            descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(
                f"the audit log {self.path} cannot be created: {error.strerror}",
                advice="Create the folder, or make it writable for this user.",
            ) from error
        os.close(descriptor)
        sync_folder(self.path.parent)

    def _prepare(self, create: bool) -> None:
        run = self._connection.execute
        self._check_version()
        for pragma in schema.PRAGMAS:
            run(pragma)
        if create and not schema.objects(self._connection):
            run("BEGIN IMMEDIATE")
            for statement in schema.DDL:
                run(statement)
            run(schema.MIGRATED)
            run("COMMIT")
        if schema.objects(self._connection) != schema.expected_objects():
            raise StoreError(
                f"expected an audit log in {self.path}, found other tables, indexes or triggers",
                advice="Name another file in `audit.path`. " + _MOVE_AWAY,
            )

    def _check_version(self) -> None:
        names = {name for _, name, _ in schema.objects(self._connection)}
        if "schema_migrations" not in names:
            return
        newest = self._connection.execute("SELECT max(version) FROM schema_migrations").fetchone()[0]
        if not isinstance(newest, int) or newest > schema.VERSION:
            raise newer_log(self.path, newest)

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass

    def _identities(self) -> tuple[tuple[int, int], ...] | None:
        """What names the two files for good; None when one is missing."""
        try:
            return tuple((found.st_dev, found.st_ino) for found in (os.stat(self.path), os.stat(self._wal)))
        except OSError:
            return None


def sync_folder(folder: Path) -> None:
    """Make new names in `folder` durable; a no-op where folders cannot be synced."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))

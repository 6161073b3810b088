"""Opening a log to look at it: no file beside it is created or changed, also next to a host that writes.

SQLite keeps the index of a WAL in a shared-memory file. Where that exists it is read, never written. Where
it does not, no host is running; a WAL without it (a copied log) is looked at in a temporary folder.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from vaultroom.audit import schema
from vaultroom.audit.store import newer_log, store_error
from vaultroom.errors import StoreError

_BUSY_SECONDS = 5.0


@contextmanager
def readonly(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection with a read transaction begun: everything it reads is one state of the log.

    Raises StoreError when there is no log, or one that this program cannot read.
    """
    if not path.is_file():
        raise StoreError(
            f"expected an audit log at {path}, found nothing",
            advice="The log begins with the first session; `--db FILE` names another one.",
        )
    wal = path.with_name(path.name + "-wal")
    if path.with_name(path.name + "-shm").exists():
        with closing(_open(path, ("mode=ro&readonly_shm=1", "mode=ro"))) as connection:
            yield connection
    elif wal.exists() and wal.stat().st_size:
        with tempfile.TemporaryDirectory(prefix="vaultroom-") as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, copy.with_name(wal.name))
            with closing(_open(copy, ("mode=ro",))) as connection:
                yield connection
    else:
        with closing(_open(path, ("mode=ro&immutable=1",))) as connection:
            yield connection


def _open(path: Path, ways: tuple[str, ...]) -> sqlite3.Connection:
    """The first of several sets of options that works."""
    *first, last = ways
    for options in first:
        try:
            return _checked(_connect(path, options), path)
        except sqlite3.Error:
            continue
    try:
        return _checked(_connect(path, last), path)
    except sqlite3.Error as error:
        raise store_error(path, error) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _checked(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        newest = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()[0]
        if isinstance(newest, int) and newest > schema.VERSION:
            raise newer_log(path, newest)
    except sqlite3.OperationalError as error:
        connection.close()
        raise StoreError(
            f"expected an audit log in {path}, found something else: {error}",
            advice="`--db FILE` names another one.",
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection

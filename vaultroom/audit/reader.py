"""Reading the log for front ends: pages, one session, one event, what is newer (specification section 4.6).

Read-only and small on purpose. A page is found by `rowid`, the order of writing, so that a log of ten
million rows opens as fast as a short one. What it returns comes from the database as it is: `verify` says
whether it can be trusted, and texts of agents in it are hostile until `visible()` has seen them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from vaultroom.audit.store import store_error

_COLUMNS = (
    "rowid, id, session_id, ts, seq, source, action, payload, rule_name, verdict, final_effect, approved_by, "
    "wait_ms, eval_micros"
)
_BUSY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of the log. `ts` is RFC 3339 UTC, `payload` canonical JSON, `rowid` the cursor."""

    rowid: int
    id: str
    session_id: str
    ts: str
    seq: int
    source: str
    action: str
    payload: str
    rule_name: str | None
    verdict: str
    final_effect: str | None
    approved_by: str | None
    wait_ms: int | None
    eval_micros: int | None


@dataclass(frozen=True, slots=True)
class LogSession:
    """One row of `sessions`; `ended_at` is None until it is sealed. `agent_command` is a JSON array."""

    id: str
    started_at: str
    ended_at: str | None
    agent_name: str
    agent_command: str
    policy_hash: str


class AuditReader:
    """A read-only connection; use it from one thread at a time. Raises StoreError."""

    def __init__(self, db_path: Path) -> None:
        self._path = db_path
        try:
            self._connection = sqlite3.connect(
                f"{db_path.absolute().as_uri()}?mode=ro",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise store_error(db_path, error) from error

    def __enter__(self) -> AuditReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def last_rowid(self) -> int:
        """The cursor of the newest row; 0 for an empty log."""
        return int(self._fetch("SELECT coalesce(max(rowid), 0) FROM events")[0][0])

    def page(self, limit: int, before: int | None = None) -> list[LogRow]:
        """The newest `limit` rows, older than the cursor `before` where it is given; oldest first."""
        condition, values = ("WHERE rowid < ? ", [before]) if before is not None else ("", [])
        found = self._rows(f"{condition}ORDER BY rowid DESC LIMIT ?", [*values, limit])
        return found[::-1]

    def newer(self, cursor: int, limit: int) -> list[LogRow]:
        """At most `limit` rows written after `cursor`, oldest first."""
        return self._rows("WHERE rowid > ? ORDER BY rowid LIMIT ?", [cursor, limit])

    def of_session(self, session_id: str, after_seq: int = 0, limit: int = 1000) -> list[LogRow]:
        """At most `limit` rows of one session, in order."""
        return self._rows(
            "WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?", [session_id, after_seq, limit]
        )

    def by_id(self, event_id: str) -> LogRow | None:
        """The row of one event."""
        found = self._rows("WHERE id = ?", [event_id])
        return found[0] if found else None

    def sessions(self) -> list[LogSession]:
        """All sessions, oldest first."""
        return [
            LogSession(*row)
            for row in self._fetch(
                "SELECT id, started_at, ended_at, agent_name, agent_command, policy_hash FROM sessions "
                "ORDER BY started_at, id"
            )
        ]

    def policy(self, policy_hash: str) -> bytes | None:
        """The bytes of a policy that judged; None when the log does not have it."""
        found = self._fetch("SELECT text FROM policies WHERE hash = ?", [policy_hash])
        return found[0][0] if found else None

    def _rows(self, tail: str, values: Iterable[Any]) -> list[LogRow]:
        return [LogRow(*row) for row in self._fetch(f"SELECT {_COLUMNS} FROM events {tail}", values)]

    def _fetch(self, sql: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise store_error(self._path, error) from error

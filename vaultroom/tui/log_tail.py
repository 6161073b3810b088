"""The newest page of the log, read in a thread of its own whenever the log has grown.

The room says what it wants to see (`look`), the thread leaves whole pages in a slot; the newest wins.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from vaultroom.audit.reader import AuditReader, LogRow
from vaultroom.errors import VaultroomError
from vaultroom.tui.log_line import Entry, act, entry_of, payload_of
from vaultroom.tui.slot import Slot
from vaultroom.visible import visible

PAGE = 500
POLL_SECONDS = 0.1
_AT_ONCE = 50
"""Rows made into entries before the other threads get a turn: no thread of the host's process may hold
the interpreter for 5 ms."""
_REMEMBERED_TARGETS = 2000


@dataclass(frozen=True, slots=True)
class View:
    """What to read: the whole log, or one session's rows."""

    db: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The newest rows of a view, oldest first. `count` grows by one with each row that the view gains."""

    view: View
    entries: tuple[Entry, ...]
    count: int
    trouble: str = ""


class LogTail:
    """One thread; everything public may be called from the room's."""

    def __init__(self, *, page: int = PAGE, poll: float = POLL_SECONDS) -> None:
        self.pages: Slot[Page] = Slot()
        self._page, self._poll = page, poll
        self._view = View()
        self._paused = False
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="room-log", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def look(self, view: View) -> None:
        if view != self._view:
            self._view = view
            self._wake.set()

    def pause(self, paused: bool) -> None:
        """Nobody looks: read nothing until somebody does."""
        self._paused = paused
        self._wake.set()

    def _run(self) -> None:
        reading: _Reading | None = None
        try:
            while not self._stopping.is_set():
                view = self._view
                if reading is None or reading.view != view:
                    if reading is not None:
                        reading.close()
                    reading = _Reading(view, self._page)
                page = None if self._paused or not view.db else reading.next()
                if page is not None and page.view == self._view:
                    self.pages.put(page)
                self._wake.wait(None if self._paused else self._poll)
                self._wake.clear()
        finally:
            if reading is not None:
                reading.close()


class _Reading:
    """One view being read: the reader, the cursor, and the page so far."""

    def __init__(self, view: View, limit: int) -> None:
        self.view = view
        self._limit = limit
        self._reader: AuditReader | None = None
        self._entries: list[Entry] = []
        self._last_rowid = -1
        self._last_seq = 0
        self._agents: dict[str, str] = {}
        self._targets: OrderedDict[str, str] = OrderedDict()
        self._trouble = ""

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def next(self) -> Page | None:
        """The page when it changed, else None. Trouble is a page too, once."""
        try:
            if not self._advance():
                return None
        except (VaultroomError, OSError) as error:
            self.close()
            trouble = visible(str(error))
            if trouble == self._trouble:
                return None
            self._trouble = trouble
        else:
            self._trouble = ""
        count = self._last_seq if self.view.session else max(0, self._last_rowid)
        return Page(self.view, tuple(self._entries), count, self._trouble)

    def _advance(self) -> bool:
        reader = self._reader
        if reader is None:
            if not Path(self.view.db).exists():
                return self._last_rowid < 0 and self._first_look()
            reader = self._reader = AuditReader(Path(self.view.db))
        newest = reader.last_rowid()
        if newest == self._last_rowid and not self._trouble:
            return False
        rows = self._session_rows(reader) if self.view.session else self._rows(reader, newest)
        self._last_rowid = newest
        if rows:
            self._last_seq = rows[-1].seq
            self._add(reader, rows)
        return True

    def _first_look(self) -> bool:
        self._last_rowid = 0
        return True

    def _rows(self, reader: AuditReader, newest: int) -> list[LogRow]:
        if self._last_rowid < 0 or newest - self._last_rowid > self._limit:
            self._entries.clear()
            return reader.page(self._limit)
        return reader.newer(self._last_rowid, self._limit)

    def _session_rows(self, reader: AuditReader) -> list[LogRow]:
        session = self.view.session
        rows = reader.of_session(session, self._last_seq, self._limit)
        if len(rows) < self._limit:
            return rows
        self._entries.clear()
        last = _last_seq(reader, session, rows[-1].seq)
        return reader.of_session(session, max(0, last - self._limit), self._limit * 2)

    def _add(self, reader: AuditReader, rows: list[LogRow]) -> None:
        for start in range(0, len(rows), _AT_ONCE):
            for row in rows[start : start + _AT_ONCE]:
                entry = entry_of(row, self._agent(reader, row.session_id), self._targets)
                if row.verdict == "require_approval" and row.final_effect is None:
                    self._remember(row.id, act(payload_of(row)))
                self._entries.append(entry)
            # Lets the supervisor's thread run between two slices.
            threading.Event().wait(0.0005)
        del self._entries[: -self._limit]

    def _remember(self, event_id: str, target: str) -> None:
        self._targets[event_id] = target[:200]
        while len(self._targets) > _REMEMBERED_TARGETS:
            self._targets.popitem(last=False)

    def _agent(self, reader: AuditReader, session_id: str) -> str:
        if session_id not in self._agents:
            for session in reader.sessions():
                self._agents[session.id] = visible(session.agent_name)
            self._agents.setdefault(session_id, "?")
        return self._agents[session_id]


def _last_seq(reader: AuditReader, session: str, known: int) -> int:
    """The newest seq of a session that has row `known`: gallop, then halve; each step reads one row."""
    step = 1024
    while (rows := reader.of_session(session, known + step, 1)) != []:
        known, step = rows[-1].seq, step * 2
    while step > 1:
        step //= 2
        if rows := reader.of_session(session, known + step, 1):
            known = rows[-1].seq
    while rows := reader.of_session(session, known, 1):
        known = rows[-1].seq
    return known

"""AuditWriter: the audit log on a thread of its own, with grouped commits (design sections 2 and 5).

A future resolves only after the commit is on the disk (law 2: record, then release). Everything that waits
is written in one transaction; nothing is dropped and a lone caller is not kept waiting for company.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from vaultroom import clock
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import Tip
from vaultroom.audit.inherited import Unsealed
from vaultroom.audit.ledger import Append, Ledger
from vaultroom.audit.record import Entry, SessionStart
from vaultroom.audit.store import BUSY_SECONDS
from vaultroom.errors import StoreError
from vaultroom.signing import SigningKey

MAX_GROUP = 512
"""Rows in one transaction at most."""

_CROWD = 4
"""Callers answered at once from which on it pays to let them come back together."""

_GLANCE_SECONDS = 0.0001

_Job = tuple[Append, "Future[int] | asyncio.Future[int]"]


@dataclass(frozen=True, slots=True)
class _Call:
    """Something that is done alone, between two groups."""

    act: Callable[[Ledger], None]
    future: Future[None]
    last: bool = False


class AuditWriter:
    """The only writer of one log. All methods may be called from any thread; none but `start`, `flush` and
    `stop` waits. From asyncio: `await writer.append(entry)`, and `asyncio.wrap_future` for the others.

    Futures raise StoreError when the row is not in the log: the act must then be denied (law 2).
    """

    def __init__(self, db_path: Path, install_key: SigningKey, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.db_path = db_path
        self._install_key = install_key
        self._busy_seconds = busy_seconds
        self._queue: SimpleQueue[_Job | _Call] = SimpleQueue()
        self._gate = threading.Lock()
        self._open = False
        self._thread: threading.Thread | None = None
        self._rows = 0
        self._newest: Head | None = None
        self._commit_seconds = 0.0
        self._sessions_unsealed: tuple[Unsealed, ...] = ()
        self._tips: dict[str, Tip] = {}
        self._head_file_error: OSError | None = None

    @property
    def total_rows(self) -> int:
        """Rows in the whole log, all sessions and hosts."""
        return self._rows

    @property
    def head_file_error(self) -> OSError | None:
        """Why the head file could not be written after the newest commit; None when it was."""
        return self._head_file_error

    @property
    def newest(self) -> Head | None:
        """The newest durable row of any session, with its signature; None for an empty log."""
        return self._newest

    def last_seq(self, session_id: str) -> int:
        """The number of the newest durable row of an open session; 0 for any other."""
        tip = self._tips.get(session_id)
        return tip.seq if tip else 0

    def heads(self) -> tuple[Tip, ...]:
        """The newest durable row of every open session."""
        return tuple(self._tips.values())

    def sessions_unsealed(self) -> tuple[Unsealed, ...]:
        """Sessions that an earlier host left unsealed: open their next segment, then go on or close them."""
        return self._sessions_unsealed

    def start(self) -> None:
        """Open or create the log and start the thread.

        Raises StoreError when the log cannot be used or is not as the last host left it.
        """
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="audit-writer", daemon=True)
        self._thread.start()
        try:
            ready.result()
        except BaseException:
            self._thread.join()
            self._thread = None
            raise

    def open_session(self, start: SessionStart) -> Future[None]:
        """Write the row that opens a session, or the next segment of one that was left unsealed.

        The future raises StoreError, or ValueError when `start` does not fit what the log holds.
        """
        return self._call(lambda ledger: ledger.open_session(start))

    def submit(self, entry: Entry, *, policy_text: bytes | None = None) -> Future[int]:
        """Chain `entry`; the future gives its seq once the row is durable.

        `policy_text` goes with the first row that names a policy other than those that opened sessions.
        """
        future: Future[int] = Future()
        future.set_running_or_notify_cancel()  # a caller that stops waiting does not unwrite the row
        self._put((Append(entry, policy_text), future), future)
        return future

    async def append(self, entry: Entry, *, policy_text: bytes | None = None) -> int:
        """`submit` for a running event loop: the whole group of a commit wakes the loop once.

        Returns the seq once the row is durable; raises StoreError. A caller that is cancelled does not
        take its row back.
        """
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._gate:
            if not self._open:
                raise self._closed()
            self._queue.put((Append(entry, policy_text), answer))
        return await answer

    def close_session(self, session_id: str, reason: str, exit_code: int | None) -> Future[None]:
        """Write the closing row, seal the session and destroy its key."""
        return self._call(lambda ledger: ledger.close_session(session_id, reason, exit_code))

    def flush(self, deadline: float) -> None:
        """Wait until everything submitted so far is written or has failed.

        Raises TimeoutError after `deadline` seconds.
        """
        self._call(lambda ledger: None).result(timeout=deadline)

    def stop(self) -> None:
        """Write what waits, make the head file durable and close. Sessions still open stay unsealed."""
        future: Future[None] = Future()
        with self._gate:
            if not self._open:
                return
            self._open = False
            self._queue.put(_Call(lambda ledger: None, future, last=True))
        assert self._thread is not None
        self._thread.join()
        self._thread = None

    def _call(self, act: Callable[[Ledger], None]) -> Future[None]:
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()
        self._put(_Call(act, future), future)
        return future

    def _put(self, item: _Job | _Call, future: Future[Any]) -> None:
        with self._gate:
            if self._open:
                self._queue.put(item)
                return
        future.set_exception(self._closed())

    def _closed(self) -> StoreError:
        return StoreError(f"the audit log {self.db_path} is closed", advice="Start Vaultroom again.")

    # On the thread

    def _run(self, ready: Future[None]) -> None:
        try:
            ledger = Ledger(self.db_path, self._install_key, busy_seconds=self._busy_seconds)
        except BaseException as error:
            ready.set_exception(error)
            return
        self._publish(ledger)
        self._open = True
        ready.set_result(None)
        try:
            self._serve(ledger)
        finally:
            self._refuse_the_rest()
            ledger.stop()

    def _refuse_the_rest(self) -> None:
        """Nobody waits for ever: what this thread will not write any more fails."""
        with self._gate:
            self._open = False
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, _Call):
                item.future.set_exception(self._closed())
            else:
                self._answer([item], [self._closed()])

    def _serve(self, ledger: Ledger) -> None:
        while True:
            group: list[_Job] = []
            item = self._queue.get()
            while not isinstance(item, _Call):
                group.append(item)
                if len(group) == MAX_GROUP:
                    break
                try:
                    item = self._queue.get_nowait()
                except Empty:
                    break
            if group:
                self._write(ledger, group)
                self._gather(len(group))
            if isinstance(item, _Call):
                self._do(ledger, item)
                if item.last:
                    return

    def _write(self, ledger: Ledger, group: list[_Job]) -> None:
        began = clock.monotonic()
        try:
            results = ledger.append([job for job, _ in group])
        except Exception as error:
            results = [error] * len(group)
        self._publish(ledger)
        self._commit_seconds = clock.monotonic() - began
        self._answer(group, results)

    @staticmethod
    def _answer(group: list[_Job], results: list[int | Exception]) -> None:
        """Resolve the futures; those of one event loop in one call."""
        waiting: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[int], int | Exception]]] = {}
        for (_, future), result in zip(group, results, strict=True):
            if isinstance(future, asyncio.Future):
                waiting.setdefault(future.get_loop(), []).append((future, result))
            elif isinstance(result, int):
                future.set_result(result)
            else:
                future.set_exception(result)
        for loop, answers in waiting.items():
            try:
                loop.call_soon_threadsafe(_settle, answers)
            except RuntimeError:  # the loop was closed: nobody waits any more
                pass

    def _gather(self, answered: int) -> None:
        """Give several callers that were just answered the time to come back together.

        At most as long as the commit took; a lone caller never waits here.
        """
        if answered < _CROWD:
            return
        deadline = clock.monotonic() + self._commit_seconds
        while self._queue.qsize() < answered and clock.monotonic() < deadline:
            time.sleep(_GLANCE_SECONDS)

    def _do(self, ledger: Ledger, call: _Call) -> None:
        future = call.future
        try:
            call.act(ledger)
        except Exception as error:
            self._publish(ledger)
            future.set_exception(error)
        else:
            self._publish(ledger)
            future.set_result(None)

    def _publish(self, ledger: Ledger) -> None:
        """Replace what other threads see."""
        self._rows = ledger.rows
        self._newest = ledger.newest
        self._sessions_unsealed = ledger.unsealed
        self._tips = {tip.session_id: tip for tip in ledger.heads()}
        self._head_file_error = ledger.head_file_error


def _settle(answers: list[tuple[asyncio.Future[int], int | Exception]]) -> None:
    """On the loop's thread: hand out what a commit decided."""
    for future, result in answers:
        if future.done():
            continue
        if isinstance(result, int):
            future.set_result(result)
        else:
            future.set_exception(result)

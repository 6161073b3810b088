"""The host: one supervisor on its own thread, holding the home's lock.

`Host.open` is what a room, `vaultroom run` or `vaultroom daemon` calls when no other host is there.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from vaultroom.errors import HostUnavailable, StoreError
from vaultroom.paths import Home
from vaultroom.supervisor.host_lock import HostLock
from vaultroom.supervisor.runtime import LoopThread
from vaultroom.supervisor.standing import require_outside
from vaultroom.supervisor.supervisor import Supervisor

Result = TypeVar("Result")

CALL_SECONDS = 60.0


class Host:
    """A running supervisor of this process."""

    def __init__(self, locks: tuple[HostLock, ...], thread: LoopThread, supervisor: Supervisor) -> None:
        self._locks = locks
        self._thread = thread
        self.supervisor = supervisor
        self._closed = False

    @classmethod
    def open(cls, home: Home, audit_db: Path) -> Host | None:
        """Become the host of `home`, with its log at `audit_db`; None when another process is.

        Raises StoreError when the log cannot be opened, OSError when a folder or socket cannot.
        """
        home.prepare()
        require_outside(home, "become the host")
        lock = HostLock.try_acquire(home.lock, f"{os.getpid()}\n{home.run}\n")
        if lock is None:
            return None
        try:
            log_lock = _lock_log(audit_db)
        except BaseException:
            lock.release()
            raise
        raise_file_limit()
        thread = LoopThread("supervisor")
        supervisor = Supervisor(home, audit_db)
        thread.start()
        try:
            thread.call(supervisor.start())
        except BaseException:
            thread.stop()
            log_lock.release()
            lock.release()
            raise
        return cls((log_lock, lock), thread, supervisor)

    def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a supervisor's coroutine and wait for it. Raises HostUnavailable after `close()`."""
        try:
            return self._thread.call(coroutine, timeout=CALL_SECONDS)
        except RuntimeError as error:
            raise HostUnavailable(f"the host of this process is closed: {error}") from error

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        return self._thread.submit(coroutine)

    def close(self) -> None:
        """Deny what waits, flush the log, stop the thread, give the lock back.

        Sessions that still run stay open for the next host. A second call does nothing.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._thread.call(self.supervisor.stop(), timeout=CALL_SECONDS)
        finally:
            self._thread.stop()
            for lock in self._locks:
                lock.release()


def _lock_log(audit_db: Path) -> HostLock:
    """Raises StoreError when another host writes this log, OSError when it cannot be locked."""
    audit_db.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = HostLock.try_acquire(audit_db)
    if lock is None:
        raise StoreError(
            f"another Vaultroom host writes the log {audit_db} already",
            advice="Its home or its runtime folder (XDG_RUNTIME_DIR) may be another one than here.",
        )
    return lock


def raise_file_limit() -> None:
    """As many open files as this process may have: every waiting act is a connection."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

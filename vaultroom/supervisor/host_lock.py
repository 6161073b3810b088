"""One host per home: whoever holds this lock is the host (design section 1).

The lock is the kernel's (flock), so that a killed host leaves nothing stale behind. The file holds the
host's pid for people who look.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


class HostLock:
    """The lock of one home, held by this process until `release()`."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self.path = path

    @classmethod
    def try_acquire(cls, path: Path) -> HostLock | None:
        """The lock, or None when another process is the host. Raises OSError when it cannot be tried."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        with contextlib.suppress(OSError):  # a full disk must not keep the host from opening
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor, path)

    def release(self) -> None:
        os.close(self._descriptor)

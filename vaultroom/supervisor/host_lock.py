"""One host per home, and one per log: whoever holds both locks is the host (design section 1, law 3).

The locks are the kernel's (flock), so that a killed host leaves nothing stale behind. The home's lock file
holds the host's pid and where its sockets lie. The log's lock is on the database itself: removing a lock
file, or another runtime folder, does not make a second writer.
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
    def try_acquire(cls, path: Path, note: str | None = None) -> HostLock | None:
        """The lock, or None when another process holds it. Raises OSError when it cannot be tried.

        `note` is written into the file; None leaves the file as it is (a database, say).
        """
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        if not _is_still_at(descriptor, path):
            os.close(descriptor)
            return None
        if note is not None:
            with contextlib.suppress(OSError):  # a full disk must not keep the host from opening
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, note.encode("utf-8", "surrogateescape"), 0)
        return cls(descriptor, path)

    def release(self) -> None:
        os.close(self._descriptor)


def _is_still_at(descriptor: int, path: Path) -> bool:
    """Whether the file that was locked is the one that others will find."""
    try:
        there = os.stat(path)
    except OSError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

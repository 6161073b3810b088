"""What differs between operating systems, in one place.

Linux is complete. macOS has no /proc: process facts come from `ps`, and a fact that cannot be had is
None, which callers treat as doubt. Windows lacks Unix sockets and signals other than Interrupt.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys
from dataclasses import dataclass

IS_LINUX = sys.platform == "linux"
IS_WINDOWS = sys.platform == "win32"

FORWARDED_SIGNALS: tuple[signal.Signals, ...] = (
    (signal.SIGINT,) if IS_WINDOWS else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
)

_PR_SET_CHILD_SUBREAPER = 36
_MAX_ANCESTORS = 256


@dataclass(frozen=True)
class Peer:
    """Who is at the other end of a Unix socket."""

    pid: int
    uid: int


def peer_of(connection: socket.socket) -> Peer | None:
    """The kernel's word on the peer of a Unix socket; None where the kernel does not say."""
    if not IS_LINUX:
        return None
    size = struct.calcsize("3i")
    try:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    except OSError:
        return None
    pid, uid, _gid = struct.unpack("3i", credentials)
    return Peer(pid=pid, uid=uid) if pid > 0 else None


def start_time(pid: int) -> str | None:
    """A text that, together with `pid`, names one process for good; None when it does not exist.

    Linux: clock ticks since boot plus the boot's id.
    """
    if not IS_LINUX:
        return None
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open("/proc/sys/kernel/random/boot_id") as boot:
            fields = stat.read().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                return None
            return f"{fields[19].decode()}@{boot.read().strip()}"
    except (OSError, IndexError):
        return None


def parent_of(pid: int) -> int | None:
    """The parent's pid; None when the process is gone or cannot be seen."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def ancestors_of(pid: int) -> list[int] | None:
    """`pid`, its parent, and so on up to process 1. None when the chain breaks: that is doubt."""
    chain = [pid]
    while chain[-1] > 1:
        parent = parent_of(chain[-1])
        if parent is None or len(chain) > _MAX_ANCESTORS:
            return None
        if parent == 0:
            break
        chain.append(parent)
    return chain


def initial_environment(pid: int) -> dict[bytes, bytes] | None:
    """The environment that a process was started with; None when it cannot be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            items = environ.read().split(b"\0")
    except OSError:
        return None
    return dict(item.split(b"=", 1) for item in items if b"=" in item)


def process_name(pid: int) -> str | None:
    """The process's short name as the kernel knows it; None when it cannot be seen."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as comm:
            return comm.read().rstrip(b"\n").decode("utf-8", "replace")
    except OSError:
        return None


def become_subreaper() -> bool:
    """Keep orphaned descendants below this process (Linux); False where the system cannot."""
    if not IS_LINUX:
        return False
    try:
        failed: int = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return failed == 0


def open_pidfd(pid: int) -> int | None:
    """A descriptor that pins `pid` to one process and becomes readable at its end; None if it is gone."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def exit_code(status: int) -> int:
    """What the shell would call this `os.waitpid` status: the code, or 128 + the signal's number."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


# The brand: a hard resource limit that is one lower than usual. It is inherited by every descendant, however
# it detaches or clears its environment, and cannot be raised again without privileges. The limit is that of
# POSIX message queues, which hardly any program uses.


def message_queue_limit(pid: int = 0) -> int | None:
    """The hard limit that carries the brand, of `pid` or of this process; None where there is none."""
    if not IS_LINUX:
        return None
    import resource

    try:
        return resource.prlimit(pid, resource.RLIMIT_MSGQUEUE)[1]
    except (OSError, ValueError):
        return None


def brand_below(limit: int | None) -> int:
    """The brand for processes started by one with this limit; 0 where it cannot be expressed."""
    if limit is None or limit == 0:
        return 0
    return _UNLIMITED_BRAND if limit < 0 else limit - 1


def take_brand(brand: int) -> None:
    """Mark this process and everything that it starts from now on. It cannot be undone."""
    if brand:
        import resource

        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (min(brand, _soft_limit()), brand))


def bears_brand(limit: int | None, brand: int) -> bool:
    """Whether a process with this limit descends from one that took `brand` (or a lower one)."""
    return bool(brand) and limit is not None and 0 <= limit <= brand


_UNLIMITED_BRAND = 1 << 40


def _soft_limit() -> int:
    import resource

    soft = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0]
    return soft if soft >= 0 else _UNLIMITED_BRAND

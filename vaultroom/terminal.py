"""The controlling terminal: its modes, its foreground group, and holding the jobs on it still.

Sits beside `platform`; standard library alone. POSIX; process facts come from /proc (Linux), elsewhere
only the groups that are known by number are stopped.

Whoever calls from a thread must have SIGTTOU and SIGTTIN blocked there (`shield_thread`): a process in
the background that touches the terminal would otherwise be stopped by the kernel.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_IS_LINUX = sys.platform == "linux"
_STOPPED = frozenset("TtZXx")
_STOP_PATIENCE = 0.5
"""Seconds to wait for a group to stand still."""

_IFLAG, _OFLAG, _LFLAG, _CC = 0, 1, 3, 6


class NotForeground(Exception):
    """The terminal is in the hands of a job that is not ours: it must not be taken."""


@dataclass(frozen=True, slots=True)
class Process:
    """What /proc says about a process. `state` is one letter, `terminal` the number of its terminal or 0."""

    pid: int
    state: str
    parent: int
    group: int
    terminal: int


def read_process(pid: int) -> Process | None:
    """The facts of one process; None when it is gone or cannot be seen."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return Process(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[4]))
    except (OSError, IndexError, ValueError):
        return None


def all_processes() -> list[Process]:
    """Every process that can be seen; empty where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    found = (read_process(int(name)) for name in names if name.isdigit())
    return [process for process in found if process is not None]


@dataclass(frozen=True, slots=True)
class Jobs:
    """The process groups below us on a terminal: all of them, and those that move, outermost first."""

    ours: frozenset[int]
    moving: tuple[int, ...]


def find_jobs(processes: Iterable[Process], *, root: int, child: int | None, own: int) -> Jobs:
    """The jobs of the process `root` on its terminal, and the agent's group `child` wherever it is.

    `own` is the asking process's group, which is never stopped. Outermost first: stopped in this order,
    no shell sees its job stop before it stands still itself. Without `processes` (no /proc) only `child`
    is known.
    """
    by_pid = {process.pid: process for process in processes}
    terminal = by_pid[root].terminal if root in by_pid else 0
    depths: dict[int, int] = {}
    moving: set[int] = set()
    for process in by_pid.values():
        depth = _depth_below(process, root, by_pid)
        if depth is None or process.group == own:
            continue
        if process.terminal != terminal and process.group != child:
            continue
        depths[process.group] = min(depth, depths.get(process.group, depth))
        if process.state not in _STOPPED:
            moving.add(process.group)
    if not by_pid and child is not None and child != own:
        moving = {child}
    order = sorted(moving, key=lambda group: (group != child, depths.get(group, 0), group))
    return Jobs(ours=frozenset(depths) | moving, moving=tuple(order))


def _depth_below(process: Process, root: int, by_pid: dict[int, Process]) -> int | None:
    depth = 0
    current = process
    while current.pid != root:
        parent = by_pid.get(current.parent)
        if parent is None or depth > len(by_pid):
            return None
        current, depth = parent, depth + 1
    return depth


def stop_groups(groups: Iterable[int]) -> tuple[int, ...]:
    """SIGSTOP each group and wait until it stands still before the next; the groups that were there."""
    stopped = []
    for group in groups:
        if _signal(group, signal.SIGSTOP):
            stopped.append(group)
            _await_stopped(group)
    return tuple(stopped)


def continue_groups(groups: Iterable[int]) -> None:
    """SIGCONT the groups, innermost first, then SIGWINCH, so that full-screen programs draw again."""
    inward = tuple(groups)[::-1]
    for group in inward:
        _signal(group, signal.SIGCONT)
    for group in inward:
        _signal(group, signal.SIGWINCH)


def _signal(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _await_stopped(group: int) -> None:
    end = time.monotonic() + _STOP_PATIENCE
    members = [process.pid for process in all_processes() if process.group == group]
    if not members:
        time.sleep(0.02)
    while members and time.monotonic() < end:
        found = (read_process(pid) for pid in members)
        members = [p.pid for p in found if p is not None and p.group == group and p.state not in _STOPPED]
        if members:
            time.sleep(0.001)


def shield_thread() -> None:
    """Let this thread use the terminal while its process is in the background."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU, signal.SIGTTIN})


def prompt_modes(modes: list[Any]) -> list[Any]:
    """Modes for reading single keys: no echo, no signals from keys, no flow control; output as usual.

    `modes` is what `termios.tcgetattr` gives; it is left as it is.
    """
    changed = list(modes)
    changed[_IFLAG] &= ~(termios.IXON | termios.IXOFF | termios.ISTRIP | termios.INLCR)
    changed[_OFLAG] |= termios.OPOST | termios.ONLCR
    changed[_LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.ECHONL | termios.ISIG | termios.IEXTEN)
    changed[_CC] = list(modes[_CC])
    changed[_CC][termios.VMIN], changed[_CC][termios.VTIME] = 1, 0
    return changed


class Terminal:
    """An open terminal of one's own: reads and writes never block longer than told.

    Methods raise OSError when the terminal is gone.
    """

    def __init__(self, path: str = "/dev/tty") -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not os.isatty(self._descriptor):
            os.close(self._descriptor)
            raise OSError(f"expected a terminal at {path}")

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def size(self) -> tuple[int, int]:
        """Columns and rows; 80 by 24 where the terminal does not say."""
        found = os.get_terminal_size(self._descriptor)
        return found.columns or 80, found.lines or 24

    def foreground(self) -> int:
        """The foreground process group's number."""
        return os.tcgetpgrp(self._descriptor)

    @contextlib.contextmanager
    def taken(self, child: int | None) -> Iterator[None]:
        """Hold the jobs on this terminal, read keys from it, and put everything back exactly.

        `child` is the agent's process group. Raises NotForeground where another job has the terminal.
        """
        own = os.getpgrp()
        if child == own:
            raise NotForeground("the agent shares this process's group, so it cannot be held alone")
        stopped: tuple[int, ...] = ()
        try:
            jobs = find_jobs(all_processes(), root=os.getpid(), child=child, own=own)
            ours = {own, *jobs.ours}
            if self.foreground() not in ours:
                raise NotForeground(f"process group {self.foreground()} has the terminal")
            stopped = stop_groups(jobs.moving)
            foreground = self.foreground()
            if foreground not in ours:
                raise NotForeground(f"process group {foreground} took the terminal")
            with self._prompting(foreground, own, child):
                yield
        finally:
            continue_groups(stopped)

    @contextlib.contextmanager
    def _prompting(self, foreground: int, own: int, child: int | None) -> Iterator[None]:
        with _as_os_error():
            modes = termios.tcgetattr(self._descriptor)
        try:
            with _as_os_error():
                os.tcsetpgrp(self._descriptor, own)
                termios.tcsetattr(self._descriptor, termios.TCSANOW, prompt_modes(modes))
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
                termios.tcflow(self._descriptor, termios.TCOON)
            yield
        finally:
            with contextlib.suppress(OSError), _as_os_error():
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
                termios.tcsetattr(self._descriptor, termios.TCSANOW, modes)
            self._give(foreground, child)

    def _give(self, *groups: int | None) -> None:
        for group in groups:
            if group is not None:
                try:
                    os.tcsetpgrp(self._descriptor, group)
                except OSError:
                    continue
                return

    def read(self) -> bytes:
        """What was typed, at most 1,024 bytes; empty when nothing was. Raises OSError at the end of input."""
        try:
            found = os.read(self._descriptor, 1024)
        except BlockingIOError:
            return b""
        if not found:
            raise OSError("the terminal was closed")
        return found

    def wait(self, wake: int, seconds: float) -> bool:
        """Wait for a key, for something to read at `wake`, or for `seconds`; whether a key may be there."""
        return self._descriptor in wait_for([self._descriptor, wake], seconds)

    def write(self, text: str, *, patience: float = 2.0) -> None:
        """Write all of `text`. Raises OSError when the terminal takes nothing for `patience` seconds."""
        left = memoryview(text.encode("utf-8", "replace"))
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                if not wait_for([self._descriptor], patience, writing=True):
                    raise OSError("the terminal takes no output") from None


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except termios.error as error:
        raise OSError(*error.args) from None


def wait_for(descriptors: list[int], seconds: float | None, *, writing: bool = False) -> set[int]:
    """Those of `descriptors` that are ready within `seconds` (None: however long it takes)."""
    if _IS_LINUX:
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLOUT if writing else select.POLLIN)
        return {descriptor for descriptor, _events in poll.poll(None if seconds is None else seconds * 1000)}
    readable, writable, _ = select.select(
        [] if writing else descriptors, descriptors if writing else [], [], seconds
    )
    return {*readable, *writable}

"""The agent's process: started in its own foreground process group, signalled, waited for.

This runs in the runner (`vaultroom run`), whose main thread waits here; the host may be elsewhere.
Specification section 4.2, steps 7 and 8.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from vaultroom import clock, platform
from vaultroom.supervisor.session_files import ProcessMark
from vaultroom.supervisor.watch import process_end
from vaultroom.terminal import Process, all_processes

_STOPS_FROM_TERMINAL = frozenset({signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
_IGNORED_BY_PYTHON = tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ") if hasattr(signal, name)
)


ORPHAN_SECONDS = 5.0
"""A dead child that nobody of this process started is collected after this time."""

GRACE_SECONDS = 5.0
"""How long an agent may take to end after SIGTERM."""


class Child:
    """A running agent. `may_suspend` says whether this process may stop itself when the agent is
    stopped from the keyboard (a host with other sessions may not)."""

    def __init__(
        self, pid: int, terminal: int | None, may_suspend: Callable[[], bool] = lambda: True
    ) -> None:
        self.pid = pid
        self._terminal = terminal
        self._may_suspend = may_suspend
        self._modes = None if terminal is None else termios.tcgetattr(terminal)

    @classmethod
    def spawn(
        cls,
        program: str,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        may_suspend: Callable[[], bool] = lambda: True,
    ) -> Child:
        """Start `program` with the caller's stdin, stdout and stderr.

        Raises FileNotFoundError, PermissionError or another OSError when it cannot be started.
        """
        terminal = _own_terminal()
        platform.become_subreaper()
        try:
            with spawning:
                pid = _posix_spawn(program, argv, environ)
                own_children.add(pid)
        except OSError as error:
            if terminal is not None:
                os.close(terminal)
            if error.errno != errno.ENOEXEC:
                raise
            return cls.spawn("/bin/sh", ["sh", program, *argv[1:]], environ, may_suspend=may_suspend)
        child = cls(pid, terminal, may_suspend)
        child._to_foreground()
        return child

    def signal_group(self, number: int) -> None:
        """Send a signal to the agent's process group; a group that is gone is not an error."""
        signal_group(self.pid, number)

    def wait(self, forwarded: Callable[[], None] = lambda: None, early: Sequence[int] = ()) -> int:
        """Wait for the agent's end, passing SIGINT, SIGTERM and SIGHUP on. Call it on the main thread.

        `forwarded` is called after each signal passed on: an agent that is held for a question must be let
        go to hear it. `early` are signals that came before (`keep_signals`). Returns the exit code, 128 + N
        when signal N ended it.
        """
        with self._forwarding(forwarded, early):
            while True:
                _, status = os.waitpid(self.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    break
                if os.WSTOPSIG(status) in _STOPS_FROM_TERMINAL:
                    self._suspend()
        own_children.discard(self.pid)
        self._take_terminal_back(crashed=os.WIFSIGNALED(status))
        return platform.exit_code(status)

    def _suspend(self) -> None:
        """The user pressed Ctrl-Z: stop like the agent did, and go on with it."""
        if self._terminal is not None and self._may_suspend():
            set_foreground(self._terminal, os.getpgrp())
            os.kill(os.getpid(), signal.SIGSTOP)
        self._to_foreground()

    def _to_foreground(self) -> None:
        if self._terminal is not None:
            set_foreground(self._terminal, self.pid)
        self.signal_group(signal.SIGCONT)  # it may have been stopped for reading too early

    def _take_terminal_back(self, *, crashed: bool) -> None:
        if self._terminal is None:
            return
        set_foreground(self._terminal, os.getpgrp())
        if crashed and self._modes is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)
        os.close(self._terminal)
        self._terminal = None

    @contextlib.contextmanager
    def _forwarding(self, forwarded: Callable[[], None], early: Sequence[int]) -> Iterator[None]:
        def forward(number: int, frame: FrameType | None) -> None:
            self.signal_group(number)
            if number == signal.SIGHUP:  # jobs of an interactive shell have groups of their own
                for group in job_groups(os.getpid()) - {self.pid}:
                    signal_group(group, number)
            forwarded()

        def reap(number: int, frame: FrameType | None) -> None:
            reap_orphans()

        before = {}
        for number in platform.FORWARDED_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
                before[number] = signal.signal(number, forward)
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, reap)
        for came in early:
            forward(came, None)
        try:
            yield
        finally:
            # A terminal that goes away hangs up more than once: the log is still to be sealed.
            for number, handler in before.items():
                signal.signal(number, handler if number == signal.SIGCHLD else note_leaving)


def keep_signals() -> Sequence[int]:
    """From now on signals to be forwarded are only noted, in the list returned: call it before the start.

    Otherwise one that comes before `Child.wait` ends this process and leaves the agent behind.
    """
    early: list[int] = []
    for number in platform.FORWARDED_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: early.append(number))
    return early


class Leaving:
    """Whether a signal to end came after the agent's own end. A plain flag: handlers must not take locks."""

    asked = False


def note_leaving(number: int, frame: FrameType | None) -> None:
    """The handler of SIGINT, SIGTERM and SIGHUP between the agent's end and the process's own."""
    Leaving.asked = True


def job_groups(root: int) -> set[int]:
    """The process groups below `root`, its own left out: what a terminal's hang-up would reach, and more."""
    processes = {process.pid: process for process in all_processes()}
    groups = set()
    for process in processes.values():
        above: Process | None = process
        while above is not None and above.pid != root:
            above = processes.get(above.parent)
        if above is not None and process.pid != root:
            groups.add(process.group)
    return groups - {os.getpgrp()}


own_children: set[int] = set()
"""Pids that this process started and waits for; orphans are all the others."""

spawning = threading.Lock()
"""Held while a child is started and entered into `own_children`."""


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group; one that is gone is not an error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def end_group(agent: ProcessMark) -> None:
    """SIGTERM to the agent's group (thawed, so that it can act on it), then SIGKILL if it stays."""
    for number in (signal.SIGTERM, signal.SIGCONT):
        signal_group(agent.pid, number)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process_end(agent), GRACE_SECONDS)
    if agent.alive():
        signal_group(agent.pid, signal.SIGKILL)


def reap_orphans() -> None:
    """Collect dead processes that this process adopted as a subreaper."""
    if not spawning.acquire(blocking=False):
        return  # the next tick will do
    try:
        _reap()
    finally:
        spawning.release()


_waiting_since: dict[int, float] = {}


def _reap() -> None:
    now = clock.monotonic()
    dead = _dead_strangers()
    for pid in _waiting_since.keys() - dead:
        del _waiting_since[pid]
    for pid in dead:
        # Whoever started it in this process collects it at once: what stays is an orphan.
        if now - _waiting_since.setdefault(pid, now) > ORPHAN_SECONDS:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _dead_strangers() -> set[int]:
    found = set()
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            pids = [int(word) for word in listing.read_text().split()]
        except OSError:
            continue
        for pid in pids:
            if pid not in own_children and platform.start_time(pid) is None:
                found.add(pid)
    return found


def set_foreground(terminal: int, group: int) -> None:
    """Make `group` the terminal's foreground group, also from a background group."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(OSError):  # the terminal or the group is gone
            os.tcsetpgrp(terminal, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _own_terminal() -> int | None:
    """A descriptor of the controlling terminal, if this process is in its foreground."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(terminal) == os.getpgrp():
            return terminal
    except OSError:
        pass
    os.close(terminal)
    return None


def _posix_spawn(program: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    return os.posix_spawn(
        program, list(argv), dict(environ), setpgroup=0, setsigmask=[], setsigdef=_IGNORED_BY_PYTHON
    )

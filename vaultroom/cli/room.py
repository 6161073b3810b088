"""`vaultroom`: the control room. Hosts the supervisor in this process, or attaches to a running host.

If the screen crashes it is started again on the same control, and a crash report is kept; the supervisor
goes on meanwhile (design section 1).
"""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from vaultroom import clock
from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import say
from vaultroom.control.late import LateControl
from vaultroom.control.protocol import Control
from vaultroom.errors import HostUnavailable, VaultroomError
from vaultroom.paths import Home, find_home
from vaultroom.settings import Settings, SettingsError, load_settings

if TYPE_CHECKING:
    from vaultroom.cli.joining import Joined
    from vaultroom.tui.app import RoomApp

RESTARTS = 3
"""Crashes of the screen within RESTART_SECONDS after which it stays closed."""
RESTART_SECONDS = 60.0
KEPT_REPORTS = 10

LEAVE_SECONDS = 5.0
"""How long the screen may take to end after a signal."""


def run(args: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("vaultroom: the room needs a terminal; without one: vaultroom daemon, vaultroom approve list")
        return Exit.INVALID
    place = Place(find_home(), args.config)
    try:
        code = _keep_open(
            place.home,
            lambda notices: RoomParts(
                place.control(), None, place.join, place.start_agent, notices, place.on_failure, place.leave
            ),
        )
        if place.failure is not None:
            raise place.failure
        return code
    finally:
        place.leave()


class Place:
    """Where the room stands: its host, in this process or another.

    The host is opened while the screen is painted already, on the screen's own thread for it: what a host
    needs takes longer to import than Textual. An error on the way ends the room.
    """

    def __init__(self, home: Home, config: str | None) -> None:
        self.home = home
        self.failure: Exception | None = None
        self._config = config
        self._joined: Joined | None = None
        self._leave: Callable[[], None] = lambda: None

    def on_failure(self, leave: Callable[[], None]) -> None:
        """What closes the screen when the host cannot be opened."""
        self._leave = leave

    def control(self) -> Control:
        """The host's control, or one that opens it with its first call."""
        return LateControl(self.open) if self._joined is None else self._joined.control

    def open(self) -> Control:
        """The first `join`: an error is kept in `failure` and closes the room."""
        try:
            return self.join()
        except Exception as error:
            self.failure = error
            self._leave()
            raise

    def join(self) -> Control:
        """The running host, else this process becomes it. Raises VaultroomError or OSError."""
        from vaultroom.cli.joining import join_or_host
        from vaultroom.cli.starting import log_of_user

        if self._joined is not None:
            self._joined.control.close()
        self._joined = join_or_host(self.home, log_of_user(self._config, self.home))
        return self._joined.control

    def leave(self) -> None:
        """Close what is ours. Sessions that still run wait for the next host."""
        if self._joined is None:
            return
        self._joined.control.close()
        if self._joined.host is not None:
            self._joined.host.close()

    def start_agent(self, command_line: str, agent: str) -> str:
        """Run `command_line` as an agent of the host; gives its session's id.

        Raises VaultroomError with a text for the person.
        """
        try:
            argv = tuple(shlex.split(command_line))
        except ValueError as error:
            raise VaultroomError(f"the command cannot be read: {error}") from error
        if not argv:
            raise VaultroomError("expected a command, such as: claude -p 'fix the tests'")
        from vaultroom.cli.choose_policy import choose_policy
        from vaultroom.cli.starting import session_start, usable_policy

        if self._joined is None:
            raise VaultroomError("the host is still being opened; try again in a moment")
        chosen = choose_policy(self._config, home=self.home, cwd=os.getcwd())
        usable_policy(chosen, os.environ)
        start = session_start(agent or os.path.basename(argv[0]), argv, chosen)
        return self._joined.control.launch(start, dict(os.environ))


def open_screen(home: Home, control: Control, *, notices: tuple[str, ...] = ()) -> int:
    """The room on a host of this process that the caller keeps; no agents are started from it."""

    def rejoin() -> Control:
        raise HostUnavailable("the host of this room is closed")

    def start_agent(command_line: str, agent: str) -> str:
        raise VaultroomError("agents cannot be started in this room")

    return _keep_open(
        home,
        lambda shown: RoomParts(control, False, rejoin, start_agent, shown),
        notices=notices,
    )


@dataclass(frozen=True)
class RoomParts:
    """What one run of the screen is given."""

    control: Control
    attached: bool | None
    rejoin: Callable[[], Control]
    start_agent: Callable[[str, str], str]
    notices: tuple[str, ...]
    give_up: Callable[[Callable[[], None]], None] = lambda leave: None
    """Told how to close the screen from outside."""
    close_host: Callable[[], None] = lambda: None
    """Closes the host, for a screen that does not end."""


def _keep_open(
    home: Home, parts_of: Callable[[tuple[str, ...]], RoomParts], *, notices: tuple[str, ...] = ()
) -> int:
    """Run the screen; after a crash run it again on the same control, but not for ever."""
    gc.disable()  # thousands of objects are made until the first paint, and none of them is garbage
    from vaultroom.tui.app import RoomApp

    try:
        settings = load_settings(home.settings)
    except SettingsError as error:
        settings = Settings()
        notices = (*notices, f"{error} (the defaults are used)")
    crashes: list[float] = []
    while True:
        parts = parts_of(notices)
        app = RoomApp(
            parts.control,
            attached=parts.attached,
            rejoin=parts.rejoin,
            start_agent=parts.start_agent,
            keymap=settings.keymap,
            theme=settings.theme,
            notices=parts.notices,
        )
        parts.give_up(app.leave)
        crash = _run_once(app, parts.close_host)
        if crash is None:
            return Exit.OK
        report = write_crash_report(home, crash)
        now = clock.monotonic()
        crashes = [then for then in crashes if now - then < RESTART_SECONDS] + [now]
        notices = (f"The screen crashed and was started again. Report: {report}",)
        if len(crashes) >= RESTARTS:
            say(f"vaultroom: the screen crashed {len(crashes)} times within {RESTART_SECONDS:.0f} s")
            say(f"  Report: {report}. Agents go on; what they ask is refused until a host opens again.")
            return Exit.FAILED


def _run_once(app: RoomApp, close_host: Callable[[], None]) -> BaseException | None:
    """Run the screen to its end; the exception that ended it, or None."""
    ended = threading.Event()
    restore = _leave_on_signals(app.leave, ended, close_host)
    try:
        app.run()
    except (KeyboardInterrupt, SystemExit):
        return None
    except BaseException as error:
        return error
    finally:
        ended.set()
        restore()
    return app.crash


def _leave_on_signals(
    leave: Callable[[], None], ended: threading.Event, close_host: Callable[[], None]
) -> Callable[[], None]:
    """SIGTERM and SIGHUP close the screen in good order. Returns what puts the old handlers back.

    A screen whose terminal is gone may hang for ever in a last write to it: then the host is closed from
    another thread and the process ends.
    """

    def insist() -> None:
        if not ended.wait(LEAVE_SECONDS):
            close_host()
            os._exit(Exit.OK)

    def handle(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=insist, name="leave", daemon=True).start()
        leave()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGHUP)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore


def write_crash_report(home: Home, crash: BaseException) -> Path:
    """The traceback in the home's `crashes` folder (0600); only the newest few are kept."""
    folder = home.data / "crashes"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{clock.rfc3339(clock.now_ns())[:19].replace(':', '')}.txt"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(traceback.format_exception(crash)))
    for old in sorted(folder.glob("*.txt"))[:-KEPT_REPORTS]:
        old.unlink(missing_ok=True)
    return path

"""The control room as a Textual program: one control, one newest snapshot, screens that draw it.

Snapshots arrive in a slot and are drawn 20 times a second; commands go up in threads and come back as
messages. Nothing here decides about an act: that is the host's.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from vaultroom import clock
from vaultroom.control.protocol import AnswerCommand, Control, RequestView, SessionView, State, Steer
from vaultroom.errors import HostUnavailable, VaultroomError
from vaultroom.tui import theme
from vaultroom.tui.arming import Guard
from vaultroom.tui.commands import COMMANDS, KeyTable
from vaultroom.tui.link import SURFACE, Link
from vaultroom.tui.log_tail import LogTail
from vaultroom.tui.messages import Answered, Did, Failed, Printed
from vaultroom.tui.output_text import OutputText
from vaultroom.tui.scene import Scene
from vaultroom.tui.screens.base import RoomishScreen
from vaultroom.tui.screens.dialogs import Confirm, Help
from vaultroom.tui.screens.later import PolicyScreen, TestsScreen, TimelineScreen
from vaultroom.tui.screens.room import RoomScreen
from vaultroom.tui.widgets.grants import GrantsPane
from vaultroom.visible import visible

DRAW_SECONDS = 1 / 20
OUTPUT_SECONDS = 1 / 10
NOTICE_SECONDS = 5.0
_OUTPUT_AT_ONCE = 4
"""Pieces of 64 KiB read in one go before they are shown."""


class RoomApp(App[int]):
    """`run()` returns 0 when the person closed the room, and None after a crash (see `crash`).

    `attached` says whether the host is another process; None: the host's own word decides.

    `rejoin` looks for a new host after the present one is gone, and raises HostUnavailable while there is
    none. `start_agent(command_line, agent)` launches an agent and gives its session's id; it raises
    VaultroomError with a text to show. `keymap` maps ids of `tui.commands` to keys. `notices` are shown
    first. `monotonic` is the clock that arms answers.
    """

    CSS_PATH = "room.tcss"
    TITLE = "Vaultroom"
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False
    MODES: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {  # type: ignore[assignment]
        "room": RoomScreen,
        "timeline": TimelineScreen,
        "policy": PolicyScreen,
        "tests": TestsScreen,
    }
    DEFAULT_MODE = "room"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "help_quit", show=False, system=True)]

    def __init__(
        self,
        control: Control,
        *,
        attached: bool | None,
        rejoin: Callable[[], Control],
        start_agent: Callable[[str, str], str],
        keymap: Mapping[str, str] | None = None,
        theme: str = "",
        notices: Sequence[str] = (),
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._palettes, problems = _load_themes()
        super().__init__()
        self.monotonic = monotonic
        self.keys = KeyTable(keymap or {})
        self.labels = {command.id: self.keys.label(command.id) for command in COMMANDS}
        self.guard, self.second_guard = Guard(), Guard()
        self.link = Link(control, rejoin)
        self.tail = LogTail()
        self._start_agent = start_agent
        self._find_out = attached is None
        self._attached = bool(attached)
        self._scene = Scene(attached=self._attached)
        self._notices = [*map(_said, notices), *problems, *self.keys.problems]
        self._notice, self._bad_news, self._notice_until = "", False, 0.0
        self._wanted_theme = theme
        self._outputs: dict[str, OutputText] = {}
        self._reading_output = False
        self._turn = 0

    # Life

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._palettes[0].variables()

    def on_mount(self) -> None:
        for palette in self._palettes:
            self.register_theme(palette.theme())
        names = [palette.name for palette in self._palettes]
        if self._wanted_theme and self._wanted_theme not in names:
            self._notices.append(f"there is no theme {visible(self._wanted_theme)[:40]!r}")
        self.theme = self._wanted_theme if self._wanted_theme in names else names[0]
        self.set_keymap(self.keys.overrides)
        self.call_after_refresh(self.link.start)  # the first paint comes before the host is looked for
        self.tail.start()
        self.set_interval(DRAW_SECONDS, self._draw)
        self.set_interval(OUTPUT_SECONDS, self._read_output)

    def on_ready(self) -> None:
        if not self.is_headless:
            self.spare_the_collector()

    def spare_the_collector(self) -> None:
        """Take what the start has made out of garbage collection.

        A full collection over all of Textual's objects was measured to stop the room for 90 to 170 ms.
        """
        gc.freeze()
        gc.enable()

    @property
    def crash(self) -> BaseException | None:
        """What ended the room against its will; `run()` gave None then. The host has lost nothing."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual prints a traceback with all local variables here: agents' texts among them.
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        self.link.stop()
        self.tail.stop()

    def leave(self) -> None:
        """Close the screen in good order; may be called from a signal handler."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.exit, 0)

    def panic(self, *renderables: Any) -> None:
        """As `_fatal_error`: nothing of a crash belongs on the person's terminal."""
        self._close_messages_no_wait()

    # What is drawn

    def scene(self) -> Scene:
        """The newest snapshot, now."""
        now = self.monotonic()
        state = self.link.states.take()
        phase = self.link.phase
        if phase.turn != self._turn:
            self._turn = phase.turn
            self.say("A new host answers.")
        if state is not None:
            self._attached = self._is_attached(state)
            self._scene = replace(self._scene, state=state, received_at=now)
        if now >= self._notice_until:
            self._notice = ""
            if self._notices:
                self.say(self._notices.pop(0), bad=True)
        self._scene = replace(
            self._scene,
            now=now,
            lost=phase.lost,
            why=phase.why,
            attached=self._attached,
            notice=self._notice,
            bad_news=self._bad_news,
        )
        return self._scene

    def _is_attached(self, state: State) -> bool:
        return state.host.pid != os.getpid() if self._turn or self._find_out else self._attached

    def _draw(self) -> None:
        scene = self.scene()
        for screen in self.screen_stack:
            if isinstance(screen, RoomishScreen) and screen.standing:
                screen.show(scene)

    def say(self, text: str, *, bad: bool = False) -> None:
        """A word in the footer for some seconds."""
        self._notice, self._bad_news = _said(text), bad
        self._notice_until = self.monotonic() + NOTICE_SECONDS

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            pressed = self.monotonic() - max(0.0, clock.monotonic() - event.time)
            self.guard.key(pressed)
            self.second_guard.key(pressed)
        await super().on_event(event)

    def action_help(self) -> None:
        self.push_screen(Help())

    def action_help_quit(self) -> None:
        self.say(f"{self.labels['room.close']} closes the room.")

    async def action_go(self, mode: str) -> None:
        if len(self.screen_stack) == 1 and mode != self.current_mode:
            await self.switch_mode(mode)
            self.tail.pause(mode != "room")
            self._draw()

    def action_next_theme(self) -> None:
        names = [palette.name for palette in self._palettes]
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        self.say(f"Theme {self.theme}")

    def action_close_room(self) -> None:
        sessions = self._scene.sessions
        if self._attached or self._scene.lost or not sessions:
            self.exit(0)
            return
        if len(self.screen_stack) > 1:
            return
        names = ", ".join(sorted({session.agent for session in sessions}))
        one = len(sessions) == 1
        self.push_screen(
            Confirm(
                "Close the room?",
                (
                    f"Running: {names}",
                    "",
                    f"This room is the host. {'The agent is' if one else 'The agents are'} not ended, but "
                    "everything they do is refused until a room or a daemon opens again. What waits for an "
                    "answer now is denied.",
                ),
                "close it",
                "stay",
            ),
            lambda yes: self.exit(0) if yes else None,
        )

    def action_quit_now(self) -> None:
        self.action_close_room()

    async def action_quit(self) -> None:
        self.action_close_room()

    def get_system_commands(self, screen: Screen[Any]) -> Any:
        """The palette: never an answer."""
        for command in COMMANDS:
            if command.palette and (command.everywhere or isinstance(screen, RoomScreen)):
                run = partial(self.run_action, command.action, screen)
                yield SystemCommand(command.label.capitalize(), command.help, run)

    # Commands

    def send_answer(
        self, request: RequestView, kind: str, *, reason: str = "", minutes: int = 0, directory: str = ""
    ) -> None:
        """Tell the host what the person answered to exactly this card."""
        command = AnswerCommand(
            request=request.id,
            kind=kind,
            by=SURFACE,
            reason=reason,
            shown=str(request.card.get("shown", "")),
            minutes=minutes,
            directory=directory,
        )
        self._call(
            lambda control: Answered(request.id, kind, control.answer(command)),
            f"answer-{request.id}",
            request=request.id,
        )

    def freeze_or_thaw(self, session: SessionView) -> None:
        thaw = session.state == "frozen"
        said = f"{session.agent} goes on." if thaw else f"{session.agent} is frozen."
        self._steer(session, Steer.THAW if thaw else Steer.FREEZE, said)

    def stop_agent(self, session: SessionView) -> None:
        self._steer(session, Steer.STOP, f"{session.agent} is being stopped.")

    def _steer(self, session: SessionView, what: Steer, said: str) -> None:
        def run(control: Control) -> Did:
            control.steer(session.id, what)
            return Did(said)

        self._call(run, f"steer-{session.id}")

    def on_grants_pane_revoked(self, message: GrantsPane.Revoked) -> None:
        def run(control: Control) -> Did:
            found = control.revoke(message.grant)
            return Did("Revoked: it will be asked again." if found else "It was gone already.")

        self._call(run, f"revoke-{message.grant}")

    def launch(self, command_line: str, agent: str) -> None:
        def run(_control: Control) -> Did:
            return Did("Started.", session=self._start_agent(command_line, agent))

        self.say("Starting …")
        self._call(run, "launch")

    def _call(self, command: Callable[[Control], Answered | Did], group: str, *, request: str = "") -> None:
        """Run a command in a thread; its message comes back to the room's screen."""
        control = self.link.control

        def work() -> None:
            result: Answered | Did | Failed
            try:
                result = command(control)
            except HostUnavailable as error:
                self.link.doubt()
                result = Failed(_said(str(error)), request=request, no_host=True)
            except VaultroomError as error:
                result = Failed(_said(str(error)), _said(error.advice), request)
            except Exception as error:
                result = Failed(f"that failed: {_said(repr(error))}", request=request)
            self.post_message(result)

        self.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def _room_screen(self) -> RoomScreen | None:
        screens = self._screen_stacks.get("room", ())
        return next((one for one in screens if isinstance(one, RoomScreen) and one.standing), None)

    def on_answered(self, message: Answered) -> None:
        if (screen := self._room_screen()) is not None:
            screen.take_answered(message)

    def on_failed(self, message: Failed) -> None:
        if (screen := self._room_screen()) is not None:
            screen.take_failed(message)

    def on_did(self, message: Did) -> None:
        self.say(message.text)
        if message.session and (screen := self._room_screen()) is not None:
            screen.show_started(message.session)

    # Output

    def _read_output(self) -> None:
        screen = self._room_screen()
        if screen is None or not screen.is_current or self._reading_output or self._scene.lost:
            return
        wanted = screen.output_wanted()
        if wanted is None:
            return
        self._reading_output = True
        session, after = wanted
        control = self.link.control
        if after == 0:
            self._outputs = {session: OutputText()}
        joining = self._outputs.setdefault(session, OutputText())
        self.run_worker(
            partial(self._fetch_output, control, session, after, joining),
            thread=True,
            exclusive=True,
            group="output",
            exit_on_error=False,
        )

    def _fetch_output(self, control: Control, session: str, after: int, joining: OutputText) -> None:
        try:
            lines: list[str] = []
            end, closed, skipped = after, False, 0
            for _ in range(_OUTPUT_AT_ONCE):
                output = control.output(session, end)
                skipped += max(0, output.start - end)
                lines += joining.lines(output.text, closed=output.closed and output.end <= end)
                more, end, closed = output.end > end, output.end, output.closed
                if not more:
                    break
            self.post_message(Printed(session, lines, end, closed and not more, skipped))
        except HostUnavailable:
            self.link.doubt()
        except Exception as error:
            self.post_message(
                Printed(session, [f"(output cannot be read: {_said(str(error))})"], after, True)
            )
        finally:
            self._reading_output = False

    def on_printed(self, message: Printed) -> None:
        if (screen := self._room_screen()) is not None:
            screen.take_printed(message)


def _load_themes() -> tuple[list[theme.Palette], list[str]]:
    return theme.load_themes()


def _said(text: str) -> str:
    return visible(" ".join(text.split()))[:400]

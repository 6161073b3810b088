"""What a person does to agents: freeze, thaw, stop, start."""

from __future__ import annotations

from textual.widgets import Input

from vaultroom.control.protocol import SessionView
from vaultroom.tui.arming import MOMENT
from vaultroom.tui.screens.answering import Answering
from vaultroom.tui.screens.dialogs import Confirm
from vaultroom.tui.widgets.prompt import Field


class Steering(Answering):
    """The part of the room that steers agents."""

    def __init__(self) -> None:
        super().__init__()
        self.selected = ""
        """The session that is looked at; empty for all."""

    def _target(self) -> SessionView | None:
        """The agent that a key means: the selected one, else the one that asks, else the only one."""
        scene, current = self._scene, self.deck.current
        if self.selected:
            return scene.session(self.selected)
        if current is not None:
            return scene.session(current.session)
        return scene.sessions[0] if len(scene.sessions) == 1 else None

    def _steered(self) -> SessionView | None:
        if self._scene.lost or isinstance(self.focused, Input):
            return None
        session = self._target()
        if session is None:
            self.room.say("Select an agent first." if self._scene.sessions else "No agent runs.", bad=True)
            return None
        if not self.room.guard.quiet():
            self._say(MOMENT)
            return None
        return session

    def action_freeze(self) -> None:
        session = self._steered()
        if session is not None:
            self._when_alone(lambda: self.room.freeze_or_thaw(session))

    def action_stop(self) -> None:
        session = self._steered()
        if session is None:
            return

        def ask() -> None:
            self.app.push_screen(
                Confirm(
                    f"Stop {session.agent}?",
                    (
                        " ".join(session.command),
                        "",
                        "Its processes are ended, and everything it still asks is refused.",
                    ),
                    "stop it",
                    "let it run",
                ),
                lambda yes: self.room.stop_agent(session) if yes else None,
            )

        self._when_alone(ask)

    def action_start(self) -> None:
        if self._scene.lost or isinstance(self.focused, Input):
            return
        self._when_alone(
            lambda: self._ask(
                None,
                "start",
                (Field("Run", "claude -p 'fix the tests'"), Field("as", "its name", limit=40)),
            )
        )

    def start_agent(self, command_line: str, agent: str = "") -> None:
        if not command_line.strip():
            self._close_prompt()
            return
        self._close_prompt()
        self.room.launch(command_line.strip(), agent.strip())

"""What every screen of the room has: the status line above, the footer below, and a plain word when tiny."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from vaultroom.control.protocol import SessionView
from vaultroom.tui import rows, texts
from vaultroom.tui.commands import COMMANDS, bindings
from vaultroom.tui.scene import Scene
from vaultroom.tui.spans import Line, Role, Span, line, spread, width_of, wrap
from vaultroom.tui.widgets.lines import LineBar

if TYPE_CHECKING:
    from vaultroom.tui.app import RoomApp

MIN_COLUMNS, MIN_ROWS = 40, 12
TABS = (("room", "Room"), ("timeline", "Timeline"), ("policy", "Policy"), ("tests", "Tests"))


class StatusBar(LineBar):
    """Host, policy, log, surfaces; the screens' names where there is room."""

    def __init__(self, mode: str) -> None:
        super().__init__(id="status")
        self._mode = mode
        self._scene = Scene()
        self._session: SessionView | None = None
        self._labels: dict[str, str] = {}

    def show(self, scene: Scene, session: SessionView | None, labels: dict[str, str]) -> None:
        before = (self._scene.state, self._scene.lost, self._scene.attached, self._session)
        self._scene, self._session, self._labels = scene, session, labels
        if before != (scene.state, scene.lost, scene.attached, session):
            self.refresh()

    def rows(self, width: int) -> Sequence[Line]:
        tabs = self._tabs()
        left = rows.status_line(self._scene, self._session, width)
        if width_of(left) + width_of(tabs) + 3 <= width:
            return [spread(left, tabs, width)]
        if self._mode != "room":
            return [spread(line(("Vaultroom", Role.TITLE)), tabs, width)]
        return [left]

    def _tabs(self) -> Line:
        parts: list[Span] = []
        for mode, title in TABS:
            here = mode == self._mode
            parts.append(Span("  " if parts else ""))
            parts.append(Span(self._labels.get(f"room.{mode}", ""), Role.KEY if here else Role.DIM))
            parts.append(Span(f" {title}", Role.STRONG if here else Role.DIM))
        return line(*parts)


class Banner(LineBar):
    """What is wrong with the host or the log; not there while nothing is."""

    def show(self, text: str) -> None:
        self.display = bool(text)
        self._text = text
        width = max(20, self.app.size.width - 2)
        lines = [line((piece, Role.INK)) for piece in wrap(text, width)][:3] if text else []
        self.styles.height = max(1, len(lines))
        self.set_rows(lines)


class KeyBar(LineBar):
    """The footer: keys that work here, or what there is to say just now."""

    def __init__(self, *, everywhere: bool) -> None:
        super().__init__(id="footer")
        self._everywhere = everywhere
        self._labels: dict[str, str] = {}
        self._notice = ""
        self._bad = False

        self._agents = False

    def show(self, labels: dict[str, str], notice: str, bad: bool, *, agents: bool) -> None:
        shown = (labels, notice, bad, agents)
        if shown != (self._labels, self._notice, self._bad, self._agents):
            self._labels, self._notice, self._bad, self._agents = shown
            self.refresh()

    def rows(self, width: int) -> Sequence[Line]:
        if self._notice:
            return [spread(line((self._notice, Role.DENY if self._bad else Role.ACCENT)), (), width)]
        shown = sorted((c for c in COMMANDS if c.footer), key=lambda command: command.footer)
        parts: list[Span] = []
        for command in shown:
            if self._everywhere and not command.everywhere:
                continue
            if command.id in ("agent.freeze", "agent.stop") and not self._agents:
                continue
            more = [
                Span("  " if parts else ""),
                Span(self._labels.get(command.id, ""), Role.KEY),
                Span(f" {command.label}", Role.DIM),
            ]
            if width_of([*parts, *more]) > width:
                continue
            parts += more
        return [line(*parts)]


class RoomishScreen(Screen[None]):
    """A mode of the room. `show` is called 20 times a second while the mode is on."""

    MODE = ""
    BINDINGS: ClassVar[list[BindingType]] = bindings(command for command in COMMANDS if command.everywhere)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-high")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._made = False

    def on_mount(self) -> None:
        self._made = True

    @property
    def room(self) -> RoomApp:
        return cast("RoomApp", self.app)

    def compose(self) -> ComposeResult:
        yield StatusBar(self.MODE)
        yield Banner(id="banner")
        with Container(id="body"):
            yield from self.compose_body()
        with Container(id="foot"):
            yield KeyBar(everywhere=self.MODE != "room")
        yield Static(texts.TOO_SMALL, markup=False, id="too-small")

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    @property
    def own_trouble(self) -> str:
        """What is wrong with this screen alone."""
        return ""

    @property
    def standing(self) -> bool:
        """Whether its widgets are there: not before they are made, nor while the room closes."""
        return self._made and self.is_attached and self.query_one_optional("#too-small") is not None

    @property
    def tiny(self) -> bool:
        """Whether the window is too small to show anything that could be answered."""
        return self.size.width < MIN_COLUMNS or self.size.height < MIN_ROWS

    def on_resize(self) -> None:
        self.set_class(self.tiny, "-tiny")

    def show(self, scene: Scene) -> None:
        """Draw this moment."""
        self.show_frame(scene, self.policy_session(scene))

    def show_frame(self, scene: Scene, session: SessionView | None) -> None:
        labels = self.room.labels
        self.query_one(StatusBar).show(scene, session, labels)
        self.query_one(Banner).show(trouble(scene) or self.own_trouble)
        self.query_one(KeyBar).show(labels, scene.notice, scene.bad_news, agents=bool(scene.sessions))

    def policy_session(self, scene: Scene) -> SessionView | None:
        """The session whose policy the status line names: the only one, or one of several under the same."""
        policies = {session.policy_hash for session in scene.sessions}
        return scene.sessions[0] if len(policies) == 1 else None


def trouble(scene: Scene) -> str:
    """What the banner says; empty when all is well."""
    if scene.lost:
        return (
            "The host is gone: what agents ask is refused, and nothing here can be answered. Looking for it …"
        )
    if scene.state is not None and scene.state.host.trouble:
        return scene.state.host.trouble
    return ""

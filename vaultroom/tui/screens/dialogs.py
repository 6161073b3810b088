"""Screens that lie over the room for a moment: a question with yes and no, and the list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from vaultroom.tui.arming import ALONE_SECONDS, Guard
from vaultroom.tui.commands import COMMANDS, Group
from vaultroom.tui.spans import BLANK, Line, Role, labelled, line, wrap
from vaultroom.tui.widgets.lines import LineBar, LinePane, TitleBar

if TYPE_CHECKING:
    from vaultroom.tui.app import RoomApp

WIDTH = 64


class Dialog(ModalScreen[bool]):
    """A title, lines, and a row of keys, in the middle of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("f1,question_mark", "leave", show=False),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    @property
    def room(self) -> RoomApp:
        return cast("RoomApp", self.app)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield TitleBar(self._title)
            yield LinePane(id="dialog-body")
            yield LineBar(id="dialog-keys")

    def on_resize(self) -> None:
        width = min(WIDTH, max(10, self.size.width - 8))
        lines = self.text(width)
        body = self.query_one("#dialog-body", LinePane)
        body.styles.height = max(1, min(len(lines), self.size.height - 6))
        body.styles.width = width + 2
        body.set_lines(lines)

    def text(self, width: int) -> Sequence[Line]:
        raise NotImplementedError

    def action_leave(self) -> None:
        self.dismiss(False)


class Confirm(Dialog):
    """Yes counts like an answer: only when it has stood there for a moment and no key came before it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", show=False),
        Binding("n", "leave", show=False),
    ]

    def __init__(self, title: str, texts: Sequence[str], yes: str, no: str) -> None:
        super().__init__(title)
        self._texts, self._yes, self._no = texts, yes, no
        self._guard = Guard()

    def on_mount(self) -> None:
        self._guard = self.room.second_guard
        self._guard.show(self, 0)
        self.call_after_refresh(self._painted)
        self.set_interval(0.1, self._draw_keys)

    def text(self, width: int) -> Sequence[Line]:
        lines: list[Line] = [BLANK]
        for text in self._texts:
            lines += [line(piece) for piece in wrap(text, width)]
        return [*lines, BLANK]

    def _painted(self) -> None:
        self._guard.painted(self, 0, self.room.monotonic())
        self._draw_keys()

    def _draw_keys(self) -> None:
        ready = self._guard.ready(self.room.monotonic())
        self.query_one("#dialog-keys", LineBar).set_rows(
            [
                line(
                    ("y", Role.KEY if ready else Role.DIM),
                    (f" {self._yes}", Role.INK if ready else Role.DIM),
                    ("    esc", Role.KEY),
                    f" {self._no}",
                )
            ]
        )

    def action_yes(self) -> None:
        guard = self._guard
        if not guard.counts():
            return
        presses = guard.presses

        def alone() -> None:
            if guard.presses == presses and self.is_current:
                self.dismiss(True)

        self.set_timer(ALONE_SECONDS, alone)


class Help(Dialog):
    """Every key, by what it is for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__("Keys")

    def text(self, width: int) -> Sequence[Line]:
        lines: list[Line] = []
        for group in Group:
            lines += [BLANK, line((group.value, Role.ACCENT))]
            for command in COMMANDS:
                if command.group is group:
                    lines += labelled(
                        self.room.keys.labels(command.id), command.help, width, room=10, label_role=Role.KEY
                    )
        lines += [BLANK, line(("What counts", Role.ACCENT))]
        lines += [
            line((piece, Role.DIM))
            for piece in wrap(
                "A key answers only when its card has stood here for 0.4 seconds, when no other key came "
                "within that time, and, to allow, when the card's end has been on the screen. A request that "
                "comes in never takes the place of the one before you.",
                width,
            )
        ]
        return lines

    def on_mount(self) -> None:
        self.query_one("#dialog-keys", LineBar).set_rows(
            [line(("esc", Role.KEY), " close    ", ("↑ ↓ space", Role.KEY), " scroll")]
        )

    def action_scroll(self, by: int) -> None:
        self.query_one("#dialog-body", LinePane).scroll_relative(y=by, animate=False)

"""Screens that say what will be there, and what to do meanwhile."""

from __future__ import annotations

from textual.app import ComposeResult

from vaultroom.tui import texts
from vaultroom.tui.screens.base import RoomishScreen
from vaultroom.tui.spans import BLANK, Line, Role, line, wrap
from vaultroom.tui.widgets.lines import LinePane


class LaterScreen(RoomishScreen):
    """One empty state."""

    def compose_body(self) -> ComposeResult:
        yield LinePane(id="later")

    def on_resize(self) -> None:
        super().on_resize()
        title, what, *meanwhile = texts.LATER[self.MODE]
        width = max(20, self.size.width - 8)
        lines: list[Line] = [BLANK, line((title, Role.TITLE)), BLANK]
        lines += [line(piece) for piece in wrap(what, width)]
        lines += [BLANK, line(("This screen is not built yet.", Role.DIM)), BLANK]
        lines += [line((piece, Role.DIM)) for text in meanwhile for piece in wrap(text, width)]
        self.query_one("#later", LinePane).set_lines(lines)


class TimelineScreen(LaterScreen):
    MODE = "timeline"


class PolicyScreen(LaterScreen):
    MODE = "policy"


class TestsScreen(LaterScreen):
    MODE = "tests"
    __test__ = False

"""What a launched agent prints: bounded, in batches, keeping up with a flood."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Log

from vaultroom.tui.spans import Line
from vaultroom.tui.widgets.lines import TitleBar

MAX_LINES = 5000


class OutputLog(Log):
    """Lines come in already visible; nothing is highlighted and nothing is read as markup."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(highlight=False, max_lines=MAX_LINES, id="output-body")


class OutputPane(Vertical):
    """The output of one agent."""

    def __init__(self) -> None:
        super().__init__(id="output")
        self.session = ""

    def compose(self) -> ComposeResult:
        yield TitleBar("Output", id="output-title")
        yield OutputLog()

    def begin(self, session: str) -> None:
        """Another agent's output from here on."""
        self.session = session
        self.query_one(OutputLog).clear()

    def add(self, lines: list[str]) -> None:
        self.query_one(OutputLog).write_lines(lines)

    def show_title(self, title: Line, end: Line = ()) -> None:
        self.query_one(TitleBar).show(title, end)

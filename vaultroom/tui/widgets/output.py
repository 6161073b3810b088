"""What a launched agent prints: bounded, in batches, keeping up with a flood."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Log

from vaultroom.tui.messages import Printed
from vaultroom.tui.spans import Line
from vaultroom.tui.widgets.lines import LinePane, TitleBar

MAX_LINES = 5000


class OutputLog(Log):
    """Lines come in already visible; nothing is highlighted and nothing is read as markup."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(highlight=False, max_lines=MAX_LINES, id="output-body")


class OutputPane(Vertical):
    """The output of one agent: `end` bytes of it were read, `closed` when there is no more."""

    def __init__(self) -> None:
        super().__init__(id="output")
        self.session = ""
        self.end = 0
        self.closed = False

    def compose(self) -> ComposeResult:
        yield TitleBar("Output", id="output-title")
        yield LinePane(id="output-empty")
        yield OutputLog()

    def begin(self, session: str) -> None:
        """Another agent's output from here on; none when it is empty."""
        self.session, self.end, self.closed = session, 0, False
        log = self.query_one(OutputLog)
        log.clear()
        log.display = bool(session)
        self.query_one("#output-empty").display = not session

    def show_empty(self, lines: Sequence[Line]) -> None:
        self.query_one("#output-empty", LinePane).set_lines(lines)

    def add(self, printed: Printed) -> None:
        if printed.session != self.session or printed.end < self.end:
            return
        log = self.query_one(OutputLog)
        if printed.skipped:
            log.write_lines([f"… {printed.skipped:,} bytes were dropped here …"])
        if printed.lines:
            log.write_lines(printed.lines)
        self.end, self.closed = printed.end, printed.closed

    def show_title(self, title: Line, end: Line = ()) -> None:
        self.query_one(TitleBar).show(title, end)

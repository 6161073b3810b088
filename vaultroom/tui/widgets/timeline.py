"""The live timeline: the newest rows of the log at the bottom; looking up stops it from following."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from vaultroom.tui.log_line import Entry, entry_line
from vaultroom.tui.log_tail import Page
from vaultroom.tui.spans import Line, Role, line
from vaultroom.tui.widgets.lines import LinePane, TitleBar


class _Entries(Sequence[Line]):
    """Entries drawn only when they come into view."""

    def __init__(self, entries: Sequence[Entry], width: int) -> None:
        self._entries, self._width = entries, width

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        if isinstance(at, slice):
            return [entry_line(entry, self._width) for entry in self._entries[at]]
        return entry_line(self._entries[at], self._width)


class TimelineBody(LinePane, can_focus=True):
    """The rows."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("end", "follow", show=False)]

    def __init__(self) -> None:
        super().__init__(id="timeline-body")
        self._page: Page | None = None
        self._newest: Page | None = None
        self.following = True
        self._settling = False

    @property
    def page(self) -> Page | None:
        """What is drawn."""
        return self._page

    @property
    def unseen(self) -> int:
        """Rows that came since following stopped."""
        if self._page is None or self._newest is None:
            return 0
        return self._newest.count - self._page.count

    def show(self, page: Page) -> None:
        fresh = self._page is None or page.view != self._page.view
        self._newest = page
        if fresh:
            self.following = True
        if self.following:
            self._draw(page)

    def redraw(self) -> None:
        """In the present width."""
        if self._page is not None:
            self._draw(self._page)

    def action_follow(self) -> None:
        self.following = True
        if self._newest is not None:
            self._draw(self._newest)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling or round(old_value) == round(new_value):
            return
        was = self.following
        self.following = self.scroll_offset.y >= self.max_scroll_y
        if self.following and not was and self._newest is not None:
            self._draw(self._newest)

    def on_resize(self, event: events.Resize) -> None:
        self.redraw()

    def _draw(self, page: Page) -> None:
        self._page = page
        self._settling = True
        try:
            self.set_lines(_Entries(page.entries, self.inner_width))
            if self.following:
                self.scroll_to(y=max(0, len(page.entries) - self.size.height), animate=False, force=True)
        finally:
            self._settling = False


class TimelinePane(Vertical):
    """The rows and their title."""

    def __init__(self) -> None:
        super().__init__(id="timeline")

    def compose(self) -> ComposeResult:
        yield TitleBar("Timeline", id="timeline-title")
        yield TimelineBody()

    @property
    def body(self) -> TimelineBody:
        return self.query_one(TimelineBody)

    def show(self, page: Page) -> None:
        self.body.show(page)

    def show_empty(self, paragraph: tuple[str, ...]) -> None:
        self.body.set_lines([line((" " + text, Role.DIM)) for text in paragraph])

    def show_title(self, of: str, trouble: str) -> None:
        body = self.body
        if trouble:
            end = line(("cannot be read", Role.DENY))
        elif body.following:
            end = line(("UTC", Role.DIM))
        else:
            new = f"{body.unseen:,} new below · " if body.unseen else ""
            end = line((new, Role.ASK), ("End follows again", Role.DIM))
        self.query_one(TitleBar).show(line(("Timeline", Role.TITLE), (f" {of}" if of else "", Role.DIM)), end)

"""Widgets that draw plain lines of spans: a scrolling pane, and a bar of one or more rows.

They draw through the line API: no markup is ever read, and a pane of any length costs what is in view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from vaultroom.tui.spans import Line, Role, cells, cut, line
from vaultroom.visible import visible

_CLASSES = {f"line--{role.value}" for role in Role} | {"line--cursor"}


class LinePane(ScrollView):
    """A scrolling pane. Lines must already fit its width: it never scrolls sideways."""

    COMPONENT_CLASSES: ClassVar[set[str]] = _CLASSES
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LinePane { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] = ()
        self.marked: range = range(0)
        """Lines drawn as the cursor."""

    @property
    def inner_width(self) -> int:
        """Cells of a line, with room for the scroll bar."""
        return max(1, self.scrollable_content_region.width)

    def set_lines(self, lines: Sequence[Line]) -> None:
        if isinstance(lines, list | tuple) and lines == self._lines:
            return
        self._lines = lines
        size = Size(0, len(lines))
        if self.virtual_size.height != size.height:
            self.virtual_size = size
        self.refresh()

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    @property
    def bottom(self) -> int:
        """The number of lines down to the last one in view."""
        return min(len(self._lines), self.scroll_offset.y + self.size.height)

    @property
    def at_end(self) -> bool:
        return self.bottom >= len(self._lines)

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        spans = self._lines[at] if 0 <= at < len(self._lines) else ()
        return draw(self, spans, self.size.width, cursor=at in self.marked)


class LineBar(Widget):
    """A few rows at a fixed place."""

    COMPONENT_CLASSES: ClassVar[set[str]] = _CLASSES
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineBar { height: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Line] = ()

    def set_rows(self, rows: Sequence[Line]) -> None:
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def rows(self, width: int) -> Sequence[Line]:
        """What to draw at this width; bars whose text depends on the width override it."""
        return self._rows

    def render_line(self, y: int) -> Strip:
        inner = max(1, self.content_size.width)
        rows = self.rows(inner)
        return draw(self, rows[y] if y < len(rows) else (), inner)


class TitleBar(LineBar):
    """A pane's title, a thin rule, and something at its right end."""

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title: Line = line((title, Role.TITLE))
        self._end: Line = ()

    def show(self, title: Line, end: Line = ()) -> None:
        if (title, end) != (self._title, self._end):
            self._title, self._end = title, end
            self.refresh()

    def rows(self, width: int) -> Sequence[Line]:
        end = cut(self._end, width)
        used_end = sum(cells(span.text) for span in end)
        title = cut(self._title, max(0, width - used_end - 2))
        rule = width - used_end - sum(cells(span.text) for span in title) - (2 if end else 1)
        return [
            line(
                *title,
                (" " + "─" * max(0, rule), Role.FAINT),
                (" " if end else "", Role.INK),
                *end,
            )
        ]


def draw(widget: Widget, spans: Sequence[tuple[str, Role]], width: int, *, cursor: bool = False) -> Strip:
    """Spans as a strip of exactly `width` cells in the widget's colours.

    The last line of defence: whatever is not plainly visible is marked here, should it have come so far.
    """
    base = widget.rich_style
    if cursor:
        base += widget.get_component_rich_style("line--cursor", partial=True)
    segments = [
        Segment(text if text.isprintable() else visible(text), base + _style(widget, role))
        for text, role in spans
        if text
    ]
    return Strip(segments).adjust_cell_length(width, base)


def _style(widget: Widget, role: Role) -> Style:
    return widget.get_component_rich_style(f"line--{role.value}", partial=True)

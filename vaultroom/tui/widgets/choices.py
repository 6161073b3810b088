"""A list to choose from: each item is one or more lines, and the cursor stays with its item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from vaultroom.tui.spans import Line, Role, Span
from vaultroom.tui.widgets.lines import LinePane


@dataclass(frozen=True, slots=True)
class Item:
    """`id` is what the cursor follows; empty for lines that cannot be chosen."""

    id: str
    lines: tuple[Line, ...]


class Choices(LinePane, can_focus=True):
    """Arrows, Home and End move; every move is a choice and is told at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("home", "move(-100000)", show=False),
        Binding("end", "move(100000)", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """The person moved the cursor to the item `item`."""

        pane: Choices
        item: str

        @property
        def control(self) -> Choices:
            return self.pane

    def __init__(self, *, above: str = "", id: str | None = None) -> None:
        """`above` can be chosen by going up from the first item, where it is not an item itself."""
        super().__init__(id=id)
        self._above = above
        self._items: Sequence[Item] = ()
        self._owners: list[str] = []
        self.chosen = ""

    def show(self, items: Sequence[Item], chosen: str) -> None:
        """Draw these items with the cursor at `chosen`; nothing is told."""
        if (items, chosen) == (self._items, self.chosen):
            return
        moved = chosen != self.chosen
        self._items, self.chosen = items, chosen
        lines: list[Line] = []
        self._owners = []
        self.marked = range(0)
        for item in items:
            here = bool(item.id) and item.id == chosen
            if here:
                self.marked = range(len(lines), len(lines) + len(item.lines))
            mark = Span("▌" if here else " ", Role.ACCENT)
            lines += [(mark, *spans) for spans in item.lines]
            self._owners += [item.id] * len(item.lines)
        self.set_lines(lines)
        if moved:
            self._reveal()

    def action_move(self, by: int) -> None:
        ids = [item.id for item in self._items if item.id]
        if not ids:
            return
        if self._above and self._above not in ids:
            ids.insert(0, self._above)
        at = ids.index(self.chosen) if self.chosen in ids else 0
        self._tell(ids[min(max(at + by, 0), len(ids) - 1)])

    def on_click(self, event: events.Click) -> None:
        at = event.y + self.scroll_offset.y
        if 0 <= at < len(self._owners) and self._owners[at]:
            self._tell(self._owners[at])

    def _tell(self, item: str) -> None:
        if item != self.chosen:
            self.post_message(self.Chosen(self, item))

    def _reveal(self) -> None:
        if self.marked:
            top, height = self.scroll_offset.y, self.size.height
            if self.marked.start < top:
                self.scroll_to(y=self.marked.start, animate=False)
            elif self.marked.stop > top + height:
                self.scroll_to(y=self.marked.stop - height, animate=False)

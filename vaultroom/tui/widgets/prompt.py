"""One line to type into, in the footer's place. While it is open no key answers anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from vaultroom.visible import visible

MAX_TYPED = 500
"""Characters of one field at most."""


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to type. `digits` takes a whole number alone."""

    label: str
    hint: str
    value: str = ""
    limit: int = MAX_TYPED
    digits: bool = False


class Entry(Input):
    """An input that takes only visible text of bounded length, however much is pasted."""

    def __init__(self, field: Field) -> None:
        super().__init__(
            value=field.value,
            placeholder=field.hint,
            max_length=field.limit,
            restrict=r"[0-9]*" if field.digits else None,
            compact=True,
            select_on_focus=False,
        )
        self.cursor_blink = False
        self._limit = field.limit

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        room = self._limit - len(self.value) + len(self.selected_text)
        lines = event.text[: self._limit * 4].splitlines()
        text = visible(lines[0])[: max(0, room)] if lines else ""
        if text:
            self.replace(text, *self.selection)


class Prompt(Horizontal):
    """A label and its field, or several in one row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    @dataclass
    class Given(Message):
        """Enter was pressed: what was typed, field by field, for the question `purpose`."""

        purpose: str
        values: tuple[str, ...]

    @dataclass
    class Left(Message):
        """Escape was pressed."""

    def __init__(self, purpose: str, fields: tuple[Field, ...]) -> None:
        super().__init__(classes="prompt")
        self.purpose = purpose
        self._fields = fields

    def compose(self) -> ComposeResult:
        for field in self._fields:
            yield Static(f"{field.label}  ", markup=False, classes="prompt-label")
            yield Entry(field)

    def on_mount(self) -> None:
        self.query(Entry).first().focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Given(self.purpose, tuple(entry.value for entry in self.query(Entry))))

    def action_leave(self) -> None:
        self.post_message(self.Left())

"""The card: one waiting request in full, its countdown above and its keys below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from vaultroom.control.protocol import RequestView
from vaultroom.tui.card_text import CardText, card_text
from vaultroom.tui.commands import BY_ID
from vaultroom.tui.spans import Line, Role, Span, line, width_of
from vaultroom.tui.widgets.lines import LineBar, LinePane, TitleBar

_SHORT = 16
"""Rows of a card below which it goes without blank lines."""

_ANSWERS = (
    ("answer.allow_once", "answer.allow_rule", "answer.allow_minutes", "answer.allow_here"),
    ("answer.deny", "answer.deny_reason"),
)
_SHORT_LABELS = {
    "answer.allow_once": "once",
    "answer.allow_rule": "rule",
    "answer.allow_minutes": "min",
    "answer.deny_reason": "why",
}


class CardBody(LinePane, can_focus=True):
    """The lines of the card. Tells when another part of it is on the screen."""

    @dataclass
    class Seen(Message):
        """Painted down to line `bottom` of what `token` names."""

        token: object
        bottom: int

    @dataclass
    class Resized(Message):
        """The card has to be wrapped anew."""

    def __init__(self) -> None:
        super().__init__(id="card-body")
        self.token: object = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.tell_when_painted()

    def on_resize(self, event: events.Resize) -> None:
        self.post_message(self.Resized())

    def tell_when_painted(self) -> None:
        """Tell `Seen` once what is drawn now has been painted."""
        token = self.token
        self.call_after_refresh(self._tell, token)

    def _tell(self, token: object) -> None:
        if token is not None and token == self.token and self.is_on_screen:
            self.post_message(self.Seen(token, self.bottom))

    @property
    def is_on_screen(self) -> bool:
        """Whether a person can see it: this screen is on top and the pane has room for a line."""
        return self.screen.is_current and self.size.height > 0 and self.size.width > 0


class KeyLine(LineBar):
    """The answers with their keys: bright while they count, dim while they do not."""

    def __init__(self) -> None:
        super().__init__(id="card-keys")
        self._labels: Mapping[str, str] = {}
        self._ready = False
        self._may_allow = False
        self._remembers = False

    def show(self, labels: Mapping[str, str], *, ready: bool, may_allow: bool, remembers: bool) -> None:
        shown = (labels, ready, may_allow, remembers)
        if shown != (self._labels, self._ready, self._may_allow, self._remembers):
            self._labels, self._ready, self._may_allow, self._remembers = shown
            self.refresh()

    def rows(self, width: int) -> Sequence[Line]:
        row = self._row("  ", {})
        if width_of(row) > width:
            row = self._row(" ", _SHORT_LABELS)
        return [row]

    def _row(self, gap: str, short: Mapping[str, str]) -> Line:
        parts: list[Span] = []
        for group in _ANSWERS:
            for command_id in group:
                command = BY_ID[command_id]
                keeps = command.allows and command_id != "answer.allow_once"
                on = (
                    self._ready and (self._may_allow or not command.allows) and (self._remembers or not keeps)
                )
                if parts:
                    parts.append(Span(gap))
                parts.append(Span(self._labels.get(command_id, ""), Role.KEY if on else Role.DIM))
                parts.append(Span(f" {short.get(command_id, command.label)}", Role.INK if on else Role.DIM))
        return line(*parts)


class CardPane(Vertical):
    """Everything about the request on the table, or what to do while nothing waits."""

    def __init__(self) -> None:
        super().__init__(id="card")
        self._request: RequestView | None = None
        self._labels: Mapping[str, str] = {}
        self.text = CardText((), 0)

    def compose(self) -> ComposeResult:
        yield TitleBar("Waiting", id="card-title")
        yield CardBody()
        yield KeyLine()

    @property
    def request(self) -> RequestView | None:
        """What is drawn."""
        return self._request

    @property
    def body(self) -> CardBody:
        return self.query_one(CardBody)

    def show(
        self, request: RequestView | None, labels: Mapping[str, str], token: object, empty: Sequence[Line]
    ) -> None:
        """Draw a request, or the `empty` lines. A new token starts at the top."""
        self._request, self._labels = request, labels
        body = self.body
        fresh = token != body.token
        body.token = token
        if request is None:
            self.text = CardText(tuple(empty), 0)
        else:
            airy = body.size.height >= _SHORT
            self.text = card_text(request, body.inner_width, keys=labels, airy=airy)
        body.set_lines(self.text.lines)
        if request is None and not fresh:
            return
        self.query_one(KeyLine).display = request is not None
        if fresh:
            body.scroll_to(y=0, animate=False)
        body.tell_when_painted()

    @staticmethod
    def same(one: RequestView | None, other: RequestView | None) -> bool:
        """Whether both are drawn alike; the countdown is not part of the card."""
        if one is None or other is None:
            return one is other
        return replace(one, seconds_left=0.0) == replace(other, seconds_left=0.0)

    def show_title(self, title: Line, end: Line) -> None:
        self.query_one(TitleBar).show(title, end)

    def show_keys(self, *, ready: bool, may_allow: bool, remembers: bool) -> None:
        self.query_one(KeyLine).show(self._labels, ready=ready, may_allow=may_allow, remembers=remembers)

    def page(self) -> None:
        """The next screenful; from the end back to the top."""
        body = self.body
        if body.at_end:
            body.scroll_to(y=0, animate=False)
        else:
            body.scroll_to(y=body.scroll_offset.y + max(1, body.size.height - 1), animate=False)

"""Text for the screen as plain data: spans with a role, lines of spans, and how they fit and wrap.

Widths are terminal cells. Lists cut (`fit`); whatever a person judges is wrapped and never cut (`wrap`).
All text must have been through `visible()` before it comes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len

MIN_WIDTH = 8
CONTINUED = "↪ "
"""Stands before the rest of a word that was longer than a line, so that no space can be read into it."""


class Role(StrEnum):
    """What a span is; themes say how it looks."""

    INK = "ink"
    DIM = "dim"
    FAINT = "faint"
    STRONG = "strong"
    TITLE = "title"
    ACCENT = "accent"
    KEY = "key"
    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class Span(NamedTuple):
    text: str
    role: Role = Role.INK


Line = tuple[Span, ...]
BLANK: Line = ()


def line(*parts: Span | str | tuple[str, Role]) -> Line:
    """A line from texts, (text, role) pairs and spans; empty ones are left out."""
    spans = (Span(part) if isinstance(part, str) else Span(*part) for part in parts)
    return tuple(span for span in spans if span.text)


def cells(text: str) -> int:
    """Terminal cells that `text` takes at most. A combining mark counts as one: they cannot pile up."""
    if text.isascii():
        return len(text)
    return sum(max(1, cell_len(char)) for char in text)


def width_of(spans: Iterable[Span]) -> int:
    return sum(cells(span.text) for span in spans)


def fit(text: str, width: int) -> str:
    """`text` in at most `width` cells; `…` marks what there was no room for. A line feed shows as ⏎."""
    text = text.replace("\n", " ⏎ ")
    if width <= 0:
        return ""
    if text.isascii() and len(text) <= width:
        return text
    kept, used = [], 0
    for char in text[: width + 1]:
        used += cells(char)
        if used > width:
            break
        kept.append(char)
    else:
        if len(text) <= width + 1:
            return text
    while kept and sum(cells(char) for char in kept) > width - 1:
        kept.pop()
    return "".join(kept) + "…"


def pad(text: str, width: int) -> str:
    """`text` cut or filled to exactly `width` cells."""
    fitted = fit(text, width)
    return fitted + " " * (width - cells(fitted))


def right(text: str, width: int) -> str:
    """`text` cut, or filled from the left, to exactly `width` cells."""
    fitted = fit(text, width)
    return " " * (width - cells(fitted)) + fitted


def spread(left: Sequence[Span], end: Sequence[Span], width: int) -> Line:
    """`left` and, at the right edge, `end`; where both have no room, `left` gives way."""
    room = width - width_of(end) - (1 if end else 0)
    if room < 0:
        return tuple(cut(end, width))
    kept = cut(left, room)
    gap = width - width_of(kept) - width_of(end)
    return (*kept, Span(" " * gap), *end)


def cut(spans: Sequence[Span], width: int) -> list[Span]:
    """The spans in at most `width` cells."""
    kept: list[Span] = []
    used = 0
    for span in spans:
        size = cells(span.text)
        if used + size > width:
            if width - used > 0:
                kept.append(Span(fit(span.text, width - used), span.role))
            break
        kept.append(span)
        used += size
    return kept


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells (8 at least); line feeds separate lines, nothing is lost.

    Lines break after a space where there is one in their second half. A word that goes on in the next
    line is marked there with `↪`.
    """
    room = max(width, MIN_WIDTH)
    return [piece for part in text.split("\n") for piece in _pieces(part, room)]


def _pieces(part: str, room: int) -> list[str]:
    pieces: list[str] = []
    start, mark = 0, ""
    while True:
        space = room - len(mark)
        end = _reach(part, start, space)
        if end >= len(part):
            pieces.append(mark + part[start:])
            return pieces
        at = part.rfind(" ", start + space // 2, end)
        if at >= 0:
            end = at + 1
        pieces.append(mark + part[start:end])
        mark = "" if part[end - 1] == " " else CONTINUED
        start = end


def _reach(part: str, start: int, room: int) -> int:
    """How far `part` can be read from `start` within `room` cells; one character at least."""
    end = min(len(part), start + room)
    if part[start:end].isascii():
        return end
    used = 0
    for at in range(start, end):
        used += cells(part[at])
        if used > room:
            return max(at, start + 1)
    return end


def labelled(
    label: str, text: str, width: int, *, room: int = 9, role: Role = Role.INK, label_role: Role = Role.DIM
) -> list[Line]:
    """`text` wrapped beside a label in a column of `room` cells."""
    lines: list[Line] = []
    for at, piece in enumerate(wrap(text, width - room)):
        lines.append(line((pad(label if at == 0 else "", room), label_role), (piece, role)))
    return lines

"""A waiting request as the lines of its card: first what must be seen, then what may be asked for.

All texts of a RequestView are visible already. Nothing is cut: what has no room is wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vaultroom.control.protocol import Removal, RequestView
from vaultroom.tui.spans import BLANK, Line, Role, labelled, line, wrap

LABEL_ROOM = 9
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True, slots=True)
class CardText:
    """`needed` is how many of the lines must have been on the screen before the act can be allowed."""

    lines: tuple[Line, ...]
    needed: int


def card_text(request: RequestView, width: int, *, keys: Mapping[str, str], airy: bool = True) -> CardText:
    """The card at a width of `width` cells. `keys` gives the key label of each answer command.

    `airy` sets blank lines between its parts.
    """
    card, dossier = request.card, request.dossier
    gap = [BLANK] if airy else []
    lines = _act(_text(card, "act") or request.summary, width)
    lines += gap
    waiters = card.get("waiters", 1)
    same = (
        f" · {waiters} identical acts wait for this answer"
        if isinstance(waiters, int) and waiters > 1
        else ""
    )
    lines += labelled("agent", f"{request.agent} · {request.action}{same}", width)
    lines += labelled("rule", _text(card, "rule") or request.rule or "default", width)
    if message := _text(card, "message"):
        lines += labelled("", message, width, role=Role.ASK)
    lines += labelled("where", _text(card, "cwd"), width)
    parts = dossier.facets if len(dossier.facets) > 1 else _texts(card, "asks")
    for at, part in enumerate(parts):
        lines += labelled("does" if at == 0 else "", part, width)
    if dossier.facets:
        for ask in _texts(card, "asks"):
            if ask not in parts and "cannot be read" in ask:
                lines += labelled("note", ask, width, role=Role.ASK)
    lines += _removal(dossier.removal, width)
    lines += _difference(dossier.difference, width)
    if request.unreachable:
        lines += labelled("note", "nobody else could be reached about this", width, role=Role.DIM)
    lines += gap
    lines += _memory(card, width, keys)
    needed = len(lines)
    lines += _more(request, width)
    return CardText(tuple(lines), needed)


def essence(request: RequestView) -> tuple[object, ...]:
    """What an answer is about: when it changes, the card has to be seen again."""
    card, dossier = request.card, request.dossier
    return (
        request.id,
        _text(card, "shown"),
        _text(card, "act"),
        _text(card, "cwd"),
        _texts(card, "asks"),
        _texts(card, "remembers"),
        dossier.facets,
        dossier.difference,
    )


def _act(act: str, width: int) -> list[Line]:
    lines: list[Line] = []
    for at, piece in enumerate(wrap(act, width - 6)):
        lines.append(line(("[ASK] ", Role.ASK) if at == 0 else "      ", (piece, Role.STRONG)))
    return lines


def _removal(removal: Removal | None, width: int) -> list[Line]:
    if removal is None:
        return []
    size, unit = float(removal.bytes), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    amount = f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 100 else f"{size:.1f} {_UNITS[unit]}"
    files = "1 file" if removal.files == 1 else f"{removal.files:,} files"
    more = "" if removal.complete else " so far, and more"
    lines = labelled("removes", f"{files}, {amount}{more}", width, role=Role.DENY)
    for path in removal.sample:
        lines += labelled("", path, width, role=Role.DIM)
    hidden = removal.files - len(removal.sample)
    if removal.sample and hidden > 0:
        lines += labelled("", f"… and {hidden:,} more", width, role=Role.DIM)
    return lines


def _difference(difference: Iterable[str], width: int) -> list[Line]:
    lines: list[Line] = []
    for text in difference:
        role = Role.INK
        if text.startswith(("---", "+++", "@@")):
            role = Role.DIM
        elif text.startswith("+"):
            role = Role.ALLOW
        elif text.startswith("-"):
            role = Role.DENY
        lines += labelled("change" if not lines else "", text, width, role=role)
    return lines


def _memory(card: Mapping[str, Any], width: int, keys: Mapping[str, str]) -> list[Line]:
    remembers = _texts(card, "remembers")
    rule, minutes, here = (
        keys.get(name, "") for name in ("answer.allow_rule", "answer.allow_minutes", "answer.allow_here")
    )
    if not remembers:
        why = _text(card, "refusal") or "Nothing can be remembered."
        return labelled(f"{rule} {minutes} {here}", f"not possible: {why}", width, role=Role.DIM)
    lines: list[Line] = []
    for text in remembers:
        lines += labelled(f"{rule} keeps" if not lines else "", text, width)
    lines += labelled(f"{minutes} keeps", "the same for 1 to 60 minutes", width, role=Role.DIM)
    lines += labelled(
        f"{here} keeps", f"the same while it works in {_text(card, 'cwd')}", width, role=Role.DIM
    )
    return lines


def _more(request: RequestView, width: int) -> list[Line]:
    """What stands below: who asks, who else was asked, the rule's own text."""
    card, dossier = request.card, request.dossier
    lines: list[Line] = [BLANK]
    if dossier.chain:
        lines += labelled("asked by", " ← ".join(dossier.chain), width, role=Role.DIM)
    for at, text in enumerate(dossier.deliveries):
        lines += labelled("also at" if at == 0 else "", text, width, role=Role.DIM)
    if text := _text(card, "rule_text"):
        lines += labelled("policy", text, width, role=Role.DIM)
    for at, text in enumerate(_texts(card, "details")):
        lines += labelled("details" if at == 0 else "", text, width, role=Role.DIM)
    return lines


def _text(card: Mapping[str, Any], name: str) -> str:
    value = card.get(name)
    return value if isinstance(value, str) else ""


def _texts(card: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = card.get(name)
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()

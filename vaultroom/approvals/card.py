"""A card: everything that a text surface shows of a request, as plain data that fits into a message.

The process that owns a terminal may be a client of the host, so what it shows travels as JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from vaultroom.approvals.grants import describe, rule_title
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.approvals.summary import act_text, facet_line, wrap
from vaultroom.visible import visible

_TEXTS = frozenset(
    {"id", "session_id", "shown", "agent", "rule", "rule_text", "message", "action", "act", "cwd", "refusal"}
)


@dataclass(frozen=True, slots=True)
class Card:
    """One question, ready to be drawn. Every text is visible already.

    `act` is the whole act, possibly several lines. `asks` names the parts that ask where the act has
    several. `remembers` is what allowing the rule leaves behind, empty where nothing can be kept
    (`refusal` says why). `deadline` is seconds on the monotonic clock, which one machine shares.
    """

    id: str
    session_id: str
    shown: str
    agent: str
    rule: str
    rule_text: str
    message: str
    action: str
    act: str
    cwd: str
    deadline: float
    asks: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    remembers: tuple[str, ...] = ()
    refusal: str = ""
    waiters: int = 1


def card_of(request: ApprovalRequest) -> Card:
    """The card of a request."""
    event, memory = request.event, request.memory
    facets = event.judged_facets()
    several = len(facets) > 1
    line = f" (line {request.rule_line})" if request.rule_line else ""
    opaque = ("Part of this cannot be read statically.",) if any(f.opaque for f in facets) else ()
    return Card(
        id=request.id,
        session_id=request.session_id,
        shown=request.shown,
        agent=visible(request.agent),
        rule=(visible(request.rule_name) or "default") + line,
        rule_text=visible(request.rule_text, keep_newlines=True),
        message=visible(request.verdict.message, keep_newlines=True),
        action=request.event.action.value,
        act=act_text(event),
        cwd=visible(event.cwd),
        deadline=request.deadline,
        asks=tuple(
            f"{facet_line(facets[entry.index])} — {rule_title(entry.rule_name)}"
            for entry in request.asking
            if several and entry.index < len(facets)
        )
        + opaque,
        details=(
            f"request {request.id}",
            f"session {visible(request.session_id)}",
            f"source {event.source.value}, process {event.pid}",
            *(f"part {at + 1}: {facet_line(facet)}" for at, facet in enumerate(facets) if several),
            *(f"{d.channel}: {d.state}{': ' + visible(d.why) if d.why else ''}" for d in request.deliveries),
        ),
        remembers=describe(memory) if memory.possible else (),
        refusal=memory.refusal,
        waiters=request.waiters,
    )


def lines_of(card: Card, width: int) -> list[str]:
    """The lines of a card, without keys and countdown (specification section 4.4).

    Each has at most `width` cells (20 at least); long texts are wrapped and never cut.
    """
    lines = wrap("Vaultroom — approval requested", width)
    lines += wrap(f"Agent: {card.agent or '?'} · Rule: {card.rule}", width, indent="  ")
    lines += wrap(f"Action: {card.action}", width, indent="  ")
    for part in card.act.split("\n"):
        lines += wrap(part, width, indent="  ")
    lines += wrap(f"cwd: {card.cwd}", width, indent="  ")
    for ask in card.asks:
        lines += wrap(f"asks: {ask}", width, indent="  ")
    if card.message:
        lines += wrap(card.message, width, indent="  ")
    if card.waiters > 1:
        lines += wrap(f"{card.waiters} identical acts wait for this answer.", width, indent="  ")
    return lines


def detail_lines(card: Card, width: int) -> list[str]:
    """What `?` adds below a card."""
    lines = []
    for text in card.details:
        lines += wrap(text, width, indent="  ")
    if card.rule_text:
        lines += [*wrap("rule text:", width), *wrap(card.rule_text, width, indent="  ")]
    return lines


def memory_lines(card: Card, width: int) -> list[str]:
    """What `allow this rule` would leave behind, or why it cannot."""
    if not card.remembers:
        return wrap(f"cannot be remembered: {card.refusal}", width, indent="  ")
    return [line for text in card.remembers for line in wrap(f"r remembers: {text}", width, indent="  ")]


def card_to_dict(card: Card) -> dict[str, Any]:
    """The card as a JSON object."""
    return asdict(card)


def card_from_dict(data: dict[str, Any]) -> Card:
    """The inverse of `card_to_dict`. Raises ValueError, naming the member, for any other shape."""
    values: dict[str, Any] = {}
    for field in fields(Card):
        if field.name not in data:
            raise ValueError(f"expected a card with a member {field.name!r}")
        values[field.name] = _typed(field.name, data[field.name])
    return Card(**values)


def _typed(name: str, value: Any) -> Any:
    if name in _TEXTS:
        if isinstance(value, str):
            return value
    elif name == "deadline":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif name == "waiters":
        if type(value) is int:
            return value
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError(f"expected the card's {name!r} to have its type, found a {type(value).__name__}")

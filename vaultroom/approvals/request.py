"""ApprovalRequest: one object for every surface (specification section 1.5, design section 4)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from vaultroom.approvals.answer import RequestState, Resolution
from vaultroom.approvals.grants import NO_MEMORY, Memory
from vaultroom.events import Event, FacetVerdict, Verdict, canonical_json, event_to_dict, facets_to_list

_NOT_ON_THE_CARD = ("id", "session_id", "ts", "pid", "agent_id", "tool_use_id")


class DeliveryState(StrEnum):
    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far one channel got with a request; `why` is empty unless it failed."""

    channel: str
    state: DeliveryState
    why: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question to a person.

    `id` is a ULID. `event` is masked. `asking` holds the verdicts of the facets that ask. `rule_line` is
    the rule's line in the policy (0: a default), `rule_text` its source. `summary` is one visible line.
    `created_ns` and `expires_at_ns` are wall-clock nanoseconds for display; `deadline` is the end on the
    monotonic clock in seconds, and the one that counts. `shown` is the digest of what a card says;
    `sameness` tells apart acts that look alike only because their secrets are masked. `waiters` is how
    many acts wait for this one answer. `unreachable`: no channel can deliver and no surface is open.
    `resolution` is None while it is pending.
    """

    id: str
    session_id: str
    agent: str
    event: Event
    verdict: Verdict
    asking: tuple[FacetVerdict, ...]
    rule_name: str
    rule_line: int
    rule_text: str
    summary: str
    created_ns: int
    expires_at_ns: int
    deadline: float
    shown: str
    sameness: str = ""
    memory: Memory = NO_MEMORY
    waiters: int = 1
    state: RequestState = RequestState.PENDING
    deliveries: tuple[Delivery, ...] = ()
    unreachable: bool = False
    resolution: Resolution | None = None


def shown_digest(event: Event, verdict: Verdict, rule_text: str) -> str:
    """SHA-256 (hex) of what a card says: what the act does, where, and what asks. No ids, no times."""
    act = event_to_dict(event)
    for name in _NOT_ON_THE_CARD:
        act.pop(name, None)
    content = {
        "act": act,
        "facets": facets_to_list(event),
        "asking": [[facet.index, facet.rule_name, facet.line] for facet in verdict.asking()],
        "rule": [verdict.rule_name, verdict.line, rule_text, verdict.message],
    }
    return hashlib.sha256(canonical_json(content)).hexdigest()

"""From an asked act to the request that every surface shows."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable

from vaultroom import clock
from vaultroom.approvals.grants import Memory
from vaultroom.approvals.request import ApprovalRequest, shown_digest
from vaultroom.approvals.summary import one_line
from vaultroom.events import Event, Verdict, new_ulid

_KEY = os.urandom(32)
_SUMMARY_WIDTH = 200


def new_request(
    judged: Event,
    masked: Event,
    verdict: Verdict,
    *,
    memory: Memory,
    timeout_s: float,
    rule_text: str = "",
    monotonic: Callable[[], float] = clock.monotonic,
    now_ns: Callable[[], int] = clock.now_ns,
) -> ApprovalRequest:
    """The request for an act that the policy wants a person to see.

    `judged` is the event as judged and leaves nothing behind but a keyed digest; `masked` is what people
    see. `timeout_s` is seconds. Raises ValueError for a timeout that is not positive.
    """
    if not timeout_s > 0:
        raise ValueError(f"expected a timeout of more than 0 seconds, found {timeout_s}")
    created_ns = now_ns()
    shown = shown_digest(masked, verdict, rule_text)
    unmasked = shown_digest(judged, verdict, rule_text)
    return ApprovalRequest(
        id=new_ulid(),
        session_id=masked.session_id,
        agent=masked.agent,
        event=masked,
        verdict=verdict,
        asking=verdict.asking(),
        rule_name=verdict.rule_name,
        rule_line=verdict.line,
        rule_text=rule_text,
        summary=one_line(masked, _SUMMARY_WIDTH),
        created_ns=created_ns,
        expires_at_ns=created_ns + int(timeout_s * 1_000_000_000),
        deadline=monotonic() + timeout_s,
        shown=shown,
        sameness=_keyed([unmasked, *(f"{key.rule}\0{key.target}" for key in memory.keys)]),
        memory=memory,
    )


def _keyed(parts: list[str]) -> str:
    return hmac.new(_KEY, "\n".join(parts).encode("utf-8", "surrogatepass"), "sha256").hexdigest()

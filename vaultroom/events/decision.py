"""Decision: what was let out after a person (or a grant, or time) had its say (specification section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from vaultroom.events.verdict import Effect


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of one asked act.

    `approved_by` is who answered, also when the answer was no: `tui`, `tty`, `cli`, `telegram:<chat>`,
    `link`, `mail`, `grant`, `auto`, or empty when nobody did. `waited_ns` is nanoseconds. `state` is the
    request's final state (see approvals.request), `reason` what the person typed.
    """

    event_id: str
    final_effect: Effect
    approved_by: str = ""
    waited_ns: int = 0
    timed_out: bool = False
    state: str = ""
    reason: str = ""

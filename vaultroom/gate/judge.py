"""The one question that every interceptor asks: may this act happen?

An interceptor in the host's process holds the session's `Gate`; one in another process holds a client
that sends the event to the host. Both are a `Judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from vaultroom.events import Effect, Event


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is let out for one act: never `require_approval`.

    `rule_name` decided, `message` is for the agent (made visible, with the person's reason where one was
    typed), `state` is the approval request's final state or empty when nobody was asked.
    """

    effect: Effect
    rule_name: str = ""
    message: str = ""
    state: str = ""

    def __post_init__(self) -> None:
        if self.effect is Effect.REQUIRE_APPROVAL:
            raise ValueError("an outcome is allow or deny")

    @property
    def allowed(self) -> bool:
        return self.effect is Effect.ALLOW


class Judge(Protocol):
    """Judges an act, asks a person where the policy says so, records it, and only then answers."""

    async def judge(self, event: Event) -> Outcome: ...

    async def refuse(self, event: Event, rule_name: str, message: str) -> Outcome:
        """Deny and record an act that could not be understood."""
        ...

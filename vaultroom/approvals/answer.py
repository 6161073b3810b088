"""What people say about a request, and what became of it (specification section 1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vaultroom.events import Decision, Effect

MAX_REASON = 4096
"""Characters in a typed reason or response at most."""

MIN_MINUTES = 1
MAX_MINUTES = 60
"""Bounds of a grant narrowed to minutes and of an auto-approve window."""

_MAX_BY = 128
_BOUND_SURFACES = frozenset({"tui", "tty"})


class RequestState(StrEnum):
    """Where a request stands. Every state but `pending` is final."""

    PENDING = "pending"
    ALLOWED_ONCE = "allowed_once"
    ALLOWED_RULE = "allowed_rule"
    DENIED = "denied"
    RESPONDED = "responded"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    STOPPED = "stopped"

    @property
    def effect(self) -> Effect:
        """What a request in this state lets happen: only the two allowed states let anything."""
        return Effect.ALLOW if self in _ALLOWED else Effect.DENY


_ALLOWED = frozenset({RequestState.ALLOWED_ONCE, RequestState.ALLOWED_RULE})


class AnswerKind(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_RULE = "allow_rule"
    DENY = "deny"
    RESPOND = "respond"
    """Do not do it; here is what I say instead (`reason`)."""
    STOP = "stop"
    """Deny this and everything else that the session asks."""

    @property
    def state(self) -> RequestState:
        """The state that this answer puts a request in."""
        return _STATES[self]


_STATES = {
    AnswerKind.ALLOW_ONCE: RequestState.ALLOWED_ONCE,
    AnswerKind.ALLOW_RULE: RequestState.ALLOWED_RULE,
    AnswerKind.DENY: RequestState.DENIED,
    AnswerKind.RESPOND: RequestState.RESPONDED,
    AnswerKind.STOP: RequestState.STOPPED,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's answer.

    `by` is the surface: `tui`, `tty`, `cli`, `telegram:<chat>`, `link`, `mail`. `shown` is the digest of
    what the person had before their eyes (ApprovalRequest.shown); surfaces that paint cards (`tui`, `tty`)
    must give it, those that name a request by its id may leave it empty. `minutes` (1 to 60) and
    `directory` (absolute) narrow what ALLOW_RULE leaves behind. `keep_copy` asks whoever does the act to
    keep what it destroys, so that it can be undone.

    Raises ValueError for an answer that no surface may send.
    """

    kind: AnswerKind
    by: str
    reason: str = ""
    shown: str = ""
    minutes: int | None = None
    directory: str = ""
    keep_copy: bool = False

    def __post_init__(self) -> None:
        if not 0 < len(self.by) <= _MAX_BY:
            raise ValueError(f"expected 'by' to name a surface in 1 to {_MAX_BY} characters")
        if len(self.reason) > MAX_REASON:
            raise ValueError(
                f"expected a reason of at most {MAX_REASON} characters, found {len(self.reason)}"
            )
        if (self.minutes is not None or self.directory) and self.kind is not AnswerKind.ALLOW_RULE:
            raise ValueError(f"minutes and directory narrow an allow_rule, not a {self.kind}")
        if self.minutes is not None:
            check_minutes(self.minutes)
        if self.directory and not self.directory.startswith("/"):
            raise ValueError(f"expected an absolute directory, found {self.directory!r}")

    @property
    def must_show(self) -> bool:
        """Whether this surface has to say what it showed."""
        return self.by in _BOUND_SURFACES


def check_minutes(minutes: int) -> None:
    """Raises ValueError unless `minutes` is a whole number from 1 to 60."""
    if type(minutes) is not int or not MIN_MINUTES <= minutes <= MAX_MINUTES:
        raise ValueError(f"expected {MIN_MINUTES} to {MAX_MINUTES} whole minutes, found {minutes!r}")


class Outcome(StrEnum):
    ACCEPTED = "accepted"
    ALREADY = "already"
    """Somebody else, or time, was faster; `AnswerResult.state` says how it ended."""
    UNKNOWN = "unknown"
    CHANGED = "changed"
    """What was shown is not what waits."""
    REFUSED = "refused"
    """This answer cannot be given to this request; `AnswerResult.message` says why."""


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What the broker did with an answer. `str()` gives `accepted`, `already:expired`, …"""

    outcome: Outcome
    state: RequestState | None = None
    by: str = ""
    message: str = ""

    @property
    def accepted(self) -> bool:
        return self.outcome is Outcome.ACCEPTED

    def __str__(self) -> str:
        if self.outcome is Outcome.ALREADY and self.state is not None:
            return f"{self.outcome}:{self.state}"
        return str(self.outcome)


@dataclass(frozen=True, slots=True)
class Resolution:
    """How the wait of one act ended.

    `by` is empty when nobody answered (expired, withdrawn, refused for lack of room). `waited_ns` is
    nanoseconds of this act's own wait. `reason` is what the person typed, or Vaultroom's own text where
    no person did. `grants` holds the ids of the grants that answered, or that this answer left behind.
    """

    state: RequestState
    by: str = ""
    waited_ns: int = 0
    reason: str = ""
    grants: tuple[str, ...] = ()
    keep_copy: bool = False

    @property
    def final_effect(self) -> Effect:
        return self.state.effect

    @property
    def timed_out(self) -> bool:
        return self.state is RequestState.EXPIRED

    @property
    def grant_id(self) -> str:
        """The grants' ids in one text, separated by commas; empty without any."""
        return ",".join(self.grants)

    def decision(self, event_id: str) -> Decision:
        """The outcome as the gate lets it out and records it."""
        return Decision(
            event_id=event_id,
            final_effect=self.final_effect,
            approved_by=self.by,
            waited_ns=self.waited_ns,
            timed_out=self.timed_out,
            state=self.state.value,
            reason=self.reason,
        )

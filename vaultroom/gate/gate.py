"""The one door: every act of a session passes here, and nowhere else is judged, asked or recorded.

Order (design section 4): built-in rules, then the policy, then the rate budget; the record is durable
before anything is answered (law 2); any doubt on the way is a recorded deny (law 1).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from vaultroom import clock, tasks
from vaultroom.approvals.answer import RequestState, Resolution
from vaultroom.approvals.asking import new_request
from vaultroom.approvals.broker import NOBODY_WAITS, Broker
from vaultroom.approvals.grants import GrantBook, Memory, memory_of
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.approvals.scripts import file_digest
from vaultroom.audit.record import Entry, act_entry, outcome_entry
from vaultroom.errors import StoreError
from vaultroom.events import Effect, Event, Facet, FacetVerdict, Verdict
from vaultroom.events.masked import mask_event
from vaultroom.gate.activity import Counts, PerMinute
from vaultroom.gate.budget import RULE as BUDGET_RULE
from vaultroom.gate.budget import RateBudget
from vaultroom.gate.judge import Outcome
from vaultroom.gate.protect import Guard
from vaultroom.masking import mask_text
from vaultroom.visible import visible

AUDIT_RULE = "builtin:audit"
ERROR_RULE = "builtin:error"

LONG_TEXT = 32 * 1024
"""Characters of a command line that is masked off the loop."""

CHANGED = "what it would do changed while it waited; ask again"
"""The reason of a refusal where a person allowed something else than what would happen now."""


Result = TypeVar("Result")


class LookUps(Protocol):
    """Runs what reads the disk off the loop; None when it took too long."""

    async def run(self, look_up: Callable[[], Result]) -> Result | None: ...


class Log(Protocol):
    """Where entries go."""

    async def append(self, entry: Entry, *, policy_text: bytes | None = None) -> int:
        """Returns the row's seq once it is durable. Raises StoreError when it is not in the log."""
        ...


class Evaluator(Protocol):
    """A session's policy, ready to judge."""

    def evaluate(self, event: Event, *, fallback: Effect | None = None) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate takes from a session's policy."""

    evaluator: Evaluator
    policy_hash: str
    approval_seconds: float
    rule_text: Callable[[str], str]
    """A rule's own text by its name, empty when there is none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An act that needs a person: as it is, as it may be written down, and why it is asked about."""

    event: Event
    masked: Event
    verdict: Verdict
    policy: GatePolicy


class Gate:
    """Judges the acts of one session. It lives on the supervisor's loop.

    `asked` is told of each question before it is asked, with the event as it really is: what a card shows
    from memory alone comes from there. `look_again` says what an act would do by now: paths and scripts may
    change while a person thinks.
    """

    def __init__(
        self,
        *,
        policy: GatePolicy,
        guard: Guard,
        budget: RateBudget,
        log: Log,
        broker: Broker,
        grants: GrantBook,
        lookups: LookUps,
        asked: Callable[[ApprovalRequest, Event], None] = lambda request, event: None,
        look_again: Callable[[Event], tuple[Facet, ...]] = Event.judged_facets,
    ) -> None:
        self._policy = policy
        self._guard = guard
        self._budget = budget
        self._log = log
        self._broker = broker
        self._grants = grants
        self._lookups = lookups
        self._asked = asked
        self._look_again = look_again
        self.counts = Counts()
        self.per_minute = PerMinute()

    async def judge(self, event: Event) -> Outcome:
        """The outcome of one act, after its record is durable. Never raises for a bad act."""
        policy = self._policy  # one policy for the whole act, also when it is replaced meanwhile
        verdict = self._verdict(event, policy)
        return await self._record_and_ask(event, verdict, policy)

    async def refuse(self, event: Event, rule_name: str, message: str) -> Outcome:
        """Deny and record an act that could not be understood."""
        facet = FacetVerdict(index=0, effect=Effect.DENY, rule_name=rule_name, message=message)
        verdict = Verdict(Effect.DENY, rule_name=rule_name, message=message, facets=(facet,))
        return await self._record_and_ask(event, verdict, self._policy)

    def _verdict(self, event: Event, policy: GatePolicy) -> Verdict:
        started = clock.perf_ns()
        self.per_minute.add(clock.monotonic())
        try:
            verdict = self._protected(event) or self._within_budget(policy.evaluator.evaluate(event))
        except Exception as error:  # law 1: whatever goes wrong while judging is a deny
            verdict = Verdict(
                Effect.DENY,
                rule_name=ERROR_RULE,
                message=f"judging failed: {type(error).__name__}: {error}",
            )
        return replace(verdict, eval_micros=(clock.perf_ns() - started) // 1000)

    def _protected(self, event: Event) -> Verdict | None:
        forbidden = self._guard.verdicts(event)
        if not forbidden:
            return None
        first = forbidden[0]
        return Verdict(
            Effect.DENY,
            rule_name=first.rule_name,
            message=first.message,
            facets=forbidden,
            decisive=first.index,
        )

    def _within_budget(self, verdict: Verdict) -> Verdict:
        within = self._budget.spend(clock.monotonic())
        if within or verdict.effect is not Effect.ALLOW:
            return verdict
        message = f"more than {self._budget.limit} acts in a minute"
        asked = FacetVerdict(
            index=verdict.decisive,
            effect=Effect.REQUIRE_APPROVAL,
            rule_name=BUDGET_RULE,
            message=message,
            why="the rate budget is used up",
        )
        facets = tuple(asked if facet.index == verdict.decisive else facet for facet in verdict.facets)
        return replace(
            verdict,
            effect=Effect.REQUIRE_APPROVAL,
            rule_name=BUDGET_RULE,
            message=message,
            line=0,
            facets=facets or (asked,),
        )

    async def _record_and_ask(self, event: Event, verdict: Verdict, policy: GatePolicy) -> Outcome:
        try:
            masked, members = await self._mask(event)
            entry = act_entry(masked, verdict, policy_hash=policy.policy_hash, masked=members)
            if verdict.effect is Effect.REQUIRE_APPROVAL:
                return self._count(await self._ask(_Asked(event, masked, verdict, policy), entry))
            await self._log.append(entry)
            return self._count(Outcome(verdict.effect, verdict.rule_name, verdict.message))
        except StoreError as error:
            return self._count(
                Outcome(Effect.DENY, AUDIT_RULE, f"the act could not be recorded: {error} {error.advice}")
            )
        except Exception as error:
            return self._count(
                Outcome(Effect.DENY, ERROR_RULE, f"judging failed: {type(error).__name__}: {error}")
            )

    async def _mask(self, event: Event) -> tuple[Event, tuple[str, ...]]:
        """The event as it may be written down. Long ones are masked off the loop, within the deadline."""
        if len(event.raw) <= LONG_TEXT:
            return mask_event(event)
        masked = await self._lookups.run(lambda: mask_event(event))
        if masked is None:
            raise TimeoutError(f"a command of {len(event.raw)} characters could not be masked in time")
        return masked

    async def _ask(self, act: _Asked, entry: Entry) -> Outcome:
        """Record the act and ask a person, unless a grant answers. Being cut off is recorded as withdrawn."""
        self.counts = replace(self.counts, asked=self.counts.asked + 1)
        started = clock.now_ns()
        try:
            await self._log.append(entry)
            resolution, shown = await self._resolve(act)
        except asyncio.CancelledError:
            waited = max(0, clock.now_ns() - started)
            gone = Resolution(RequestState.WITHDRAWN, reason=NOBODY_WAITS, waited_ns=waited)
            tasks.spawn(self._record_withdrawal(act, gone), name="record withdrawal")
            raise
        await self._record_outcome(act, resolution, shown)
        allowed = resolution.final_effect is Effect.ALLOW
        return Outcome(
            effect=resolution.final_effect,
            rule_name=act.verdict.rule_name,
            message="" if allowed else explain_denial(act.verdict, resolution),
            state=resolution.state.value,
        )

    async def _resolve(self, act: _Asked) -> tuple[Resolution, str]:
        """How the question ends, and the digest of what was shown."""
        memory = await self._memory(act)
        request = new_request(
            act.event,
            act.masked,
            act.verdict,
            memory=memory,
            timeout_s=act.policy.approval_seconds,
            rule_text=act.policy.rule_text(act.verdict.rule_name),
        )
        resolution = self._remembered(act.event, memory)
        if resolution is None:
            self._asked(request, act.event)
            resolution = await self._broker.ask(request)
            if resolution.final_effect is Effect.ALLOW and not await self._is_unchanged(act, memory):
                resolution = replace(resolution, state=RequestState.WITHDRAWN, grants=(), reason=CHANGED)
        return resolution, request.shown

    async def _memory(self, act: _Asked) -> Memory:
        memory = await self._lookups.run(lambda: memory_of(act.event, act.masked, act.verdict, file_digest))
        return memory or Memory(refusal="What it would run could not be read in time.")

    def _remembered(self, event: Event, memory: Memory) -> Resolution | None:
        covered = self._grants.answer(event.session_id, memory, event.cwd)
        if covered is None:
            return None
        return Resolution(RequestState.ALLOWED_RULE, by=covered.by, grants=covered.grants)

    async def _is_unchanged(self, act: _Asked, memory: Memory) -> bool:
        """Whether what a person allowed is still what would happen: the same paths, the same script."""
        facets = await self._lookups.run(lambda: self._look_again(act.event))
        if facets is None or facets != act.event.judged_facets():
            return False
        return (await self._memory(act)).keys == memory.keys

    async def _record_outcome(self, act: _Asked, resolution: Resolution, shown: str) -> None:
        entry = outcome_entry(
            act.masked,
            act.verdict.rule_name,
            replace(resolution.decision(act.masked.id), reason=mask_text(resolution.reason)),
            policy_hash=act.policy.policy_hash,
            shown=shown,
            grant=resolution.grant_id,
        )
        await self._log.append(entry)

    async def _record_withdrawal(self, act: _Asked, resolution: Resolution) -> None:
        with contextlib.suppress(StoreError):  # nobody waits for it; the act itself is on record as asked
            await self._record_outcome(act, resolution, "")
        self._count(Outcome(Effect.DENY, act.verdict.rule_name))

    def _count(self, outcome: Outcome) -> Outcome:
        if outcome.allowed:
            self.counts = replace(self.counts, allowed=self.counts.allowed + 1)
        else:
            self.counts = replace(self.counts, denied=self.counts.denied + 1)
        return outcome


def explain_denial(verdict: Verdict, resolution: Resolution) -> str:
    """What the agent is told after a request was not allowed: denied, expired or withdrawn, and why."""
    told = {
        "denied": f"a person refused it ({resolution.by})" if resolution.by else "it was refused",
        "responded": "a person refused it and answered",
        "expired": "nobody answered in time; it may be asked again",
        "withdrawn": "the request was withdrawn before anybody answered",
        "stopped": "a person stopped this session",
    }.get(resolution.state.value, resolution.state.value)
    parts = [told]
    if resolution.reason:
        parts.append(f"reason: {visible(resolution.reason)}")
    if verdict.message:
        parts.append(f"rule says: {verdict.message}")
    return "; ".join(parts)

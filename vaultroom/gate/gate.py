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
from vaultroom.events import Effect, Event, FacetVerdict, Verdict
from vaultroom.events.masked import mask_event
from vaultroom.gate.activity import Counts, PerMinute
from vaultroom.gate.budget import RULE as BUDGET_RULE
from vaultroom.gate.budget import RateBudget
from vaultroom.gate.judge import Outcome
from vaultroom.gate.late_answers import ANSWERED_LATE, PENDING, TRY_AGAIN, LateAnswers
from vaultroom.gate.lineage import Lineage
from vaultroom.gate.protect import Guard
from vaultroom.masking import mask_text
from vaultroom.visible import visible

AUDIT_RULE = "builtin:audit"
ERROR_RULE = "builtin:error"


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
    """One question on its way: the masked event, and what it was judged by."""

    event: Event
    verdict: Verdict
    policy: GatePolicy
    request: ApprovalRequest


class Gate:
    """Judges the acts of one session. It lives on the supervisor's loop.

    `asked` is told of each question before it is asked, with the event as it really is: what a card shows
    from memory alone comes from there.
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
        lineage: Lineage | None = None,
    ) -> None:
        self._policy = policy
        self._guard = guard
        self._budget = budget
        self._log = log
        self._broker = broker
        self._grants = grants
        self._lookups = lookups
        self._asked = asked
        self._lineage = lineage or Lineage()
        self._late = LateAnswers()
        self._waiting = 0
        self.counts = Counts()
        self.per_minute = PerMinute()

    @property
    def is_asking(self) -> bool:
        """Whether a question of this session is open, also one whose act was turned away meanwhile."""
        return self._waiting > 0

    async def judge(self, event: Event, *, patience: float | None = None) -> Outcome:
        """The outcome of one act, after its record is durable. Never raises for a bad act.

        `patience` is how many seconds whoever asks can wait for a person. Past it the act is turned away
        with state `pending`; the question stays open, and its answer waits for the identical next act.
        """
        policy = self._policy  # one policy for the whole act, also when it is replaced meanwhile
        verdict = self._verdict(event, policy)
        return await self._record_and_ask(event, verdict, policy, patience)

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

    async def _record_and_ask(
        self, event: Event, verdict: Verdict, policy: GatePolicy, patience: float | None = None
    ) -> Outcome:
        try:
            self._lineage.saw(event)
            masked, members = mask_event(event)
            entry = act_entry(
                masked,
                verdict,
                policy_hash=policy.policy_hash,
                masked=members,
                marks=self._lineage.marks(event),
            )
            await self._log.append(entry)
            if verdict.effect is Effect.REQUIRE_APPROVAL:
                return self._count(await self._ask(event, masked, verdict, policy, patience))
            if verdict.effect is Effect.ALLOW:
                self._lineage.announce(event)
            return self._count(Outcome(verdict.effect, verdict.rule_name, verdict.message))
        except StoreError as error:
            return self._count(
                Outcome(Effect.DENY, AUDIT_RULE, f"the act could not be recorded: {error} {error.advice}")
            )
        except Exception as error:
            return self._count(
                Outcome(Effect.DENY, ERROR_RULE, f"judging failed: {type(error).__name__}: {error}")
            )

    async def _ask(
        self, event: Event, masked: Event, verdict: Verdict, policy: GatePolicy, patience: float | None
    ) -> Outcome:
        self.counts = replace(self.counts, asked=self.counts.asked + 1)
        memory = await self._lookups.run(lambda: memory_of(event, masked, verdict, file_digest))
        if memory is None:
            memory = Memory(refusal="What it would run could not be read in time.")
        request = new_request(
            event,
            masked,
            verdict,
            memory=memory,
            timeout_s=policy.approval_seconds,
            rule_text=policy.rule_text(verdict.rule_name),
        )
        asked = _Asked(masked, verdict, policy, request)
        resolution = (
            self._remembered(event, memory) or self._lineage.borrow(event, memory) or self._late.take(request)
        )
        if resolution is None:
            self._asked(request, event)
            resolution = await self._wait(asked, patience)
        if resolution is None:
            return Outcome(Effect.DENY, verdict.rule_name, TRY_AGAIN, state=PENDING)
        await self._record_outcome(asked, resolution)
        allowed = resolution.final_effect is Effect.ALLOW
        if allowed:
            self._lineage.announce(event, memory.keys)
        return Outcome(
            effect=resolution.final_effect,
            rule_name=verdict.rule_name,
            message="" if allowed else explain_denial(verdict, resolution),
            state=resolution.state.value,
        )

    async def _wait(self, asked: _Asked, patience: float | None) -> Resolution | None:
        """A person's answer, or None when it takes longer than `patience`; then it is recorded later."""
        waiting: asyncio.Task[Resolution] = tasks.spawn(
            self._broker.ask(asked.request), name=f"ask {asked.request.id}"
        )
        self._waiting += 1
        waiting.add_done_callback(self._one_less)
        if patience is not None:
            self._late.asks(asked.request)
        try:
            await asyncio.wait({waiting}, timeout=patience)
        except asyncio.CancelledError:
            waiting.cancel()
            self._late.left(asked.request)
            gone = Resolution(RequestState.WITHDRAWN, reason=NOBODY_WAITS)
            tasks.spawn(self._record_withdrawal(asked, gone), name="record withdrawal")
            raise
        if waiting.done():
            self._late.answered(asked.request)
            return waiting.result()
        tasks.spawn(self._record_late(asked, waiting), name="record late answer")
        return None

    def _remembered(self, event: Event, memory: Memory) -> Resolution | None:
        covered = self._grants.answer(event.session_id, memory, event.cwd)
        if covered is None:
            return None
        return Resolution(RequestState.ALLOWED_RULE, by=covered.by, grants=covered.grants)

    def _one_less(self, waited: asyncio.Task[Resolution]) -> None:
        self._waiting -= 1

    async def _record_outcome(self, asked: _Asked, resolution: Resolution, *, late: bool = False) -> None:
        decision = resolution.decision(asked.event.id)
        if late:  # whatever the answer is, this act was turned away
            decision = replace(decision, final_effect=Effect.DENY)
        entry = outcome_entry(
            asked.event,
            asked.verdict.rule_name,
            replace(decision, reason=mask_text(resolution.reason)),
            policy_hash=asked.policy.policy_hash,
            shown=asked.request.shown,
            grant=resolution.grant_id,
            late=late,
        )
        await self._log.append(entry)

    async def _record_late(self, asked: _Asked, waiting: asyncio.Task[Resolution]) -> None:
        resolution = await waiting
        self._late.settle(asked.request, resolution)
        resolution = replace(resolution, reason=resolution.reason or ANSWERED_LATE)
        with contextlib.suppress(
            StoreError
        ):  # the act was denied; an answer that is not on record stays unused
            await self._record_outcome(asked, resolution, late=True)

    async def _record_withdrawal(self, asked: _Asked, resolution: Resolution) -> None:
        waited = max(0, clock.now_ns() - asked.request.created_ns)
        with contextlib.suppress(StoreError):  # nobody waits for it; the act itself is on record as asked
            await self._record_outcome(asked, replace(resolution, waited_ns=waited))
        self._count(Outcome(Effect.DENY, asked.verdict.rule_name))

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

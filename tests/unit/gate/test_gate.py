"""The door, with the real broker and grants and a log that tests can break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from tests.kit.events import shell, touching
from vaultroom.approvals.answer import Answer, AnswerKind
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.audit.record import Entry
from vaultroom.errors import StoreError
from vaultroom.events import Action, Effect, Event, FacetVerdict, Verdict
from vaultroom.gate.budget import RateBudget
from vaultroom.gate.gate import AUDIT_RULE, ERROR_RULE, Gate, GatePolicy
from vaultroom.gate.protect import SELF_FILES, Guard

Result = TypeVar("Result")


@dataclass
class Log:
    """A log in memory. `fails` makes the next appends fail; `held` keeps them from being durable."""

    entries: list[Entry] = field(default_factory=list)
    fails: bool = False
    held: bool = False
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def append(self, entry: Entry, *, policy_text: bytes | None = None) -> int:
        if self.fails:
            raise StoreError("the log at /x is full", advice="Free some space.")
        self.entries.append(entry)
        if self.held:
            durable = asyncio.get_running_loop().create_future()
            self.waiting.append(durable)
            await durable
        return len(self.entries)


@dataclass
class Policy:
    effect: Effect = Effect.ALLOW
    rule: str = "r"
    error: Exception | None = None

    def evaluate(self, event: Event, *, fallback: Effect | None = None) -> Verdict:
        if self.error:
            raise self.error
        facet = FacetVerdict(index=0, effect=self.effect, rule_name=self.rule, line=3)
        return Verdict(self.effect, rule_name=self.rule, line=3, facets=(facet,))


class AtOnce:
    async def run(self, look_up: Callable[[], Result]) -> Result | None:
        return look_up()


@dataclass
class Door:
    log: Log
    broker: Broker
    grants: GrantBook
    policy: Policy
    gate: Gate


def door(policy: Policy, *, seconds: float = 30.0, limit: int = 0, **log: Any) -> Door:
    grants = GrantBook()
    broker = Broker(grants)
    made = Log(**log)
    gate = Gate(
        policy=GatePolicy(policy, "h" * 64, seconds, lambda name: "text"),
        guard=Guard.of(closed=["/vault"], secret=[]),
        budget=RateBudget(limit, now=0.0),
        log=made,
        broker=broker,
        grants=grants,
        lookups=AtOnce(),
    )
    return Door(made, broker, grants, policy, gate)


async def asked(d: Door) -> str:
    async with asyncio.timeout(5):
        while not d.broker.snapshot().pending:
            await asyncio.sleep(0)
    return d.broker.snapshot().pending[0].id


async def test_allow_and_deny_are_recorded() -> None:
    for effect in (Effect.ALLOW, Effect.DENY):
        d = door(Policy(effect))
        outcome = await d.gate.judge(shell("ls"))
        assert (outcome.effect, outcome.rule_name) == (effect, "r")
        assert [entry.verdict for entry in d.log.entries] == [effect.value]
        assert d.log.entries[0].payload["record"]["policy"] == "h" * 64


async def test_nothing_leaves_before_its_row_is_durable() -> None:
    d = door(Policy(), held=True)
    judging = asyncio.ensure_future(d.gate.judge(shell("ls")))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not judging.done()
    d.log.waiting[0].set_result(None)
    assert (await judging).allowed


async def test_a_row_that_cannot_be_written_denies() -> None:
    d = door(Policy(), fails=True)
    outcome = await d.gate.judge(shell("ls"))
    assert (outcome.effect, outcome.rule_name) == (Effect.DENY, AUDIT_RULE)
    assert "the log at /x is full" in outcome.message
    assert "Free some space." in outcome.message


async def test_an_error_while_judging_is_a_recorded_deny() -> None:
    d = door(Policy(error=RecursionError("deep")))
    outcome = await d.gate.judge(shell("ls"))
    assert (outcome.effect, outcome.rule_name) == (Effect.DENY, ERROR_RULE)
    assert d.log.entries[0].verdict == "deny"


async def test_built_in_rules_stand_above_the_policy() -> None:
    d = door(Policy())
    outcome = await d.gate.judge(touching(shell("rm", "x"), (Action.FS_DELETE, "/vault/audit.db")))
    assert (outcome.effect, outcome.rule_name) == (Effect.DENY, SELF_FILES)


@pytest.mark.parametrize(
    ("kind", "effect", "state"),
    [
        (AnswerKind.ALLOW_ONCE, Effect.ALLOW, "allowed_once"),
        (AnswerKind.ALLOW_RULE, Effect.ALLOW, "allowed_rule"),
        (AnswerKind.DENY, Effect.DENY, "denied"),
        (AnswerKind.RESPOND, Effect.DENY, "responded"),
        (AnswerKind.STOP, Effect.DENY, "stopped"),
    ],
)
async def test_a_persons_answer_decides_and_is_recorded(kind: AnswerKind, effect: Effect, state: str) -> None:
    d = door(Policy(Effect.REQUIRE_APPROVAL))
    judging = asyncio.ensure_future(d.gate.judge(shell("git", "push")))
    request = await asked(d)
    d.broker.answer(request, Answer(kind=kind, by="cli", reason="because"))
    outcome = await judging
    assert (outcome.effect, outcome.state) == (effect, state)
    assert ("because" in outcome.message) is (effect is Effect.DENY)
    act, end = d.log.entries
    assert (act.verdict, act.final_effect) == ("require_approval", None)
    assert (end.verdict, end.final_effect, end.approved_by) == ("require_approval", effect.value, "cli")
    assert end.payload["event_id"] == act.id
    assert end.payload["record"]["state"] == state


async def test_an_answer_whose_row_cannot_be_written_is_a_deny() -> None:
    d = door(Policy(Effect.REQUIRE_APPROVAL))
    judging = asyncio.ensure_future(d.gate.judge(shell("git", "push")))
    request = await asked(d)
    d.log.fails = True
    d.broker.answer(request, Answer(kind=AnswerKind.ALLOW_ONCE, by="cli"))
    assert (await judging).rule_name == AUDIT_RULE


async def test_time_runs_out() -> None:
    d = door(Policy(Effect.REQUIRE_APPROVAL), seconds=0.01)
    outcome = await d.gate.judge(shell("git", "push"))
    assert (outcome.effect, outcome.state) == (Effect.DENY, "expired")
    assert d.log.entries[-1].payload["timed_out"] is True


async def test_a_lost_client_is_recorded_as_withdrawn() -> None:
    d = door(Policy(Effect.REQUIRE_APPROVAL))
    judging = asyncio.ensure_future(d.gate.judge(shell("git", "push")))
    await asked(d)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    async with asyncio.timeout(5):
        while len(d.log.entries) < 2:
            await asyncio.sleep(0)
    assert d.log.entries[-1].payload["record"]["state"] == "withdrawn"
    assert d.log.entries[-1].final_effect == "deny"
    assert not d.broker.snapshot().pending


async def test_a_grant_answers_the_same_act() -> None:
    d = door(Policy(Effect.REQUIRE_APPROVAL))
    judging = asyncio.ensure_future(d.gate.judge(shell("git", "push")))
    d.broker.answer(await asked(d), Answer(kind=AnswerKind.ALLOW_RULE, by="cli"))
    await judging
    outcome = await d.gate.judge(shell("git", "push"))
    assert outcome.allowed
    assert d.log.entries[-1].approved_by == "grant"
    assert d.log.entries[-1].payload["record"]["grant"]


async def test_over_the_budget_only_an_allow_is_asked_about() -> None:
    d = door(Policy(), limit=1, seconds=0.01)
    assert (await d.gate.judge(shell("ls"))).allowed
    outcome = await d.gate.judge(shell("ls"))
    assert (outcome.effect, outcome.rule_name, outcome.state) == (Effect.DENY, "budget:rate", "expired")
    d.policy.effect = Effect.DENY
    assert (await d.gate.judge(shell("ls"))).rule_name == "r"


async def test_secrets_are_masked_before_they_are_recorded() -> None:
    d = door(Policy())
    await d.gate.judge(shell("curl", "--token=hush-hush-secret", "x"))
    entry = d.log.entries[0]
    assert "hush-hush-secret" not in repr(entry)
    assert "argv[1]" in entry.payload["record"]["masked"]


async def test_counts() -> None:
    d = door(Policy())
    await d.gate.judge(shell("ls"))
    d.policy.effect = Effect.DENY
    await d.gate.judge(shell("ls"))
    await d.gate.refuse(shell("ls"), "builtin:frame", "half a frame")
    assert (d.gate.counts.allowed, d.gate.counts.denied, d.gate.counts.asked) == (1, 2, 0)

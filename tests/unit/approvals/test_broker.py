from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.unit.approvals.making import SESSION, Clock, command, remembering, request_for
from vaultroom.approvals import delivery
from vaultroom.approvals.answer import Answer, AnswerKind, Outcome, RequestState, Resolution
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.approvals.request import ApprovalRequest, DeliveryState
from vaultroom.events import Effect

ONCE = Answer(AnswerKind.ALLOW_ONCE, by="cli")
DENY = Answer(AnswerKind.DENY, by="telegram:42", reason="not now")


class Recorder:
    """A channel that notes what it is told."""

    name = "recorder"

    def __init__(self, *, reachable: bool = True, fails: bool = False, hangs: bool = False) -> None:
        self.asked: list[str] = []
        self.retracted: list[tuple[str, RequestState]] = []
        self.stopped = False
        self._reachable, self._fails, self._hangs = reachable, fails, hangs

    async def start(self, answers: object) -> None:
        self.answers = answers

    def reachable(self) -> bool:
        return self._reachable

    async def ask(self, request: ApprovalRequest) -> None:
        self.asked.append(request.id)
        if self._hangs:
            await asyncio.sleep(3600)
        if self._fails:
            raise ConnectionError("no route")

    async def retract(self, request: ApprovalRequest, resolution: Resolution) -> None:
        self.retracted.append((request.id, resolution.state))

    async def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def grants(time: Clock) -> GrantBook:
    return GrantBook(monotonic=time)


@pytest.fixture
async def broker(time: Clock, grants: GrantBook) -> AsyncIterator[Broker]:
    made = Broker(grants, monotonic=time)
    yield made
    await made.close()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def ask(broker: Broker, request: ApprovalRequest) -> asyncio.Task[Resolution]:
    return asyncio.get_running_loop().create_task(broker.ask(request))


@pytest.mark.parametrize(
    ("kind", "state", "effect"),
    [
        (AnswerKind.ALLOW_ONCE, RequestState.ALLOWED_ONCE, Effect.ALLOW),
        (AnswerKind.ALLOW_RULE, RequestState.ALLOWED_RULE, Effect.ALLOW),
        (AnswerKind.DENY, RequestState.DENIED, Effect.DENY),
        (AnswerKind.RESPOND, RequestState.RESPONDED, Effect.DENY),
        (AnswerKind.STOP, RequestState.STOPPED, Effect.DENY),
    ],
)
async def test_each_answer_has_its_state_and_effect(
    broker: Broker, time: Clock, kind: AnswerKind, state: RequestState, effect: Effect
) -> None:
    request = request_for(clock=time)
    waiting = ask(broker, request)
    await settle()
    time.now += 2
    assert broker.answer(request.id, Answer(kind, by="cli", reason="because")).accepted
    resolution = await waiting
    assert (resolution.state, resolution.final_effect, resolution.by) == (state, effect, "cli")
    assert resolution.waited_ns == 2_000_000_000 and resolution.reason == "because"
    decision = resolution.decision("01EVENT")
    assert (decision.final_effect, decision.state, decision.timed_out) == (effect, state.value, False)


def test_only_the_two_allowed_states_allow() -> None:
    allowing = {state for state in RequestState if state.effect is Effect.ALLOW}
    assert allowing == {RequestState.ALLOWED_ONCE, RequestState.ALLOWED_RULE}


async def test_the_first_answer_wins_and_the_second_learns_how_it_ended(broker: Broker) -> None:
    request = request_for()
    waiting = ask(broker, request)
    await settle()
    assert broker.answer(request.id, DENY).accepted
    late = broker.answer(request.id, ONCE)
    assert (str(late), late.by) == ("already:denied", "telegram:42")
    assert (await waiting).final_effect is Effect.DENY
    assert broker.answer("01NOBODY", ONCE).outcome is Outcome.UNKNOWN


async def test_an_answer_after_the_deadline_is_too_late_even_before_the_timer_fires(
    broker: Broker, time: Clock
) -> None:
    request = request_for(clock=time, timeout_s=60)
    waiting = ask(broker, request)
    await settle()
    time.now += 60
    assert str(broker.answer(request.id, ONCE)) == "already:expired"
    resolution = await waiting
    assert resolution.timed_out and resolution.final_effect is Effect.DENY and resolution.by == ""


async def test_a_request_expires_at_its_deadline_and_not_before(broker: Broker, time: Clock) -> None:
    waiting = ask(broker, request_for(clock=time, timeout_s=60))
    await settle()
    time.now += 59.999
    broker.expire_due()
    await settle()
    assert not waiting.done()
    time.now += 0.001
    broker.expire_due()
    assert (await waiting).state is RequestState.EXPIRED


async def test_the_timer_itself_expires_requests() -> None:
    broker = Broker(GrantBook())
    request = replace(request_for(), deadline=asyncio.get_running_loop().time() + 0.05)
    async with asyncio.timeout(10):
        assert (await broker.ask(request)).state is RequestState.EXPIRED
    await broker.close()


async def test_a_request_that_comes_too_late_is_expired_at_once(broker: Broker, time: Clock) -> None:
    request = request_for(clock=time)
    time.now += 60
    assert (await broker.ask(request)).state is RequestState.EXPIRED


async def test_identical_requests_are_one_card_and_one_answer_serves_all(broker: Broker, time: Clock) -> None:
    first, second = request_for(clock=time), request_for(clock=time)
    one, two = ask(broker, first), ask(broker, second)
    await settle()
    (card,) = broker.snapshot().pending
    assert (card.id, card.waiters) == (first.id, 2)
    assert broker.answer(first.id, ONCE).accepted
    assert {(await one).state, (await two).state} == {RequestState.ALLOWED_ONCE}
    later = ask(broker, request_for(clock=time))
    await settle()
    assert not later.done()
    assert len(broker.snapshot().pending) == 1


@pytest.mark.parametrize("difference", ["act", "rule", "session", "secret"])
async def test_different_requests_are_different_cards(broker: Broker, difference: str) -> None:
    masked = command("curl", "-u", "•••")
    first = request_for(command("curl", "-u", "one"), masked=masked)
    second = {
        "act": request_for(command("curl", "-u", "one", "x"), masked=replace(masked, argv=("curl", "x"))),
        "rule": request_for(command("curl", "-u", "one"), masked=masked, rule="another"),
        "session": replace(request_for(command("curl", "-u", "one"), masked=masked), session_id="other"),
        "secret": request_for(command("curl", "-u", "two"), masked=masked),
    }[difference]
    if difference == "secret":
        assert first.shown == second.shown
    one, two = ask(broker, first), ask(broker, second)
    await settle()
    assert len(broker.snapshot().pending) == 2
    broker.answer(first.id, ONCE)
    await settle()
    assert one.done() and not two.done()


async def test_each_waiter_of_a_card_keeps_its_own_deadline(broker: Broker, time: Clock) -> None:
    first = request_for(clock=time, timeout_s=10)
    one = ask(broker, first)
    await settle()
    time.now += 5
    two = ask(broker, request_for(clock=time, timeout_s=10))
    await settle()
    time.now += 5
    assert broker.answer(first.id, ONCE).accepted
    assert (await one).state is RequestState.EXPIRED
    assert (await two).state is RequestState.ALLOWED_ONCE


async def test_a_lost_waiter_leaves_the_card_to_the_others(broker: Broker) -> None:
    one, two = ask(broker, request_for()), ask(broker, request_for())
    await settle()
    one.cancel()
    await settle()
    (card,) = broker.snapshot().pending
    assert card.waiters == 1
    two.cancel()
    await settle()
    assert broker.snapshot().pending == ()
    assert str(broker.answer(card.id, ONCE)) == "already:withdrawn"


async def test_the_answer_is_bound_to_what_was_shown(broker: Broker) -> None:
    request = request_for()
    waiting = ask(broker, request)
    await settle()
    assert broker.answer(request.id, replace(ONCE, shown="0" * 64)).outcome is Outcome.CHANGED
    for surface in ("tty", "tui"):
        assert broker.answer(request.id, replace(ONCE, by=surface)).outcome is Outcome.CHANGED
    assert not waiting.done()
    assert broker.answer(request.id, replace(ONCE, by="tty", shown=request.shown)).accepted
    await waiting


async def test_allow_rule_leaves_a_grant_that_answers_the_next_act(
    broker: Broker, grants: GrantBook, time: Clock
) -> None:
    event = command("git", "push")
    request = request_for(event, clock=time)
    waiting = ask(broker, request)
    await settle()
    broker.answer(request.id, Answer(AnswerKind.ALLOW_RULE, by="cli", minutes=3))
    resolution = await waiting
    (grant,) = grants.list(SESSION)
    assert resolution.grant_id == grant.id and grant.by == "cli"
    assert grants.answer(SESSION, remembering(event), event.cwd) is not None


async def test_allow_rule_is_refused_where_nothing_can_be_remembered(
    broker: Broker, grants: GrantBook
) -> None:
    request = request_for(command("rm", "x", opaque=True))
    waiting = ask(broker, request)
    await settle()
    result = broker.answer(request.id, Answer(AnswerKind.ALLOW_RULE, by="cli"))
    assert result.outcome is Outcome.REFUSED and result.message
    assert not waiting.done() and grants.list() == ()


async def test_a_stopped_session_is_denied_now_and_later(broker: Broker) -> None:
    first = request_for()
    waiting = [ask(broker, first), ask(broker, request_for(command("ls")))]
    other = ask(broker, replace(request_for(), session_id="other"))
    await settle()
    broker.answer(first.id, Answer(AnswerKind.STOP, by="cli"))
    assert {(await one).state for one in waiting} == {RequestState.STOPPED}
    assert (await broker.ask(request_for(command("pwd")))).state is RequestState.STOPPED
    assert not other.done()
    broker.forget_session(SESSION)
    again = ask(broker, request_for())
    await settle()
    assert not again.done()


async def test_close_denies_all_that_waits_and_all_that_comes(broker: Broker) -> None:
    channel = Recorder()
    assert await broker.add_channel(channel) == ""
    waiting = ask(broker, request_for())
    await settle()
    await broker.close()
    resolution = await waiting
    assert (resolution.state, resolution.reason) == (RequestState.WITHDRAWN, "the host closed")
    assert channel.retracted and channel.stopped
    assert (await broker.ask(request_for())).state is RequestState.WITHDRAWN


async def test_too_many_waiting_acts_are_denied_and_none_is_dropped(time: Clock, grants: GrantBook) -> None:
    broker = Broker(grants, monotonic=time, max_waiting=3)
    waiting = [ask(broker, request_for(command("git", str(n)), clock=time)) for n in range(2)]
    waiting.append(ask(broker, request_for(command("git", "0"), clock=time)))
    await settle()
    refused = await broker.ask(request_for(clock=time))
    assert refused.state is RequestState.DENIED and "3 acts" in refused.reason and refused.by == ""
    other = ask(broker, replace(request_for(clock=time), session_id="other"))
    await settle()
    assert not other.done() and not any(one.done() for one in waiting)
    await broker.close()
    ended = await asyncio.gather(*waiting, other)
    assert {resolution.state for resolution in ended} == {RequestState.WITHDRAWN}


async def test_every_channel_is_asked_and_told_how_it_ended(broker: Broker) -> None:
    channels = [Recorder(), Recorder()]
    for channel in channels:
        await broker.add_channel(channel)
    request = request_for()
    waiting = ask(broker, request)
    await settle()
    assert [d.state for d in broker.snapshot().pending[0].deliveries] == [DeliveryState.DELIVERED] * 2
    broker.answer(request.id, DENY)
    await waiting
    await settle()
    assert all(channel.retracted == [(request.id, RequestState.DENIED)] for channel in channels)


async def test_channels_that_fail_or_hang_are_marked_and_hold_up_nobody(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "DELIVERY_TIMEOUT", 0.05)
    good = Recorder()
    for channel in (Recorder(fails=True), Recorder(hangs=True), Recorder(reachable=False), good):
        await broker.add_channel(channel)
    request = request_for()
    waiting = ask(broker, request)
    await settle()
    assert good.asked == [request.id]
    watcher = broker.subscribe()
    async with asyncio.timeout(10):
        while True:
            snapshot = await watcher.next()
            assert snapshot is not None
            deliveries = snapshot.pending[0].deliveries
            if all(d.state is not DeliveryState.QUEUED for d in deliveries):
                break
    failed = [d for d in deliveries if d.state is DeliveryState.FAILED]
    assert [d.why.split()[0] for d in failed] == ["ConnectionError:", "no", "not"]
    assert not snapshot.pending[0].unreachable
    assert broker.answer(request.id, ONCE).accepted
    await waiting


async def test_a_channel_that_cannot_start_is_left_out(broker: Broker) -> None:
    class Broken(Recorder):
        async def start(self, answers: object) -> None:
            raise OSError("no token")

    assert "no token" in await broker.add_channel(Broken())
    waiting = ask(broker, request_for())
    await settle()
    assert broker.snapshot().pending[0].deliveries == ()
    waiting.cancel()
    await settle()


async def test_a_request_that_reaches_nobody_says_so_and_still_waits(broker: Broker) -> None:
    request = request_for()
    waiting = ask(broker, request)
    await settle()
    assert broker.snapshot().pending[0].unreachable
    room = broker.subscribe("tui")
    assert not broker.snapshot().pending[0].unreachable
    room.close()
    assert broker.snapshot().pending[0].unreachable
    assert broker.answer(request.id, ONCE).accepted
    await waiting


async def test_observers_get_the_last_state_however_many_changes_there_were(broker: Broker) -> None:
    observer = broker.subscribe()
    await observer.next()
    requests = [request_for(command("git", str(n))) for n in range(50)]
    waiting = [ask(broker, request) for request in requests]
    await settle()
    for request in requests[:49]:
        broker.answer(request.id, DENY)
    snapshot = await observer.next()
    assert snapshot is not None and [r.id for r in snapshot.pending] == [requests[49].id]
    assert snapshot.finished[-1].resolution is not None
    pending = asyncio.get_running_loop().create_task(observer.next())
    await settle()
    assert not pending.done()
    observer.close()
    assert await pending is None
    waiting[49].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_memory_of_ended_requests_is_bounded(broker: Broker) -> None:
    first = request_for(command("git", "first"))
    for n in range(1001):
        request = first if n == 0 else request_for(command("git", str(n)))
        waiting = ask(broker, request)
        await asyncio.sleep(0)
        broker.answer(request.id, DENY)
        await waiting
    assert broker.answer(first.id, ONCE).outcome is Outcome.UNKNOWN
    assert len(broker.snapshot().finished) == 50

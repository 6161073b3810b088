"""The broker: every waiting question, and the one answer that ends it (specification sections 1.5, 4.4).

Lives on one asyncio loop, the supervisor's; call nothing here from another thread. It decides nothing
about policy and writes no log: the gate does. Every doubt ends in a deny.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from vaultroom import clock
from vaultroom.approvals.answer import Answer, AnswerKind, AnswerResult, Outcome, RequestState, Resolution
from vaultroom.approvals.channel import Channel
from vaultroom.approvals.delivery import Courier
from vaultroom.approvals.grants import GrantBook
from vaultroom.approvals.request import ApprovalRequest, Delivery, DeliveryState
from vaultroom.approvals.snapshot import Snapshot, Subscription

MAX_WAITING = 200
"""Acts of one session that may wait at once; one more is denied with a message."""

CLOSING_TIME = 3.0
"""Seconds that channels have to tell people that the host closes."""

HOST_CLOSED = "the host closed"
NOBODY_WAITS = "the act that asked is gone"
SESSION_STOPPED = "the session was stopped"

_REMEMBERED = 1000
_FINISHED_SHOWN = 50

CardKey = tuple[str, str, str, str]


@dataclass(eq=False, slots=True)
class _Waiter:
    """One act that waits: its own deadline and start, in seconds on the monotonic clock."""

    future: asyncio.Future[Resolution]
    since: float
    deadline: float


@dataclass(eq=False, slots=True)
class _Card:
    request: ApprovalRequest
    key: CardKey
    courier: Courier
    waiters: list[_Waiter] = field(default_factory=list)


class Broker:
    """Asks people and serves everybody who waits.

    `grants` receives what ALLOW_RULE leaves behind. `monotonic` is seconds; tests hand in their own and
    call `expire_due` after moving it.
    """

    def __init__(
        self,
        grants: GrantBook,
        *,
        monotonic: Callable[[], float] = clock.monotonic,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._grants = grants
        self._monotonic = monotonic
        self._max_waiting = max_waiting
        self._channels: list[Channel] = []
        self._cards: dict[str, _Card] = {}
        self._by_key: dict[CardKey, _Card] = {}
        self._ended: OrderedDict[str, tuple[RequestState, str]] = OrderedDict()
        self._finished: deque[ApprovalRequest] = deque(maxlen=_FINISHED_SHOWN)
        self._stopped: set[str] = set()
        self._couriers: set[Courier] = set()
        self._observers: set[Subscription] = set()
        self._snapshot: Snapshot | None = None
        self._version = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    # Asking

    async def ask(self, request: ApprovalRequest) -> Resolution:
        """Wait for the answer to `request`. Never raises for what people, channels or time do.

        Cancelling the caller (its connection is lost) withdraws this one wait.
        """
        now = self._monotonic()
        refused = self._refusal(request, now)
        if refused is not None:
            return refused
        waiter = _Waiter(asyncio.get_running_loop().create_future(), since=now, deadline=request.deadline)
        card = self._join(request, waiter)
        try:
            return await waiter.future
        finally:
            self._leave(card, waiter)

    def _refusal(self, request: ApprovalRequest, now: float) -> Resolution | None:
        if self._closed:
            return Resolution(RequestState.WITHDRAWN, reason=HOST_CLOSED)
        if request.session_id in self._stopped:
            return Resolution(RequestState.STOPPED, reason=SESSION_STOPPED)
        if request.deadline <= now:
            return Resolution(RequestState.EXPIRED)
        waiting = sum(
            len(card.waiters)
            for card in self._cards.values()
            if card.request.session_id == request.session_id
        )
        if waiting >= self._max_waiting:
            text = f"{waiting} acts of this session wait for an answer already; no more than that may wait"
            return Resolution(RequestState.DENIED, reason=text)
        return None

    def _join(self, request: ApprovalRequest, waiter: _Waiter) -> _Card:
        key = (request.session_id, request.shown, request.rule_name, request.sameness)
        card = self._by_key.get(key)
        if card is None:
            card = _Card(request=request, key=key, courier=self._send(request))
            self._cards[request.id] = self._by_key[key] = card
        card.waiters.append(waiter)
        latest = max((request, card.request), key=lambda one: one.deadline)
        card.request = replace(
            card.request,
            waiters=len(card.waiters),
            deadline=latest.deadline,
            expires_at_ns=latest.expires_at_ns,
        )
        self._publish()
        self._arm()
        return card

    def _leave(self, card: _Card, waiter: _Waiter) -> None:
        if waiter not in card.waiters:
            return
        card.waiters.remove(waiter)
        if card.waiters:
            card.request = replace(card.request, waiters=len(card.waiters))
            self._publish()
            self._arm()
        else:
            self._end(card, Resolution(RequestState.WITHDRAWN, reason=NOBODY_WAITS))

    # Answering

    def answer(self, request_id: str, answer: Answer) -> AnswerResult:
        """Give one person's answer. The first decisive one wins."""
        self.expire_due()
        card = self._cards.get(request_id)
        if card is None:
            ended = self._ended.get(request_id)
            if ended is None:
                return AnswerResult(Outcome.UNKNOWN)
            return AnswerResult(Outcome.ALREADY, state=ended[0], by=ended[1])
        if answer.shown != card.request.shown and (answer.shown or answer.must_show):
            return AnswerResult(Outcome.CHANGED, message="what was shown is not what waits")
        grants: tuple[str, ...] = ()
        if answer.kind is AnswerKind.ALLOW_RULE:
            memory = card.request.memory
            if not memory.possible:
                return AnswerResult(Outcome.REFUSED, message=memory.refusal or "nothing can be remembered")
            left = self._grants.remember(
                card.request.session_id, memory, answer.by, minutes=answer.minutes, directory=answer.directory
            )
            grants = tuple(grant.id for grant in left)
        self._end(
            card,
            Resolution(
                answer.kind.state,
                by=answer.by,
                reason=answer.reason,
                grants=grants,
                keep_copy=answer.keep_copy,
            ),
        )
        if answer.kind is AnswerKind.STOP:
            self.stop_session(card.request.session_id, by=answer.by)
        return AnswerResult(Outcome.ACCEPTED, state=answer.kind.state, by=answer.by)

    def stop_session(self, session_id: str, *, by: str = "") -> int:
        """Deny all that a session asks, now and until `forget_session`; how many cards that ended."""
        self._stopped.add(session_id)
        return self._end_all(Resolution(RequestState.STOPPED, by=by, reason=SESSION_STOPPED), session_id)

    def forget_session(self, session_id: str) -> None:
        """The session is over: nothing of it waits any longer, and its grants go."""
        self._end_all(Resolution(RequestState.WITHDRAWN, reason="the session ended"), session_id)
        self._stopped.discard(session_id)
        self._grants.drop_session(session_id)

    def expire_due(self) -> None:
        """Deny every wait whose deadline has come. The broker's timer calls this."""
        now = self._monotonic()
        for card in list(self._cards.values()):
            due = [waiter for waiter in card.waiters if waiter.deadline <= now]
            if not due:
                continue
            if len(due) == len(card.waiters):
                self._end(card, Resolution(RequestState.EXPIRED))
                continue
            for waiter in due:
                card.waiters.remove(waiter)
                self._release(waiter, Resolution(RequestState.EXPIRED))
            card.request = replace(card.request, waiters=len(card.waiters))
            self._publish()
        self._arm()

    async def close(self) -> None:
        """Deny all that waits, tell every channel, stop the channels. Later asks are denied at once."""
        if self._closed:
            return
        self._closed = True
        self._end_all(Resolution(RequestState.WITHDRAWN, reason=HOST_CLOSED), None)
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*(courier.finished(CLOSING_TIME) for courier in self._couriers))
        await asyncio.gather(*(Courier.guarded(channel.stop) for channel in self._channels))
        for observer in list(self._observers):
            observer.close()

    def _end_all(self, resolution: Resolution, session_id: str | None) -> int:
        cards = [c for c in self._cards.values() if session_id in (None, c.request.session_id)]
        for card in cards:
            self._end(card, resolution)
        return len(cards)

    def _end(self, card: _Card, resolution: Resolution) -> None:
        request_id = card.request.id
        del self._cards[request_id]
        del self._by_key[card.key]
        waiters, card.waiters = card.waiters, []
        longest = max((self._monotonic() - waiter.since for waiter in waiters), default=0.0)
        for waiter in waiters:
            self._release(waiter, resolution)
        whole = replace(resolution, waited_ns=_nanoseconds(longest))
        card.request = replace(card.request, state=resolution.state, resolution=whole)
        self._ended[request_id] = (resolution.state, resolution.by)
        while len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)
        self._finished.append(card.request)
        card.courier.retract(card.request, whole)
        self._publish()
        self._arm()

    def _release(self, waiter: _Waiter, resolution: Resolution) -> None:
        if not waiter.future.done():
            waited = _nanoseconds(self._monotonic() - waiter.since)
            waiter.future.set_result(replace(resolution, waited_ns=waited))

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadlines = [waiter.deadline for card in self._cards.values() for waiter in card.waiters]
        if deadlines and not self._closed:
            delay = max(0.0, min(deadlines) - self._monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self.expire_due)

    # Channels and observers

    async def add_channel(self, channel: Channel) -> str:
        """Start a channel and use it for later requests. Empty, or why it could not be started."""
        why = await Courier.guarded(lambda: channel.start(self))
        if not why:
            self._channels.append(channel)
            self._publish()
        return why

    def _send(self, request: ApprovalRequest) -> Courier:
        courier = Courier(request, tuple(self._channels), self._publish, self._couriers.discard)
        self._couriers.add(courier)
        return courier

    def subscribe(self, surface: str = "") -> Subscription:
        """Observe. A `surface` (`tui`, `tty`) also counts as somebody who can be asked while it is open."""
        subscription = Subscription(self.snapshot, self._unsubscribe, surface)
        self._observers.add(subscription)
        if surface:
            self._publish()
        return subscription

    def snapshot(self) -> Snapshot:
        """The newest state."""
        if self._snapshot is None:
            attended = any(observer.surface for observer in self._observers)
            self._snapshot = Snapshot(
                version=self._version,
                pending=tuple(_with_deliveries(card, attended) for card in self._cards.values()),
                finished=tuple(self._finished),
            )
        return self._snapshot

    def get(self, request_id: str) -> ApprovalRequest | None:
        """The request with this id, pending or among the last few that ended."""
        snapshot = self.snapshot()
        found = (r for r in (*snapshot.pending, *snapshot.finished) if r.id == request_id)
        return next(found, None)

    def _unsubscribe(self, subscription: Subscription) -> None:
        self._observers.discard(subscription)
        if subscription.surface:
            self._publish()

    def _publish(self) -> None:
        self._version += 1
        self._snapshot = None
        for observer in self._observers:
            observer.wake()


def _with_deliveries(card: _Card, attended: bool) -> ApprovalRequest:
    deliveries: tuple[Delivery, ...] = card.courier.deliveries()
    arriving = any(delivery.state is not DeliveryState.FAILED for delivery in deliveries)
    return replace(card.request, deliveries=deliveries, unreachable=not (arriving or attended))


def _nanoseconds(seconds: float) -> int:
    return max(0, int(seconds * 1_000_000_000))

"""The courier of one request: asks every channel at once, and tells each how it ended.

A channel that raises or hangs is marked and holds up nobody; `retract` always follows `ask`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from vaultroom.approvals.answer import Resolution
from vaultroom.approvals.channel import Channel
from vaultroom.approvals.request import ApprovalRequest, Delivery, DeliveryState
from vaultroom.tasks import spawn

DELIVERY_TIMEOUT = 15.0
"""Seconds that one call of a channel may take."""

_WHY_LENGTH = 200


class Courier:
    """Carries one request through all channels, each in a task of its own."""

    def __init__(
        self,
        request: ApprovalRequest,
        channels: tuple[Channel, ...],
        changed: Callable[[], None],
        done: Callable[[Courier], None],
    ) -> None:
        self._changed = changed
        self._done = done
        self._ended: asyncio.Future[tuple[ApprovalRequest, Resolution]] = (
            asyncio.get_running_loop().create_future()
        )
        self._deliveries: dict[int, Delivery] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        for index, channel in enumerate(channels):
            self._start(index, channel, request)

    def deliveries(self) -> tuple[Delivery, ...]:
        """How far each channel got, in the order of the channels."""
        return tuple(self._deliveries.values())

    def retract(self, request: ApprovalRequest, resolution: Resolution) -> None:
        """The request ended: let every channel say so."""
        if not self._ended.done():
            self._ended.set_result((request, resolution))
        if not self._tasks:
            self._done(self)

    async def finished(self, timeout: float) -> None:
        """Wait until every channel was told, at most `timeout` seconds; then give up on the others."""
        if not self._tasks:
            return
        _done, late = await asyncio.wait(set(self._tasks), timeout=timeout)
        for task in late:
            task.cancel()

    @staticmethod
    async def guarded(call: Callable[[], Coroutine[Any, Any, None]]) -> str:
        """Run one call of a channel: empty, or why it failed. Raises nothing but cancellation."""
        try:
            async with asyncio.timeout(DELIVERY_TIMEOUT):
                await call()
        except TimeoutError:
            return f"no answer within {DELIVERY_TIMEOUT:g} s"
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:_WHY_LENGTH]
        return ""

    def _start(self, index: int, channel: Channel, request: ApprovalRequest) -> None:
        try:
            name, reachable = channel.name, channel.reachable()
        except Exception as error:
            name, reachable = type(channel).__name__, False
            self._deliveries[index] = Delivery(name, DeliveryState.FAILED, f"{type(error).__name__}: {error}")
            return
        if not reachable:
            self._deliveries[index] = Delivery(name, DeliveryState.FAILED, "not reachable now")
            return
        self._deliveries[index] = Delivery(name, DeliveryState.QUEUED)
        task = spawn(self._carry(index, channel, request), name=f"deliver {request.id} by {name}")
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    async def _carry(self, index: int, channel: Channel, request: ApprovalRequest) -> None:
        why = await self.guarded(lambda: channel.ask(request))
        state = DeliveryState.FAILED if why else DeliveryState.DELIVERED
        self._deliveries[index] = Delivery(self._deliveries[index].channel, state, why)
        self._changed()
        ended, resolution = await asyncio.shield(self._ended)
        await self.guarded(lambda: channel.retract(ended, resolution))

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks and self._ended.done():
            self._done(self)

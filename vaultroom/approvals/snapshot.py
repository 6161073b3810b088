"""What observers see: the newest state as frozen values, however many changes there were in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from vaultroom.approvals.request import ApprovalRequest


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`version` grows with each change. `pending` is oldest first; `finished` the last few, newest last."""

    version: int
    pending: tuple[ApprovalRequest, ...] = ()
    finished: tuple[ApprovalRequest, ...] = ()


class Subscription:
    """One observer. It holds no queue: `next` gives the newest snapshot, or waits for a newer one."""

    def __init__(
        self, latest: Callable[[], Snapshot], closed: Callable[[Subscription], None], surface: str
    ) -> None:
        self.surface = surface
        self._latest = latest
        self._closed = closed
        self._seen = -1
        self._changed = asyncio.Event()
        self._changed.set()
        self._open = True

    def latest(self) -> Snapshot:
        """The newest snapshot, at once."""
        return self._latest()

    async def next(self) -> Snapshot | None:
        """The newest snapshot that this observer has not had; None after `close()`."""
        while self._open:
            snapshot = self._latest()
            if snapshot.version > self._seen:
                self._seen = snapshot.version
                return snapshot
            self._changed.clear()
            await self._changed.wait()
        return None

    def wake(self) -> None:
        """The broker's call: there may be something new."""
        self._changed.set()

    def close(self) -> None:
        """Stop observing. A surface that closes no longer counts as reachable."""
        if self._open:
            self._open = False
            self._closed(self)
            self._changed.set()

"""File-system look-ups on bounded threads with a deadline (design section 2).

A hanging network file system must not hang the host: what is not known in time counts as opaque. The
threads are daemons, so one that hangs does not keep the process from ending either.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

THREADS = 8
DEADLINE_SECONDS = 2.0

_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class LookupThreads:
    """Runs look-ups; `run` gives None past the deadline."""

    def __init__(self, threads: int = THREADS, deadline: float = DEADLINE_SECONDS) -> None:
        self._deadline = deadline
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"lookup {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, look_up: Callable[[], Result]) -> Result | None:
        """The look-up's result, or None when it did not come in time. Raises what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._jobs.put((look_up, loop, future))
        try:
            async with asyncio.timeout(self._deadline):
                return await future
        except TimeoutError:
            if future.done() and not future.cancelled():
                return future.result()  # the look-up itself raised it
            return None

    def close(self) -> None:
        """Let running look-ups go; those that wait are dropped by their callers' deadlines."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            look_up, loop, future = job
            if future.cancelled():
                continue
            result: Any = None
            error: BaseException | None = None
            try:
                result = look_up()
            except BaseException as raised:
                error = raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:  # the loop is closed
                return


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)

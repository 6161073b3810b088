"""File-system look-ups on bounded threads with a deadline (design section 2).

A hanging network file system must not hang the host: what is not known in time counts as opaque.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

THREADS = 8
DEADLINE_SECONDS = 2.0


class LookupThreads:
    """Runs look-ups; `run` gives None past the deadline."""

    def __init__(self, threads: int = THREADS, deadline: float = DEADLINE_SECONDS) -> None:
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="lookup")
        self._deadline = deadline

    async def run(self, look_up: Callable[[], Result]) -> Result | None:
        """The look-up's result, or None when it did not come in time. Raises what it raises."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._pool, look_up)
        done, _ = await asyncio.wait({future}, timeout=self._deadline)
        if not done:
            future.cancel()
            return None
        return future.result()

    def close(self) -> None:
        """Let running look-ups go; a thread that hangs does not hold the host back."""
        self._pool.shutdown(wait=False, cancel_futures=True)

"""A thread with an event loop of its own: the supervisor's place to run (design section 2)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

SWITCH_SECONDS = 0.0005
"""With one busy Python thread a decision took 57 ms at the interpreter's default and 7 ms so."""


class LoopThread:
    """An asyncio loop on its own thread. `call` runs a coroutine there and waits for its result."""

    def __init__(self, name: str) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.loop: asyncio.AbstractEventLoop = asyncio.new_event_loop()

    def start(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        self._thread.start()
        self._ready.wait()

    def call(self, coroutine: Coroutine[Any, Any, Result], *, timeout: float | None = None) -> Result:
        """Run `coroutine` on the loop and return its result; raises what it raises.

        Raises TimeoutError after `timeout` seconds; the coroutine is then cancelled.
        """
        return self.submit(coroutine).result(timeout)

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        if not self._thread.is_alive():
            coroutine.close()
            raise RuntimeError("the loop is not running")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def stop(self) -> None:
        """Cancel what still runs, end the loop and join the thread. Never call it from the loop."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        elif not self.loop.is_closed():
            self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.call_soon(self._ready.set)
        try:
            self.loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self.loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

from __future__ import annotations

import asyncio
import threading

import pytest

from vaultroom.supervisor.runtime import LoopThread


def test_calls_run_on_the_thread_and_stop_cancels_what_is_left() -> None:
    thread, cancelled = LoopThread("t"), threading.Event()
    thread.start()

    async def where() -> str:
        return threading.current_thread().name

    async def for_ever() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            cancelled.set()

    async def fail() -> None:
        raise ValueError("no")

    assert thread.call(where()) == "t"
    with pytest.raises(ValueError, match="no"):
        thread.call(fail())
    future = thread.submit(for_ever())
    thread.call(asyncio.sleep(0))
    thread.stop()
    assert cancelled.is_set()
    assert future.cancelled() or future.done()
    with pytest.raises(RuntimeError, match="not running"):
        thread.call(where())

from __future__ import annotations

import asyncio
import gc
from typing import Any

from vaultroom import tasks


async def test_a_task_that_nobody_holds_runs_to_its_end() -> None:
    done = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        done.set()

    tasks.spawn(work(), name="w")
    gc.collect()
    await asyncio.wait_for(done.wait(), 5)


async def test_an_error_is_reported_and_a_cancellation_is_not() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    async def fail() -> None:
        raise ValueError("no")

    async def wait() -> None:
        await asyncio.sleep(100)

    failing, waiting = tasks.spawn(fail(), name="f"), tasks.spawn(wait(), name="w")
    await asyncio.wait({failing})
    waiting.cancel()
    await asyncio.wait({waiting})
    await asyncio.sleep(0)
    assert [str(context["exception"]) for context in reported] == ["no"]

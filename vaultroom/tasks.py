"""Asyncio tasks that are kept and whose errors are seen.

A task that nobody holds may be collected while it runs, and its exception is lost. `spawn` keeps a
reference and hands an unexpected exception to the loop's exception handler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

_running: set[asyncio.Task[Any]] = set()


def spawn(coroutine: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
    """Run `coroutine` as a task on the running loop."""
    task = asyncio.get_running_loop().create_task(coroutine, name=name)
    _running.add(task)
    task.add_done_callback(_finished)
    return task


def _finished(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        task.get_loop().call_exception_handler(
            {"message": f"task {task.get_name()} failed", "exception": error, "task": task}
        )

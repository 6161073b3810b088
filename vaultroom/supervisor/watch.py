"""Waiting for the end of processes that are not our children."""

from __future__ import annotations

import asyncio
import os

from vaultroom import platform
from vaultroom.supervisor.session_files import ProcessMark

POLL_SECONDS = 0.5
"""How often a process is looked at where the system has no pidfd."""


async def process_end(process: ProcessMark) -> None:
    """Returns once `process` has ended; at once when it does not exist."""
    descriptor = platform.open_pidfd(process.pid) if process.pid > 0 else None
    if descriptor is None:
        while process.alive():
            await asyncio.sleep(POLL_SECONDS)
        return
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def readable() -> None:
        loop.remove_reader(descriptor)
        if not ended.done():
            ended.set_result(None)

    try:
        if not process.alive():  # the pid was another process's by now
            return
        loop.add_reader(descriptor, readable)
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)

from __future__ import annotations

import asyncio
import subprocess

import pytest

from vaultroom import platform
from vaultroom.supervisor.session_files import ProcessMark
from vaultroom.supervisor.watch import process_end


@pytest.mark.parametrize("pidfd", [True, False])
async def test_it_returns_at_the_end_and_not_before(pidfd: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not pidfd:
        monkeypatch.setattr(platform, "open_pidfd", lambda pid: None)
    sleeper = subprocess.Popen(["sleep", "60"])
    waiting = asyncio.ensure_future(process_end(ProcessMark.of(sleeper.pid)))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    sleeper.kill()
    sleeper.wait()
    await asyncio.wait_for(waiting, 5)


async def test_a_process_that_never_was() -> None:
    await asyncio.wait_for(process_end(ProcessMark()), 5)


async def test_another_process_with_the_same_pid() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    await asyncio.wait_for(process_end(ProcessMark(sleeper.pid, "0@other-boot")), 5)
    sleeper.kill()
    sleeper.wait()


async def test_cancelling_leaves_nothing_open() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    waiting = asyncio.ensure_future(process_end(ProcessMark.of(sleeper.pid)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    sleeper.kill()
    sleeper.wait()

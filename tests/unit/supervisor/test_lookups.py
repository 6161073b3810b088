from __future__ import annotations

import threading

import pytest

from vaultroom.supervisor.lookups import LookupThreads


async def test_a_result_an_error_and_a_hang() -> None:
    lookups, release = LookupThreads(threads=2, deadline=0.2), threading.Event()
    assert await lookups.run(lambda: 7) == 7

    def fail() -> int:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await lookups.run(fail)
    assert await lookups.run(lambda: release.wait(30)) is None
    assert await lookups.run(lambda: 8) == 8
    release.set()
    lookups.close()

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vaultroom.supervisor.host_lock import HostLock


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "host.lock"
    first = HostLock.try_acquire(path, "note\n")
    assert first is not None
    assert HostLock.try_acquire(path) is None
    assert path.read_text() == "note\n"
    assert path.stat().st_mode & 0o777 == 0o600
    first.release()
    second = HostLock.try_acquire(path)
    assert second is not None
    second.release()


def test_a_killed_holder_leaves_nothing_stale(tmp_path: Path) -> None:
    path = tmp_path / "host.lock"
    code = (
        "import os, pathlib, signal; from vaultroom.supervisor.host_lock import HostLock;"
        f"assert HostLock.try_acquire(pathlib.Path({str(path)!r})); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    lock = HostLock.try_acquire(path)
    assert lock is not None
    lock.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "host.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"host\.lock"):
        HostLock.try_acquire(tmp_path / "host.lock")

"""Shims outlive their session while a process may still find them in its PATH.

What an agent leaves running must not become unguarded when its session closes: without the shims, PATH
would fall through to the real programs. With them, and without the session's socket, it is refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container
from pathlib import Path

from vaultroom.intercept.shims import remove_shims


def sweep_shims(root: Path, live: Container[str]) -> None:
    """Remove the shims of sessions that are not in `live` and that no process refers to any more.

    It reads the environment of every process of the user: run it on a thread.
    """
    folders = [folder for folder in _folders(root) if folder.name not in live]
    if not folders:
        return
    referred = _environments()
    for folder in folders:
        if os.fsencode(folder) not in referred:
            with contextlib.suppress(OSError, ValueError):
                remove_shims(folder)


def _folders(root: Path) -> list[Path]:
    try:
        return [folder for folder in root.iterdir() if folder.is_dir()]
    except OSError:
        return []


def _environments() -> bytes:
    """The environments of all processes that can be read, as they were started."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                found.append(Path(f"/proc/{name}/environ").read_bytes())
    return b"\0".join(found)

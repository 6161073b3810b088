"""A private tmux server: type as a user would, read the screen."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.world import wait_for


@dataclass(frozen=True)
class Tmux:
    """One pane. `screen()` is what it shows now, `wait(text)` waits for a text on it."""

    socket: str

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def key(self, *names: str) -> None:
        self._tmux("send-keys", *names)

    def line(self, text: str) -> None:
        self.type(text)
        self.key("Enter")

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-J").rstrip()

    def wait(self, text: str, seconds: float = 20.0) -> str:
        def look() -> str | None:
            shown = self.screen()
            return shown if text in shown else None

        try:
            return wait_for(look, f"{text!r} on the screen", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def pane_pid(self) -> int:
        return int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-L", self.socket, "-f", "/dev/null", *arguments],
            capture_output=True,
            text=True,
            check=True,
        ).stdout


@contextmanager
def tmux(
    command: list[str], *, environ: Mapping[str, str], cwd: Path, columns: int = 80, rows: int = 24
) -> Iterator[Tmux]:
    """Run `command` in a pane of its own server, which ends with the block. Skips without tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    socket = f"vaultroom-test-{uuid.uuid4().hex[:12]}"
    line = shlex.join(
        ["env", "-i", *[f"{k}={v}" for k, v in environ.items()], "TERM=screen-256color", *command]
    )
    subprocess.run(
        ["tmux", "-L", socket, "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
         "-c", str(cwd), line],
        check=True,
    )  # fmt: skip
    try:
        yield Tmux(socket)
    finally:
        subprocess.run(["tmux", "-L", socket, "kill-server"], check=False, capture_output=True)

"""A home, agents and clients for the tests of the installer."""

from __future__ import annotations

from pathlib import Path

from vaultroom.install.agents import FoundAgent, find_agents
from vaultroom.paths import Home


class StubClients:
    """Clients that are empty programs."""

    def __init__(self, home: Home) -> None:
        self._folder = home.data / "hooks"
        self.written: list[tuple[str, bool]] = []

    def path(self, agent: str) -> Path:
        return self._folder / agent

    def write(self, agent: str, *, native: bool) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        self.path(agent).write_text("#!/bin/sh\nexit 2\n")
        self.path(agent).chmod(0o700)
        self.written.append((agent, native))
        return self.path(agent)

    def command(self, agent: str) -> str:
        return f"'{self.path(agent)}' || exit 2"

    def plugin(self) -> str:
        return f"// plugin for {self.path('opencode')}\n"

    def remove(self) -> None:
        for path in self._folder.iterdir():
            path.unlink()


def agents_of(user: Path) -> tuple[FoundAgent, ...]:
    """All four agents, known by their settings folders."""
    for folder in (".claude", ".codex", ".gemini", ".config/opencode"):
        (user / folder).mkdir(parents=True, exist_ok=True)
    return find_agents({"PATH": ""}, user)


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below `folder` with its bytes and mode."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }

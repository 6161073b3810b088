"""The hook clients that settings point at, behind a small interface."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from vaultroom.install.agents import HOOK_SECONDS
from vaultroom.paths import Home


class Clients(Protocol):
    """Writes the thin client of an agent and says how the agent starts it."""

    def path(self, agent: str) -> Path: ...

    def write(self, agent: str, *, native: bool) -> Path:
        """Write or renew it. `native`: with no host the question goes to the agent's own prompt."""
        ...

    def command(self, agent: str) -> str:
        """The shell command for the agent's settings."""
        ...

    def plugin(self) -> str:
        """The source of opencode's plugin."""
        ...

    def remove(self) -> None:
        """Remove all clients."""
        ...


class HookClients:
    """The clients of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def path(self, agent: str) -> Path:
        from vaultroom.intercept.hooks.client_files import client_path

        return client_path(self._home, agent)

    def write(self, agent: str, *, native: bool) -> Path:
        from vaultroom.intercept.hooks.client_files import write_client

        return write_client(self._home, agent, timeout=HOOK_SECONDS, native=native)

    def command(self, agent: str) -> str:
        from vaultroom.intercept.hooks.client_files import hook_command

        return hook_command(self.path(agent), agent)

    def plugin(self) -> str:
        from vaultroom.intercept.hooks.opencode import plugin_text

        return plugin_text(self.path("opencode"))

    def remove(self) -> None:
        from vaultroom.intercept.hooks.client_files import remove_clients

        remove_clients(self._home)

"""One agent's run in the host: its gate, its socket, its shims, its place in the log."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from vaultroom.gate.gate import Gate
from vaultroom.policy.model import Policy
from vaultroom.supervisor.ipc import SessionSocket
from vaultroom.supervisor.session_files import SessionFile


@dataclass(slots=True)
class Session:
    """A live session. `facts` is what the session file says; the rest is this host's own."""

    facts: SessionFile
    policy: Policy
    gate: Gate
    started_at: str
    socket: SessionSocket | None = None
    watching: asyncio.Task[None] | None = None
    launched: bool = False
    frozen: bool = False
    stopped: bool = False
    closing: bool = False

    @property
    def state(self) -> str:
        """What SessionView.state says."""
        if self.stopped:
            return "stopped"
        if self.frozen:
            return "frozen"
        return "running" if self.facts.child.pid else "starting"

    @property
    def id(self) -> str:
        return self.facts.id

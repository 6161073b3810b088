"""One agent's run in the host: its gate, its socket, its shims, its place in the log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vaultroom import clock, platform
from vaultroom.events import Action, Environment, Event, Facet, Source, new_ulid
from vaultroom.gate.gate import Gate
from vaultroom.intercept.shim_events import shim_event
from vaultroom.policy.model import Policy
from vaultroom.shell import FileView, NoFiles, RealFiles, command_facets, needs_files
from vaultroom.supervisor.git_variables import redirects_git
from vaultroom.supervisor.ipc import SessionSocket
from vaultroom.supervisor.lookups import LookupThreads
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


class ShimEvents:
    """Makes events of a session's shim frames; the files are looked at on threads with a deadline."""

    def __init__(self, facts: SessionFile, lookups: LookupThreads) -> None:
        self._session_id = facts.id
        self._agent = facts.agent_name
        self._cwd = facts.cwd
        self._lookups = lookups
        self._files = RealFiles()

    async def build(self, frame: dict[str, Any], pid: int) -> Event:
        """Raises FrameError for a frame that makes no sense."""
        event_id, ts = new_ulid(), clock.now_ns()

        def make(view: FileView) -> Event:
            return shim_event(
                frame,
                event_id=event_id,
                session_id=self._session_id,
                ts=ts,
                pid=pid,
                agent=self._agent,
                view=view,
            )

        cmd = _claimed_command(frame)
        event: Event | None = make(self._files) if not needs_files(cmd) else None
        if event is None:
            event = await self._lookups.run(lambda: make(self._files))
        if event is None:  # the files did not answer in time: the act stands as what cannot be known
            event = opaque_act(make(NoFiles()))
        environ = platform.initial_environment(pid)
        if environ is None:
            return event
        event = replace(event, env=Environment(_texts(environ)))
        # Such variables send git to another repository, or give its words another meaning.
        redirected = cmd == "git" and redirects_git(event.env, event.cwd, event.subcommand)
        return opaque_act(event) if redirected else event

    def look_again(self, event: Event) -> tuple[Facet, ...]:
        """What the act would do now, after a person looked at it. It asks files: run it on a thread."""
        if event.source is not Source.SHIM or not event.argv:
            return event.judged_facets()
        facets = command_facets(event.argv, cwd=event.cwd, view=self._files)
        opaque = event.judged_facets()[0].opaque
        return tuple(replace(facet, opaque=facet.opaque or opaque) for facet in facets)

    def refused(self, pid: int) -> Event:
        """What stands in the log for a frame that could not be read."""
        return Event(
            id=new_ulid(),
            session_id=self._session_id,
            ts=clock.now_ns(),
            source=Source.SHIM,
            action=Action.SHELL_EXEC,
            cwd=self._cwd,
            pid=pid,
            agent=self._agent,
            opaque=True,
        )


def opaque_act(event: Event) -> Event:
    """The same act as one that cannot be known for certain; what is known of it still counts."""
    facets = tuple(replace(facet, opaque=True) for facet in event.facets)
    return replace(event, opaque=True, facets=facets)


def _texts(environ: Mapping[bytes, bytes]) -> dict[str, str]:
    return {os.fsdecode(name): os.fsdecode(value) for name, value in environ.items()}


def _claimed_command(frame: Mapping[str, Any]) -> str:
    event = frame.get("event")
    argv = event.get("argv") if isinstance(event, dict) else None
    first = argv[0] if isinstance(argv, list) and argv and isinstance(argv[0], str) else ""
    return os.path.basename(first)

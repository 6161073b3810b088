"""What front ends see of the supervisor: the newest state, and being told when it changes.

A newer state replaces an older one whole, so a slow front end skips states and never lags behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from vaultroom import tasks
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.audit.writer import AuditWriter
from vaultroom.control.protocol import Dossier, State
from vaultroom.events import Event
from vaultroom.supervisor import views
from vaultroom.supervisor.child import reap_orphans
from vaultroom.supervisor.dossier import dossier_of
from vaultroom.supervisor.lookups import LookupThreads
from vaultroom.supervisor.session import Session
from vaultroom.supervisor.session_files import SessionFile

TICK_SECONDS = 0.25
"""How often changed counts are told to front ends."""

PUSH_SECONDS = 0.05
"""Between two states to the same front end."""


class FrontEnds:
    """Builds states and feeds them. Lives on the supervisor's loop."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        *,
        broker: Broker,
        grants: GrantBook,
        log: AuditWriter,
        audit_db: Path,
        lookups: LookupThreads,
    ) -> None:
        self._sessions = sessions
        self._broker = broker
        self._grants = grants
        self._log = log
        self._audit_db = audit_db
        self._lookups = lookups
        self._dossiers: dict[str, Dossier] = {}
        self._surfaces: Counter[str] = Counter()
        self._version = 0
        self._changed = asyncio.Condition()
        self._running: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._running = [
            tasks.spawn(self._follow_broker(), name="follow broker"),
            tasks.spawn(self._tick(), name="tick"),
        ]

    def stop(self) -> None:
        for task in self._running:
            task.cancel()

    def state(self) -> State:
        snapshot = self._broker.snapshot()
        return State(
            version=self._version,
            rooms=self._surfaces["tui"],
            host=views.host_view(self._log, self._audit_db, +self._surfaces),
            grants=tuple(views.grant_view(grant) for grant in self._grants.list()),
            sessions=tuple(views.session_view(s, self._broker) for s in self._sessions.values()),
            requests=tuple(
                views.request_view(request, self._dossiers.get(request.id, Dossier()))
                for request in snapshot.pending
            ),
            ended=tuple(views.ended_view(request) for request in snapshot.finished),
        )

    async def feed(self, push: Callable[[State], Awaitable[None]], surface: str = "") -> None:
        """Call `push` with the present state and after every change, until cancelled or it raises.

        Meanwhile a `surface` counts as a place where somebody can be asked.
        """
        attending = self._broker.subscribe(surface) if surface else None
        self._surfaces[surface] += bool(surface)
        seen = -1
        try:
            while True:
                async with self._changed:
                    while self._version == seen:
                        await self._changed.wait()
                    seen = self._version
                await push(self.state())
                await asyncio.sleep(PUSH_SECONDS)
        finally:
            if attending is not None:
                attending.close()
                self._surfaces[surface] -= 1

    async def touch(self) -> None:
        """Something changed that front ends show."""
        async with self._changed:
            self._version += 1
            self._changed.notify_all()

    def look_into(self, facts: SessionFile, request: ApprovalRequest, event: Event) -> None:
        """Find out, off the loop, what a full card adds to a question."""
        tasks.spawn(self._add_dossier(facts.runner.pid, request, event), name="dossier")

    async def _add_dossier(self, runner_pid: int, request: ApprovalRequest, event: Event) -> None:
        dossier = await self._lookups.run(lambda: dossier_of(request, event, runner_pid))
        pending = {waiting.id for waiting in self._broker.snapshot().pending}
        self._dossiers = {id_: kept for id_, kept in self._dossiers.items() if id_ in pending}
        if dossier is not None and request.id in pending:
            self._dossiers[request.id] = dossier
            await self.touch()

    async def _follow_broker(self) -> None:
        with contextlib.closing(self._broker.subscribe()) as changes:
            while await changes.next() is not None:
                await self.touch()

    async def _tick(self) -> None:
        """Counts change with every act; front ends hear of it a few times a second."""
        before: tuple[object, ...] = ()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            reap_orphans()
            counts = tuple((s.id, s.gate.counts) for s in self._sessions.values())
            if counts != before:
                before = counts
                await self.touch()

"""The supervisor: opens and closes sessions, takes over those of a lost host, answers commands.

It wires the parts and decides nothing about acts: that is the gate's. Everything here runs on the
supervisor's own loop. Start-up order of a session: policy, log, shims, socket, child (design section 6).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vaultroom import clock, tasks
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.audit import record
from vaultroom.audit.reader import AuditReader
from vaultroom.audit.writer import AuditWriter
from vaultroom.control.protocol import (
    AnswerCommand,
    Dossier,
    Output,
    SessionGrant,
    SessionStart,
    State,
    Steer,
)
from vaultroom.errors import PolicyError, StoreError, VaultroomError
from vaultroom.events import Action, Event, new_ulid
from vaultroom.intercept.shims import install_shims, remove_shims
from vaultroom.paths import Home
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy
from vaultroom.signing import load_install_key
from vaultroom.supervisor import views
from vaultroom.supervisor.assembly import audit_path, build_gate, home_guard, withheld_variables
from vaultroom.supervisor.child import end_group, reap_orphans, signal_group
from vaultroom.supervisor.control_server import ControlServer
from vaultroom.supervisor.dossier import dossier_of
from vaultroom.supervisor.environment import child_environment, session_variables
from vaultroom.supervisor.ipc import SessionSocket
from vaultroom.supervisor.launched import LaunchedChild, OutputBuffer
from vaultroom.supervisor.lookups import LookupThreads
from vaultroom.supervisor.session import Session, ShimEvents
from vaultroom.supervisor.session_files import ProcessMark, SessionFile, SessionFiles
from vaultroom.supervisor.unanswered import unanswered_of
from vaultroom.supervisor.watch import process_end

TICK_SECONDS = 0.25
"""How often changed counts are told to front ends."""

KEPT_OUTPUTS = 20
"""Outputs of launched agents that are kept after their end."""

FLUSH_SECONDS = 5.0
"""The hard deadline for flushing the log at the end (specification section 4.2)."""


class Supervisor:
    """One per home and host. Not thread-safe: call it on its loop."""

    def __init__(self, home: Home, audit_db: Path) -> None:
        self._home = home
        self.audit_db = audit_db
        self._sessions: dict[str, Session] = {}
        self._files = SessionFiles(home.sessions)
        self._lookups = LookupThreads()
        self._guard = home_guard(home, audit_db)
        self.log = AuditWriter(audit_db, load_install_key(home.keys))
        self.grants = GrantBook()
        self.broker = Broker(self.grants)
        self._control = ControlServer(home.control_socket, self)
        self._outputs: dict[str, OutputBuffer] = {}
        self._dossiers: dict[str, Dossier] = {}
        self._surfaces: Counter[str] = Counter()
        self._version = 0
        self._changed = asyncio.Condition()
        self._following: asyncio.Task[None] | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the log, take over what a lost host left behind, then listen for commands.

        Raises StoreError when the log cannot be opened, OSError when the socket cannot.
        """
        await asyncio.to_thread(self.log.start)
        try:
            await self._take_over()
            self._following = tasks.spawn(self._follow_broker(), name="follow broker")
            self._ticking = tasks.spawn(self._tick(), name="tick")
            await self._control.open()
        except BaseException:
            await self._stop_parts()
            raise

    async def stop(self) -> None:
        """Deny what waits, close every socket, flush the log. Sessions stay open for the next host."""
        await self._stop_parts()

    async def _stop_parts(self) -> None:
        await self._control.close()
        for session in self._sessions.values():
            if session.watching is not None:
                session.watching.cancel()
        await self.broker.close()
        for session in self._sessions.values():
            if session.socket is not None:
                await session.socket.drain()
                await session.socket.close()
        for task in (self._following, self._ticking):
            if task is not None:
                task.cancel()
        await asyncio.to_thread(self.log.flush, FLUSH_SECONDS)
        await asyncio.to_thread(self.log.stop)
        self._lookups.close()

    # sessions

    async def open_session(self, start: SessionStart, runner_pid: int) -> SessionGrant:
        """Open a session for the runner with `runner_pid`.

        Raises PolicyError for a policy that cannot be loaded or belongs to another log, StoreError when the
        log cannot take the session, OSError when its socket or shims cannot be made.
        """
        policy = await self._load(start.policy, start.policy_name, start.environ, start.home)
        facts = SessionFile(
            id=new_ulid(),
            agent_name=start.agent_name,
            agent_command=start.agent_command,
            cwd=start.cwd,
            home=start.home,
            path=start.path,
            policy_hash=policy.policy_hash,
            policy_name=start.policy_name,
            audit_db=str(self.audit_db),
            runner=ProcessMark.of(runner_pid),
        )
        await self._open_in_log(facts, start.policy)
        try:
            self._files.save(facts)
            warnings = await self._serve(facts, policy, start.policy)
        except BaseException:
            await self._forget(facts.id, reason="start-failed", code=None)
            raise
        return SessionGrant(
            id=facts.id,
            environ=session_variables(
                session_id=facts.id,
                socket=str(self._home.session_socket(facts.id)),
                shims=str(self._home.shims / facts.id),
                path=start.path,
            ),
            withheld=withheld_variables(policy),
            warnings=warnings,
            prompts=policy.approvals.channels.tty.enabled,
        )

    async def child_started(self, session_id: str, pid: int) -> None:
        session = self._session(session_id)
        session.facts = replace(session.facts, child=ProcessMark.of(pid))
        self._files.save(session.facts)
        await self._touch()

    async def close_session(self, session_id: str, *, reason: str, code: int | None) -> None:
        """Seal the session's chain, remove its socket and shims. Raises StoreError if it stays unsealed."""
        session = self._session(session_id)
        if session.closing:
            return
        session.closing = True
        if session.watching is not None and session.watching is not asyncio.current_task():
            session.watching.cancel()
        self.broker.forget_session(session_id)
        if session.socket is not None:
            await session.socket.drain()
            await session.socket.close()
        del self._sessions[session_id]
        await self._forget(session_id, reason=reason, code=code)
        await self._touch()

    async def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        """Open a session and run its agent here, with its output kept.

        Raises what `open_session` raises, and VaultroomError when the program cannot be started.
        """
        grant = await self.open_session(start, os.getpid())
        loop = asyncio.get_running_loop()

        def ended(code: int) -> None:
            with contextlib.suppress(RuntimeError):  # the host closed meanwhile
                loop.call_soon_threadsafe(
                    lambda: tasks.spawn(self._launched_ended(grant.id, code), name="launched ended")
                )

        try:
            child = await asyncio.to_thread(
                LaunchedChild,
                start.agent_command,
                environ=child_environment(environ, grant.environ, grant.withheld),
                cwd=start.cwd,
                ended=ended,
            )
        except OSError as error:
            await self.close_session(grant.id, reason="start-failed", code=None)
            raise VaultroomError(f"the agent cannot be started: {error}") from error
        self._session(grant.id).launched = child
        self._outputs[grant.id] = child.output
        while len(self._outputs) > KEPT_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        await self.child_started(grant.id, child.pid)
        return grant.id

    async def _launched_ended(self, session_id: str, code: int) -> None:
        with contextlib.suppress(VaultroomError):
            await self.close_session(session_id, reason="exit", code=code)

    def output(self, session_id: str, after: int) -> Output:
        """What a launched agent printed, also for a while after its end. Raises VaultroomError."""
        buffer = self._outputs.get(session_id)
        if buffer is None:
            raise VaultroomError(f"the output of session {session_id} is not kept here")
        return buffer.read(after)

    async def steer(self, session_id: str, what: Steer) -> None:
        """Freeze, thaw or end an agent. Raises VaultroomError when it does not run."""
        session = self._session(session_id)
        if not session.facts.child.alive():
            raise VaultroomError(f"the agent of session {session_id} does not run")
        group = session.facts.child.pid
        if what is Steer.STOP:
            session.stopped = True
            self.broker.stop_session(session_id, by="tui")
            tasks.spawn(end_group(session.facts.child), name="end agent")
        else:
            session.frozen = what is Steer.FREEZE
            signal_group(group, signal.SIGSTOP if session.frozen else signal.SIGCONT)
        await self._touch()

    async def revoke(self, grant_id: str) -> bool:
        revoked = self.grants.revoke(grant_id)
        await self._touch()
        return revoked

    def holds_session(self, session_id: str, runner_pid: int) -> bool:
        session = self._sessions.get(session_id)
        return session is not None and session.facts.runner.pid == runner_pid

    def has_sessions_besides(self, session_id: str) -> bool:
        return any(other != session_id for other in self._sessions)

    def runner_pids(self) -> set[int]:
        return {session.facts.runner.pid for session in self._sessions.values()}

    def child_pids(self) -> set[int]:
        return {s.facts.child.pid for s in self._sessions.values() if s.facts.child.pid}

    # approvals

    async def answer(self, command: AnswerCommand) -> str:
        """`accepted`, `unknown`, `changed`, `refused: …`, or `already:<state>`."""
        result = self.broker.answer(command.request, views.answer_of(command))
        return f"{result}: {result.message}" if result.message and not result.accepted else str(result)

    async def suspicious(self, note: dict[str, Any]) -> None:
        """Record something odd in the log of the session it belongs to, or of any that is open."""
        pids = {note.get("pid")}
        owner = next((s for s in self._sessions.values() if s.facts.child.pid in pids), None)
        owner = owner or next(iter(self._sessions.values()), None)
        if owner is None:
            return
        with contextlib.suppress(StoreError):
            entry = record.note_entry(owner.id, Action.SUSPICIOUS, note)
            await self.log.append(entry)

    # what front ends see

    def state(self) -> State:
        snapshot = self.broker.snapshot()
        return State(
            version=self._version,
            rooms=self._surfaces["tui"],
            host=views.host_view(self.log, self.audit_db, +self._surfaces),
            grants=tuple(views.grant_view(grant) for grant in self.grants.list()),
            sessions=tuple(views.session_view(s, self.broker) for s in self._sessions.values()),
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
        attending = self.broker.subscribe(surface) if surface else None
        self._surfaces[surface] += bool(surface)
        seen = -1
        try:
            while True:
                async with self._changed:
                    while self._version == seen:
                        await self._changed.wait()
                    seen = self._version
                await push(self.state())
        finally:
            if attending is not None:
                attending.close()
                self._surfaces[surface] -= 1

    async def _follow_broker(self) -> None:
        with contextlib.closing(self.broker.subscribe()) as changes:
            while await changes.next() is not None:
                await self._touch()

    async def _tick(self) -> None:
        """Counts change with every act; front ends hear of it a few times a second."""
        before: tuple[object, ...] = ()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            reap_orphans()
            counts = tuple((s.id, s.gate.counts) for s in self._sessions.values())
            if counts != before:
                before = counts
                await self._touch()

    def _look_into(self, facts: SessionFile, request: ApprovalRequest, event: Event) -> None:
        tasks.spawn(self._add_dossier(facts.runner.pid, request, event), name="dossier")

    async def _add_dossier(self, runner_pid: int, request: ApprovalRequest, event: Event) -> None:
        dossier = await self._lookups.run(lambda: dossier_of(request, event, runner_pid))
        pending = {waiting.id for waiting in self.broker.snapshot().pending}
        self._dossiers = {id_: kept for id_, kept in self._dossiers.items() if id_ in pending}
        if dossier is not None and request.id in pending:
            self._dossiers[request.id] = dossier
            await self._touch()

    async def _touch(self) -> None:
        async with self._changed:
            self._version += 1
            self._changed.notify_all()

    # inside

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise VaultroomError(f"expected an open session, found none with id {session_id}")
        return session

    async def _load(self, data: bytes, name: str, environ: Any, home: str) -> Policy:
        policy = await asyncio.to_thread(load_policy, data, name=name, environ=environ, home=home)
        wanted = audit_path(policy, self._home)
        if wanted != self.audit_db:
            raise PolicyError(
                f"{name}: expected audit.path to be the host's log {self.audit_db}, found {wanted}",
                advice="Close the running host first, or use its log.",
            )
        return policy

    async def _open_in_log(self, facts: SessionFile, text: bytes) -> None:
        opening = record.SessionStart(
            id=facts.id,
            agent_name=facts.agent_name,
            agent_command=facts.agent_command,
            policy_hash=facts.policy_hash,
            policy_text=text,
            start_cwd=facts.cwd,
        )
        await asyncio.wrap_future(self.log.open_session(opening))

    async def _serve(self, facts: SessionFile, policy: Policy, text: bytes) -> tuple[str, ...]:
        """Make the session's gate, shims and socket; gives warnings for the user."""
        gate = await asyncio.to_thread(
            build_gate,
            facts,
            policy,
            text,
            guard=self._guard,
            log=self.log,
            broker=self.broker,
            grants=self.grants,
            lookups=self._lookups,
            asked=lambda request, event: self._look_into(facts, request, event),
        )
        socket_path = self._home.session_socket(facts.id)
        report = await asyncio.to_thread(
            install_shims,
            self._home.shims / facts.id,
            policy.shims.binaries,
            socket=socket_path,
            shims_root=self._home.shims,
            path=facts.path,
        )
        events = ShimEvents(facts, self._lookups)
        session = Session(facts=facts, policy=policy, gate=gate, started_at=clock.rfc3339(clock.now_ns()))
        session.socket = SessionSocket(socket_path, gate, events.build, events.refused)
        await session.socket.open()
        self._sessions[facts.id] = session
        session.watching = tasks.spawn(self._watch(session), name=f"watch {facts.id}")
        await self._touch()
        return tuple(f"shim skipped, not found in PATH: {name}" for name in report.skipped)

    async def _watch(self, session: Session) -> None:
        """Close a session whose runner and child both ended without saying so."""
        await process_end(session.facts.runner)
        await process_end(session.facts.child)
        with contextlib.suppress(StoreError, VaultroomError):
            await self.close_session(session.id, reason="runner-lost", code=None)

    async def _forget(self, session_id: str, *, reason: str, code: int | None) -> None:
        """Remove what the session left on the disk and seal its chain."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(remove_shims, self._home.shims / session_id)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._home.session_socket(session_id))
        self._files.remove(session_id)
        await asyncio.wrap_future(self.log.close_session(session_id, reason, code))

    async def _take_over(self) -> None:
        """Go on with sessions of a lost host whose agents live; seal the others."""
        files = {facts.id: facts for facts in self._files}
        for left in self.log.sessions_unsealed():
            facts = files.pop(left.id, None)
            text = await asyncio.to_thread(self._policy_text, left.policy_hash)
            opening = record.SessionStart(
                id=left.id,
                agent_name=left.agent_name,
                agent_command=left.agent_command,
                policy_hash=left.policy_hash,
                policy_text=text,
                start_cwd=left.start_cwd,
                segment=left.segment + 1,
            )
            lost = await asyncio.to_thread(unanswered_of, self.audit_db, left.id)
            await asyncio.wrap_future(self.log.open_session(opening))
            for act in lost:
                await self.log.append(act.withdrawal())
            if facts is not None and facts.alive():
                policy = await self._load(text, facts.policy_name, os.environ, facts.home)
                await self._serve(facts, policy, text)
            else:
                await self._forget(left.id, reason="host-lost", code=None)
        for facts in files.values():
            if facts.audit_db == str(self.audit_db):
                self._files.remove(facts.id)

    def _policy_text(self, policy_hash: str) -> bytes:
        with AuditReader(self.audit_db) as log:
            text = log.policy(policy_hash)
        if text is None:
            raise StoreError(
                f"expected the log {self.audit_db} to hold policy {policy_hash}, it does not",
                advice="Check the log with: vaultroom verify",
            )
        return text

"""The supervisor: opens and closes sessions, takes over those of a lost host, answers commands.

It wires the parts and decides nothing about acts: that is the gate's. Everything here runs on the
supervisor's own loop. Start-up order of a session: policy, log, shims, socket, child (design section 6).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vaultroom import clock, tasks
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.audit import record
from vaultroom.audit.writer import AuditWriter
from vaultroom.control.protocol import (
    AnswerCommand,
    SessionGrant,
    SessionStart,
)
from vaultroom.errors import PolicyError, StoreError, VaultroomError
from vaultroom.events import Action, new_ulid
from vaultroom.intercept.shims import install_shims, remove_shims
from vaultroom.paths import Home
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy
from vaultroom.signing import load_install_key
from vaultroom.supervisor import views
from vaultroom.supervisor.agents import Agents
from vaultroom.supervisor.assembly import audit_path, build_gate, home_guard, withheld_variables
from vaultroom.supervisor.control_server import ControlServer
from vaultroom.supervisor.environment import session_variables
from vaultroom.supervisor.frame_kinds import EvalFrames, HookFrames
from vaultroom.supervisor.front import FrontEnds
from vaultroom.supervisor.intake import Intake
from vaultroom.supervisor.ipc import SessionSocket
from vaultroom.supervisor.lookups import LookupThreads
from vaultroom.supervisor.session import Session
from vaultroom.supervisor.session_files import ProcessMark, SessionFile, SessionFiles
from vaultroom.supervisor.takeover import take_over
from vaultroom.supervisor.watch import process_end

FLUSH_SECONDS = 5.0
"""The hard deadline for flushing the log at the end (specification section 4.2)."""


class Supervisor:
    """One per home and host. Not thread-safe: call it on its loop."""

    def __init__(self, home: Home, audit_db: Path) -> None:
        self._home = home
        self.audit_db = audit_db
        self._sessions: dict[str, Session] = {}
        self._files = SessionFiles(home.sessions)
        self.lookups = LookupThreads()
        self._guard = home_guard(home, audit_db)
        self.log = AuditWriter(audit_db, load_install_key(home.keys))
        self.grants = GrantBook()
        self.broker = Broker(self.grants)
        self._control = ControlServer(home.control_socket, self)
        self._intake = Intake(home, self)
        self.agents = Agents(self)
        self.front = FrontEnds(
            self._sessions,
            broker=self.broker,
            grants=self.grants,
            log=self.log,
            audit_db=audit_db,
            lookups=self.lookups,
        )

    async def start(self) -> None:
        """Open the log, take over what a lost host left behind, then listen for commands.

        Raises StoreError when the log cannot be opened, OSError when the socket cannot.
        """
        await asyncio.to_thread(self.log.start)
        try:
            await take_over(self, self._files)
            self.front.start()
            await self._control.open()
            await self._intake.open()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Deny what waits, close every socket, flush the log. Sessions stay open for the next host."""
        await self._control.close()
        for session in self._sessions.values():
            if session.watching is not None:
                session.watching.cancel()
        await self.broker.close()
        await self._intake.stop_listening()
        for session in self._sessions.values():
            if session.socket is not None:
                await session.socket.drain()
                await session.socket.close()
        self.front.stop()
        await asyncio.to_thread(self.log.flush, FLUSH_SECONDS)
        await asyncio.to_thread(self.log.stop)
        self.lookups.close()

    # sessions

    async def open_session(self, start: SessionStart, runner_pid: int) -> SessionGrant:
        """Open a session for the runner with `runner_pid`.

        Raises PolicyError for a policy that cannot be loaded or belongs to another log, StoreError when the
        log cannot take the session, OSError when its socket or shims cannot be made.
        """
        policy = await self.load(start.policy, start.policy_name, start.environ, start.home)
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
        warnings = await self.begin(facts, policy, start.policy)
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

    async def begin(self, facts: SessionFile, policy: Policy, text: bytes) -> tuple[str, ...]:
        """Open a session in the log, then serve it; gives warnings. Raises StoreError and OSError."""
        await self._open_in_log(facts, text)
        try:
            self._files.save(facts)
            return await self.serve(facts, policy, text)
        except BaseException:
            await self.forget(facts.id, reason="start-failed", code=None)
            raise

    def session_of_intake(self, key: str) -> Session | None:
        """The live session that hooks opened under `key`."""
        return next((session for session in self.intake_sessions() if session.facts.intake == key), None)

    def intake_sessions(self) -> list[Session]:
        """The live sessions that hooks opened."""
        return [s for s in self._sessions.values() if s.facts.intake and not s.closing]

    async def child_started(self, session_id: str, pid: int) -> None:
        session = self.session(session_id)
        session.facts = replace(session.facts, child=ProcessMark.of(pid))
        self._files.save(session.facts)
        await self.front.touch()

    async def close_session(self, session_id: str, *, reason: str, code: int | None) -> None:
        """Seal the session's chain, remove its socket and shims. Raises StoreError if it stays unsealed."""
        session = self.session(session_id)
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
        await self.forget(session_id, reason=reason, code=code)
        await self.front.touch()

    async def revoke(self, grant_id: str) -> bool:
        revoked = self.grants.revoke(grant_id)
        await self.front.touch()
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
        pid = note.get("pid")
        owner = next((s for s in self._sessions.values() if s.facts.child.pid == pid), None)
        owner = owner or next(iter(self._sessions.values()), None)
        if owner is None:
            return
        with contextlib.suppress(StoreError):
            entry = record.note_entry(owner.id, Action.SUSPICIOUS, note)
            await self.log.append(entry)

    # inside

    def session(self, session_id: str) -> Session:
        """The open session with this id. Raises VaultroomError when there is none."""
        session = self._sessions.get(session_id)
        if session is None:
            raise VaultroomError(f"expected an open session, found none with id {session_id}")
        return session

    async def load(self, data: bytes, name: str, environ: Mapping[str, str], home: str) -> Policy:
        """A session's policy. Raises PolicyError also where it belongs to another log than this host's."""
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

    async def serve(self, facts: SessionFile, policy: Policy, text: bytes) -> tuple[str, ...]:
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
            lookups=self.lookups,
            asked=lambda request, event: self.front.look_into(facts, request, event),
        )
        socket_path = self._home.session_socket(facts.id)
        report = await asyncio.to_thread(
            install_shims,
            self._home.shims / facts.id,
            () if facts.intake else policy.shims.binaries,
            socket=socket_path,
            shims_root=self._home.shims,
            path=facts.path,
        )
        session = Session(facts=facts, policy=policy, gate=gate, started_at=clock.rfc3339(clock.now_ns()))
        session.socket = SessionSocket(
            socket_path,
            {"eval": EvalFrames(facts, gate, self.lookups), "hook": HookFrames(facts, gate, self.lookups)},
        )
        await session.socket.open()
        self._sessions[facts.id] = session
        session.watching = tasks.spawn(self._watch(session), name=f"watch {facts.id}")
        await self.front.touch()
        return tuple(f"shim skipped, not found in PATH: {name}" for name in report.skipped)

    async def _watch(self, session: Session) -> None:
        """Close a session whose runner and child both ended without saying so."""
        await process_end(session.facts.runner)
        await process_end(session.facts.child)
        reason = "exit" if session.facts.intake else "runner-lost"
        with contextlib.suppress(StoreError, VaultroomError):
            await self.close_session(session.id, reason=reason, code=None)

    async def forget(self, session_id: str, *, reason: str, code: int | None) -> None:
        """Remove what the session left on the disk and seal its chain."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(remove_shims, self._home.shims / session_id)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._home.session_socket(session_id))
        self._files.remove(session_id)
        await asyncio.wrap_future(self.log.close_session(session_id, reason, code))

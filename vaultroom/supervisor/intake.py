"""The home's intake: hooks of agents that were not started by `vaultroom run` (design section 1).

Each session of an agent becomes a session here, under the policy that counts for its folder, with its own
chain. It ends with the agent's process, or when nothing was heard of it for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

from vaultroom import clock, tasks
from vaultroom.errors import FrameError, StoreError, VaultroomError
from vaultroom.events import Effect, Event, new_ulid
from vaultroom.gate.judge import Outcome
from vaultroom.gate.lineage import calling_process
from vaultroom.intercept.hooks.hook_events import HookFrame, answer_frame, read_frame
from vaultroom.paths import Home
from vaultroom.supervisor.frame_kinds import FRAME_RULE, HookFrames
from vaultroom.supervisor.ipc import Frame, SessionSocket
from vaultroom.supervisor.policy_choice import choose_policy
from vaultroom.supervisor.session_files import ProcessMark, SessionFile

if TYPE_CHECKING:
    from vaultroom.supervisor.session import Session
    from vaultroom.supervisor.supervisor import Supervisor

IDLE_SECONDS = 1800.0
"""After so long without a hook a session is closed; the next hook opens another."""

LOOK_SECONDS = 30.0
MOST_SESSIONS = 64
"""Ad-hoc sessions at once."""


class NoSession(FrameError):
    """No session can be opened for an agent; says why."""


class Intake:
    """Serves the intake socket, and keeps the sessions that came through it. Lives on the host's loop."""

    def __init__(self, home: Home, supervisor: Supervisor) -> None:
        self._home = home
        self._supervisor = supervisor
        self._socket = SessionSocket(home.intake_socket, {"hook": self})
        self._heard: dict[str, float] = {}
        self._opening = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Raises OSError when the socket cannot be made."""
        await self._socket.open()
        self._looking = tasks.spawn(self._close_idle(), name="intake")

    async def stop_listening(self) -> None:
        """Let acts that are being judged get their answer, then close. Sessions stay."""
        if self._looking is not None:
            self._looking.cancel()
        await self._socket.drain()
        await self._socket.close()

    # the frames

    async def read(self, frame: dict[str, Any], pid: int) -> Event:
        """Raises FrameError for what makes no sense, and where no session can be opened."""
        question = read_frame(frame)
        call = question.call()
        session = await self._session(question, f"{call.agent}:{call.session}", call.cwd, pid)
        return await self._frames(session).event(question, call, pid)

    async def judge(self, event: Event, frame: Frame) -> Outcome:
        try:
            session = self._supervisor.session(event.session_id)
        except VaultroomError as error:
            return Outcome(Effect.DENY, FRAME_RULE, str(error))
        return await self._frames(session).judge(event, frame)

    async def refuse(self, frame: Frame, pid: int, why: str) -> Outcome:
        """Recorded in the agent's session; one that does not say which has one for its process."""
        try:
            question = read_frame(dict(frame))
            session = await self._session(question, *await self._claimed(question, pid), pid)
        except FrameError:
            await self._supervisor.suspicious({"what": "a hook was refused", "pid": pid, "why": why})
            return Outcome(Effect.DENY, FRAME_RULE, why)
        return await self._frames(session).refuse(frame, pid, why)

    def answer(self, frame: Frame, outcome: Outcome) -> dict[str, Any]:
        return answer_frame(frame.get("agent"), outcome)

    async def _claimed(self, question: HookFrame, pid: int) -> tuple[str, str]:
        """Key and folder of the session that a refused frame belongs to."""
        with contextlib.suppress(FrameError):
            call = question.call()
            return f"{call.agent}:{call.session}", call.cwd
        agent = calling_process(pid, question.adapter.processes) or pid
        return f"{question.adapter.name}:process {agent}", question.cwd

    def _frames(self, session: Session) -> HookFrames:
        return HookFrames(session.facts, session.gate, self._supervisor.lookups)

    # the sessions

    async def _session(self, question: HookFrame, key: str, cwd: str, pid: int) -> Session:
        async with self._opening:
            session = self._supervisor.session_of_intake(key)
            if session is None:
                session = await self._open(question, key, cwd, pid)
        self._heard[session.id] = clock.monotonic()
        return session

    async def _open(self, question: HookFrame, key: str, cwd: str, pid: int) -> Session:
        if len(self._supervisor.intake_sessions()) >= MOST_SESSIONS:
            raise NoSession(f"{MOST_SESSIONS} sessions of agents are open already; no more than that may be")
        agent = calling_process(pid, question.adapter.processes)
        # An agent that cannot be seen from here (in a container, say) ends by being idle.
        runner = ProcessMark.of(os.getpid() if agent is None else agent)
        home = os.path.expanduser("~")
        try:
            chosen = await asyncio.to_thread(choose_policy, None, home=self._home, cwd=cwd)
            policy = await self._supervisor.load(chosen.data, str(chosen.path), os.environ, home)
            facts = SessionFile(
                id=new_ulid(),
                agent_name=question.adapter.name,
                agent_command=(question.adapter.name,),
                cwd=cwd,
                home=home,
                path=os.environ.get("PATH", os.defpath),
                policy_hash=policy.policy_hash,
                policy_name=str(chosen.path),
                audit_db=str(self._supervisor.audit_db),
                runner=runner,
                child=ProcessMark() if agent is None else runner,
                intake=key,
            )
            await self._supervisor.begin(facts, policy, chosen.data)
        except VaultroomError as error:
            raise NoSession(f"{error} {error.advice}".strip()) from None
        except OSError as error:
            raise NoSession(f"no session can be opened: {error}") from None
        return self._supervisor.session(facts.id)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.close_idle()

    async def close_idle(self) -> None:
        """Close the sessions of which nothing was heard for `IDLE_SECONDS`."""
        live = self._supervisor.intake_sessions()
        now = clock.monotonic()
        self._heard = {session.id: self._heard.get(session.id, now) for session in live}
        for session in live:
            if now - self._heard[session.id] >= IDLE_SECONDS and not session.gate.is_asking:
                with contextlib.suppress(StoreError, VaultroomError):
                    await self._supervisor.close_session(session.id, reason="idle", code=None)

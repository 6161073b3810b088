"""What a person does to agents: start one here, read its output, freeze, thaw or end one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vaultroom import tasks
from vaultroom.control.protocol import Output, SessionStart, Steer
from vaultroom.errors import VaultroomError
from vaultroom.supervisor.child import end_group, signal_group
from vaultroom.supervisor.environment import child_environment
from vaultroom.supervisor.launched import LaunchedChild, OutputBuffer

if TYPE_CHECKING:
    from vaultroom.supervisor.supervisor import Supervisor

KEPT_OUTPUTS = 20
"""Outputs of launched agents that are kept after their end."""


class Agents:
    """The agents of a supervisor's sessions."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._outputs: dict[str, OutputBuffer] = {}

    async def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        """Open a session and run its agent here, with its output kept. Gives the session's id.

        Raises what `Supervisor.open_session` raises, and VaultroomError when the program cannot be started.
        """
        grant = await self._supervisor.open_session(start, os.getpid())
        loop = asyncio.get_running_loop()

        def ended(code: int) -> None:
            with contextlib.suppress(RuntimeError):  # the host closed meanwhile
                loop.call_soon_threadsafe(self._spawn_ended, grant.id, code)

        try:
            child = await asyncio.to_thread(
                LaunchedChild,
                start.agent_command,
                environ=child_environment(environ, grant.environ, grant.withheld),
                cwd=start.cwd,
                ended=ended,
                brand=self._supervisor.brand,
            )
        except OSError as error:
            await self._supervisor.close_session(grant.id, reason="start-failed", code=None)
            raise VaultroomError(f"the agent cannot be started: {error}") from error
        self._supervisor.session(grant.id).launched = True
        self._outputs[grant.id] = child.output
        while len(self._outputs) > KEPT_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        await self._supervisor.child_started(grant.id, child.pid)
        return grant.id

    def _spawn_ended(self, session_id: str, code: int) -> None:
        tasks.spawn(self._ended(session_id, code), name="agent ended")

    async def _ended(self, session_id: str, code: int) -> None:
        with contextlib.suppress(VaultroomError):
            await self._supervisor.close_session(session_id, reason="exit", code=code)

    def output(self, session_id: str, after: int) -> Output:
        """What a launched agent printed, also for a while after its end. Raises VaultroomError."""
        buffer = self._outputs.get(session_id)
        if buffer is None:
            raise VaultroomError(f"the output of session {session_id} is not kept here")
        return buffer.read(after)

    async def steer(self, session_id: str, what: Steer) -> None:
        """Freeze, thaw or end an agent. Raises VaultroomError when it does not run."""
        session = self._supervisor.session(session_id)
        if not session.facts.child.alive():
            raise VaultroomError(f"the agent of session {session_id} does not run")
        if what is Steer.STOP:
            session.stopped = True
            self._supervisor.broker.stop_session(session_id, by="tui")
            tasks.spawn(end_group(session.facts.child), name="end agent")
        else:
            session.frozen = what is Steer.FREEZE
            number = signal.SIGSTOP if session.frozen else signal.SIGCONT
            signal_group(session.facts.child.pid, number)
        await self._supervisor.front.touch()

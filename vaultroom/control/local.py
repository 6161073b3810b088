"""Control in the host's own process: the same calls, straight to the supervisor's loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from vaultroom.control.protocol import AnswerCommand, Output, SessionGrant, SessionStart, State, Steer
from vaultroom.supervisor.host import Host


class LocalControl:
    """The handle of a front end that lives with the supervisor."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def open_session(self, start: SessionStart) -> SessionGrant:
        return self._host.call(self._host.supervisor.open_session(start, os.getpid()))

    def rejoin_session(self, session_id: str) -> bool:
        return self._host.supervisor.holds_session(session_id, os.getpid())

    def child_started(self, session_id: str, pid: int) -> None:
        self._host.call(self._host.supervisor.child_started(session_id, pid))

    def close_session(self, session_id: str, code: int) -> None:
        self._host.call(self._host.supervisor.close_session(session_id, reason="exit", code=code))

    def answer(self, command: AnswerCommand) -> str:
        return self._host.call(self._host.supervisor.answer(command))

    def state(self) -> State:
        async def take() -> State:
            return self._host.supervisor.front.state()

        return self._host.call(take())

    def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        return self._host.call(self._host.supervisor.agents.launch(start, environ))

    def output(self, session_id: str, after: int) -> Output:
        return self._host.supervisor.agents.output(session_id, after)

    def steer(self, session_id: str, what: Steer) -> None:
        self._host.call(self._host.supervisor.agents.steer(session_id, what))

    def revoke(self, grant_id: str) -> bool:
        return self._host.call(self._host.supervisor.revoke(grant_id))

    def watch(self, receive: Callable[[State], None], surface: str = "") -> Callable[[], None]:
        async def deliver(state: State) -> None:
            receive(state)

        feeding = self._host.submit(self._host.supervisor.front.feed(deliver, surface))

        def stop() -> None:
            feeding.cancel()

        return stop

    def close(self) -> None:
        """Nothing to do: the host is stopped by who started it."""

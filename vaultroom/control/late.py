"""A control that is opened by its first call, on the caller's thread.

So that a screen can be painted before the host it will show is found or started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from vaultroom.control.protocol import (
    AnswerCommand,
    Control,
    Output,
    SessionGrant,
    SessionStart,
    State,
    Steer,
)


class LateControl:
    """Passes every call on to the control that `open_control` gives. Calls raise what opening raises."""

    def __init__(self, open_control: Callable[[], Control]) -> None:
        self._open = open_control
        self._control: Control | None = None
        self._lock = threading.Lock()

    def _now(self) -> Control:
        with self._lock:
            if self._control is None:
                self._control = self._open()
            return self._control

    def open_session(self, start: SessionStart) -> SessionGrant:
        return self._now().open_session(start)

    def rejoin_session(self, session_id: str) -> bool:
        return self._now().rejoin_session(session_id)

    def child_started(self, session_id: str, pid: int) -> None:
        self._now().child_started(session_id, pid)

    def close_session(self, session_id: str, code: int) -> None:
        self._now().close_session(session_id, code)

    def answer(self, command: AnswerCommand) -> str:
        return self._now().answer(command)

    def state(self) -> State:
        return self._now().state()

    def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        return self._now().launch(start, environ)

    def output(self, session_id: str, after: int) -> Output:
        return self._now().output(session_id, after)

    def steer(self, session_id: str, what: Steer) -> None:
        self._now().steer(session_id, what)

    def revoke(self, grant_id: str) -> bool:
        return self._now().revoke(grant_id)

    def watch(self, receive: Callable[[State], None], surface: str = "") -> Callable[[], None]:
        return self._now().watch(receive, surface)

    def close(self) -> None:
        with self._lock:
            if self._control is not None:
                self._control.close()

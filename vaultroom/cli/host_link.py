"""A runner's line to its host, which may be lost and come back (design section 1).

While the host is gone, shims refuse by themselves. When the next host opens, it takes the session over
from its file; this end finds it, says that it still holds the session, and listens again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from vaultroom.cli.output import say
from vaultroom.control.protocol import AnswerCommand, Control, State
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable, VaultroomError
from vaultroom.paths import Home

RETRY_SECONDS = 0.25


class HostLink:
    """Holds `control` for one session and renews it. `receive` gets every state of the host, and
    None when it is lost; `surface` is `tty` where somebody can be asked here."""

    def __init__(
        self,
        home: Home,
        control: Control,
        session_id: str,
        receive: Callable[[State | None], None],
    ) -> None:
        self._home = home
        self._session_id = session_id
        self._receive = receive
        self._surface = ""
        self._control = control
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def control(self) -> Control:
        return self._control

    def start(self, surface: str) -> None:
        self._surface = surface
        self._control.watch(self._receive, self._surface)
        if isinstance(self._control, RemoteControl):
            self._thread = threading.Thread(target=self._keep, name="host link", daemon=True)
            self._thread.start()

    def answer(self, command: AnswerCommand) -> str:
        """As Control.answer; `unknown` while the host is gone."""
        try:
            return self._control.answer(command)
        except HostUnavailable:
            return "unknown"

    def close(self) -> None:
        self._ending.set()
        self._control.close()
        if self._thread is not None:
            self._thread.join(2.0)

    def _keep(self) -> None:
        while isinstance(self._control, RemoteControl):
            self._control.lost.wait()
            if self._ending.is_set():
                return
            self._receive(None)
            say("vaultroom: the host is gone; acts are refused until the next one opens")
            while not self._ending.wait(RETRY_SECONDS):
                if self._renew():
                    say("vaultroom: a new host has taken the session over")
                    break
            else:
                return

    def _renew(self) -> bool:
        try:
            control = RemoteControl(self._home.host_socket())
        except VaultroomError:
            return False
        try:
            if control.rejoin_session(self._session_id):
                control.watch(self._receive, self._surface)
                self._control = control
                return True
        except VaultroomError:
            pass
        control.close()
        return False

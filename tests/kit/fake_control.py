"""A host that is not there: answers what a test tells it to, and keeps what it was told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests.kit import views
from vaultroom.control.protocol import AnswerCommand, Output, SessionGrant, SessionStart, State, Steer
from vaultroom.errors import HostUnavailable, VaultroomError


@dataclass
class FakeControl:
    """Implements `Control` for front ends. `push` is what a host does when something changed."""

    shown: State = field(default_factory=views.state)
    word: str = "accepted"
    """What `answer` gives."""
    printed: str = ""
    """What launched agents have printed so far."""
    closed: bool = False
    refusal: VaultroomError | None = None
    answers: list[AnswerCommand] = field(default_factory=list)
    steered: list[tuple[str, Steer]] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)
    surfaces: list[str] = field(default_factory=list)
    gone: bool = False
    _receivers: list[Callable[[State], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def push(self, state: State) -> None:
        """A newer state; its version is set."""
        with self._lock:
            self.shown = replace(state, version=self.shown.version + 1)
            receivers = list(self._receivers)
        for receive in receivers:
            receive(self.shown)

    def answer(self, command: AnswerCommand) -> str:
        self._present()
        self.answers.append(command)
        if self.word == "accepted":
            left = tuple(r for r in self.shown.requests if r.id != command.request)
            self.push(replace(self.shown, requests=left))
        return self.word

    def state(self) -> State:
        self._present()
        return self.shown

    def output(self, session_id: str, after: int) -> Output:
        self._present()
        data = self.printed.encode()
        part = data[after : after + 65536]
        end = after + len(part)
        return Output(after, end, part.decode(errors="replace"), self.closed and end >= len(data))

    def steer(self, session_id: str, what: Steer) -> None:
        self._present()
        self.steered.append((session_id, what))

    def revoke(self, grant_id: str) -> bool:
        self._present()
        self.revoked.append(grant_id)
        return True

    def watch(self, receive: Callable[[State], None], surface: str = "") -> Callable[[], None]:
        self._present()
        self.surfaces.append(surface)
        with self._lock:
            self._receivers.append(receive)
        receive(self.shown)

        def stop() -> None:
            with self._lock:
                self._receivers.remove(receive)

        return stop

    def close(self) -> None:
        self.gone = True

    def open_session(self, start: SessionStart) -> SessionGrant:
        raise NotImplementedError

    def rejoin_session(self, session_id: str) -> bool:
        raise NotImplementedError

    def child_started(self, session_id: str, pid: int) -> None:
        raise NotImplementedError

    def close_session(self, session_id: str, code: int) -> None:
        raise NotImplementedError

    def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        raise NotImplementedError

    def _present(self) -> None:
        if self.gone:
            raise HostUnavailable("the Vaultroom host is gone", advice="Open the room again.")
        if self.refusal is not None:
            raise self.refusal

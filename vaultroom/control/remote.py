"""Control from another process: commands and snapshots over the host's control socket.

Standard library only, since `vaultroom approve` must start fast. One thread reads the socket; callers
wait for the answer with their number.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vaultroom import wire
from vaultroom.control.protocol import (
    PROTOCOL,
    AnswerCommand,
    Output,
    SessionGrant,
    SessionStart,
    State,
    Steer,
)
from vaultroom.errors import FrameError, HostUnavailable, VaultroomError

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 30.0
"""How long a command may take; approvals are not waited for here."""


class RemoteControl:
    """A client of the host that listens on `path`. Raises HostUnavailable when nobody does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._receivers: list[Callable[[State], None]] = []
        self._lost = threading.Event()
        self._socket = _connect(path)
        self._reader = threading.Thread(target=self._read, name="control-reader", daemon=True)
        self._reader.start()
        try:
            greeting = self._call("hello", {"protocol": PROTOCOL})
        except BaseException:
            self.close()
            raise
        self.host_pid: int = greeting["pid"]

    @property
    def lost(self) -> threading.Event:
        """Set once the connection is gone."""
        return self._lost

    def open_session(self, start: SessionStart) -> SessionGrant:
        return SessionGrant.from_dict(self._call("session.open", start.to_dict()))

    def rejoin_session(self, session_id: str) -> bool:
        return bool(self._call("session.rejoin", {"session": session_id}))

    def child_started(self, session_id: str, pid: int) -> None:
        self._call("session.started", {"session": session_id, "pid": pid})

    def close_session(self, session_id: str, code: int) -> None:
        self._call("session.close", {"session": session_id, "code": code})

    def answer(self, command: AnswerCommand) -> str:
        return str(self._call("approve.answer", command.to_dict()))

    def state(self) -> State:
        return State.from_dict(self._call("state", {}))

    def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        return str(self._call("session.launch", {"start": start.to_dict(), "environ": dict(environ)}))

    def output(self, session_id: str, after: int) -> Output:
        return Output.from_dict(self._call("session.output", {"session": session_id, "after": after}))

    def steer(self, session_id: str, what: Steer) -> None:
        self._call("session.steer", {"session": session_id, "what": what.value})

    def revoke(self, grant_id: str) -> bool:
        return bool(self._call("grant.revoke", {"grant": grant_id}))

    def watch(self, receive: Callable[[State], None], surface: str = "") -> Callable[[], None]:
        with self._lock:
            self._receivers.append(receive)
        self._call("watch", {"surface": surface})

        def stop() -> None:
            with self._lock, contextlib.suppress(ValueError):
                self._receivers.remove(receive)

        return stop

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if threading.current_thread() is not self._reader:
            self._reader.join(CONNECT_SECONDS)

    def _call(self, operation: str, arguments: dict[str, Any]) -> Any:
        number = next(self._numbers)
        box: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._lock:
            self._answers[number] = box
        try:
            frame = wire.encode({"n": number, "op": operation, "args": arguments})
            try:
                with self._sending:
                    self._socket.sendall(frame)
            except OSError as error:
                raise self._gone() from error
            if self._lost.is_set() and box.empty():  # an answer may have come before the end
                raise self._gone()
            try:
                answer = box.get(timeout=ANSWER_SECONDS)
            except queue.Empty:
                raise HostUnavailable(
                    f"the host did not answer {operation!r} within {ANSWER_SECONDS:.0f} s"
                ) from None
        finally:
            with self._lock:
                self._answers.pop(number, None)
        if answer is None:
            raise self._gone()
        if answer.get("ok") is True:
            return answer.get("value")
        raise _refusal(answer.get("error"))

    def _gone(self) -> HostUnavailable:
        return HostUnavailable(
            f"the Vaultroom host at {self._path} is gone",
            advice="Open the room again (vaultroom), or start vaultroom daemon.",
        )

    def _read(self) -> None:
        try:
            while True:
                header = _receive(self._socket, wire.HEADER.size)
                self._dispatch(wire.decode(_receive(self._socket, wire.body_length(header))))
        except (OSError, FrameError, EOFError, KeyError, TypeError):
            pass
        finally:
            self._lost.set()
            with self._lock:
                waiting = list(self._answers.values())
            for box in waiting:
                box.put(None)

    def _dispatch(self, message: dict[str, Any]) -> None:
        if message.get("push") == "state":
            state = State.from_dict(message["value"])
            with self._lock:
                receivers = list(self._receivers)
            for receive in receivers:
                receive(state)
            return
        with self._lock:
            box = self._answers.get(message["n"])
        if box is not None:
            box.put(message)


def _connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    try:
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        raise HostUnavailable(
            f"no Vaultroom host answers at {path} ({error.strerror or error})",
            advice="Open the room (vaultroom), or start vaultroom daemon.",
        ) from error
    connection.settimeout(None)
    return connection


def _receive(connection: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        chunk = connection.recv(count - len(parts))
        if not chunk:
            raise EOFError
        parts += chunk
    return bytes(parts)


def _refusal(error: Any) -> VaultroomError:
    if not isinstance(error, dict):
        return VaultroomError("the host refused without a reason")
    from vaultroom import errors

    kinds = {
        "PolicyError": errors.PolicyError,
        "StoreError": errors.StoreError,
        "HostUnavailable": errors.HostUnavailable,
    }
    kind = kinds.get(str(error.get("kind")), VaultroomError)
    return kind(str(error.get("message", "")), advice=str(error.get("advice", "")))

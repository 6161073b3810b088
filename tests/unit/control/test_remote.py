"""The client of the control socket against a host that behaves, misbehaves and dies."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.unit.control.test_protocol import ANSWER, STATE
from vaultroom import wire
from vaultroom.control.protocol import State
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable, PolicyError, StoreError, VaultroomError

Answerer = Callable[[socket.socket, dict[str, Any]], None]


@contextmanager
def host(path: Path, answer: Answerer) -> Iterator[None]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                while header := connection.recv(4, socket.MSG_WAITALL):
                    body = connection.recv(wire.body_length(header), socket.MSG_WAITALL)
                    message = wire.decode(body)
                    if message["op"] == "hello":
                        connection.sendall(wire.encode({"n": message["n"], "ok": True, "value": {"pid": 7}}))
                    else:
                        answer(connection, message)
            except OSError:
                pass

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    listener.close()
    thread.join(5)


def test_answers_find_their_callers(tmp_path: Path) -> None:
    def answer(connection: socket.socket, message: dict[str, Any]) -> None:
        value = "accepted" if message["op"] == "approve.answer" else STATE.to_dict()
        connection.sendall(wire.encode({"n": message["n"], "ok": True, "value": value}))

    with host(tmp_path / "s", answer):
        control = RemoteControl(tmp_path / "s")
        assert control.host_pid == 7
        assert control.answer(ANSWER) == "accepted"
        assert control.state() == STATE
        control.close()
        assert control.lost.is_set()


def test_a_watch_receives_pushes(tmp_path: Path) -> None:
    def answer(connection: socket.socket, message: dict[str, Any]) -> None:
        connection.sendall(wire.encode({"n": message["n"], "ok": True, "value": None}))
        connection.sendall(wire.encode({"push": "state", "value": STATE.to_dict()}))

    got: list[Any] = []
    arrived = threading.Event()

    def receive(state: State) -> None:
        got.append(state)
        arrived.set()

    with host(tmp_path / "s", answer):
        control = RemoteControl(tmp_path / "s")
        control.watch(receive)
        assert arrived.wait(5)
        control.close()
    assert got == [STATE]


@pytest.mark.parametrize(
    ("kind", "error"),
    [("PolicyError", PolicyError), ("StoreError", StoreError), ("Strange", VaultroomError)],
)
def test_a_refusal_keeps_its_kind(tmp_path: Path, kind: str, error: type[VaultroomError]) -> None:
    def answer(connection: socket.socket, message: dict[str, Any]) -> None:
        refusal = {"kind": kind, "message": "no", "advice": "try"}
        connection.sendall(wire.encode({"n": message["n"], "ok": False, "error": refusal}))

    with host(tmp_path / "s", answer):
        control = RemoteControl(tmp_path / "s")
        with pytest.raises(error, match="no") as caught:
            control.state()
        assert caught.value.advice == "try"
        control.close()


@pytest.mark.parametrize(
    "rubbish", [b"", b"\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x02[]", b"\0\0\0\x02{}", b'\0\0\0\x09{"n":[]}x']
)
def test_a_host_that_dies_or_talks_rubbish_is_gone(tmp_path: Path, rubbish: bytes) -> None:
    def answer(connection: socket.socket, message: dict[str, Any]) -> None:
        connection.sendall(rubbish)
        connection.close()

    with host(tmp_path / "s", answer):
        control = RemoteControl(tmp_path / "s")
        with pytest.raises(HostUnavailable):
            control.state()
        with pytest.raises(HostUnavailable):
            control.state()
        control.close()


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(HostUnavailable, match="no Vaultroom host answers"):
        RemoteControl(tmp_path / "none")
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / "stale"))
    stale.close()
    with pytest.raises(HostUnavailable):
        RemoteControl(tmp_path / "stale")


def test_a_refusal_that_is_followed_by_the_end_is_heard(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()

    def refuse() -> None:
        connection, _ = listener.accept()
        header = connection.recv(4, socket.MSG_WAITALL)
        message = wire.decode(connection.recv(wire.body_length(header), socket.MSG_WAITALL))
        error = {"kind": "Refused", "message": "refused: you are an agent", "advice": ""}
        connection.sendall(wire.encode({"n": message["n"], "ok": False, "error": error}))
        connection.close()

    for _ in range(20):
        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(VaultroomError, match="you are an agent") as caught:
            RemoteControl(tmp_path / "s")
        assert not isinstance(caught.value, HostUnavailable)
        thread.join()
    listener.close()

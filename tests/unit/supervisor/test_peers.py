from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultroom.platform import Peer
from vaultroom.supervisor.peers import Refusal, _agent_descent, examine

CONNECT = (
    "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
    "print('connected', flush=True); sys.stdin.read()"
)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(tmp_path / "s"))
    made.listen()
    yield made
    made.close()


def _connect(
    listener: socket.socket, *before: str, environ: dict[str, str] | None = None
) -> tuple[socket.socket, subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*before, sys.executable, "-c", CONNECT, listener.getsockname()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ or dict(os.environ),
    )
    connection, _ = listener.accept()
    assert process.stdout is not None
    process.stdout.readline()
    return connection, process


def _end(connection: socket.socket, process: subprocess.Popen[str]) -> None:
    connection.close()
    process.communicate("")


def test_the_user_may_command(listener: socket.socket) -> None:
    connection, process = _connect(listener)
    peer = examine(connection, runners=[], children=[], own_pid=0)
    assert peer == Peer(process.pid, os.geteuid())
    _end(connection, process)


def test_what_an_agent_started_may_not(listener: socket.socket) -> None:
    connection, process = _connect(listener)
    here = os.getpid()
    for runners, children, own in ([here], [], 0), ([], [here], 0), ([], [], here), ([], [process.pid], 0):
        refused = examine(connection, runners=runners, children=children, own_pid=own)
        assert isinstance(refused, Refusal)
        assert "descends from" in refused.why
    assert isinstance(examine(connection, runners=[process.pid], children=[], own_pid=0), Peer)
    _end(connection, process)


def test_a_process_of_a_session_may_not_even_after_detaching(listener: socket.socket) -> None:
    connection, process = _connect(
        listener, "setsid", environ={**os.environ, "VAULTROOM_SESSION": "01J00000000000000000000000"}
    )
    refused = examine(connection, runners=[], children=[], own_pid=0)
    assert isinstance(refused, Refusal)
    assert "started inside a session" in refused.why
    _end(connection, process)


def test_a_peer_that_ended_is_doubt(listener: socket.socket) -> None:
    connection, process = _connect(listener)
    process.communicate("")
    assert isinstance(examine(connection, runners=[], children=[], own_pid=0), Refusal)
    connection.close()


def test_an_ancestry_that_cannot_be_read_is_doubt() -> None:
    assert _agent_descent(5, set(), set(), 0, ancestors_of=lambda pid: None)

"""The thin hook client as a real process, against a small host that answers as it is told."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.intercept.hooks.client_files import hook_command, remove_clients, write_client, write_plugin
from vaultroom.intercept.hooks.known import ADAPTERS
from vaultroom.intercept.thin_code import base_interpreter, client_source
from vaultroom.paths import Home
from vaultroom.thin import hook_client
from vaultroom.wire import encode

Answer = Callable[[socket.socket], None]
AGENTS = tuple(ADAPTERS)


def says(code: int = 0, stdout: str = "", stderr: str = "") -> Answer:
    data = encode({"type": "hook", "code": code, "stdout": stdout, "stderr": stderr})
    return lambda connection: connection.sendall(data)


def body(data: bytes) -> Answer:
    return lambda connection: connection.sendall(struct.pack(">I", len(data)) + data)


@dataclass
class FakeHost:
    """Listens where a home's intake would; `answer` is what it does with a connection."""

    home: Home
    answer: Answer = field(default_factory=says)
    frames: list[dict[str, Any]] = field(default_factory=list)

    def listen(self, path: Path) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(16)
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return listener

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    header = connection.recv(4, socket.MSG_WAITALL)
                    data = connection.recv(struct.unpack(">I", header)[0], socket.MSG_WAITALL)
                    self.frames.append(json.loads(data))
                    self.answer(connection)
                except (OSError, struct.error):
                    continue


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    home = Home(config=tmp_path / "h", data=tmp_path / "h", run=tmp_path / "h" / "r")
    home.prepare()
    made = FakeHost(home)
    listener = made.listen(home.intake_socket)
    yield made
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def run(
    client: Path, data: bytes = b"{}", *, env: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [client], input=data, env=env or {}, capture_output=True, check=False, timeout=30, **options
    )


def assert_denied(agent: str, done: subprocess.CompletedProcess[bytes], why: str) -> None:
    assert done.returncode == 2, done
    assert done.stderr.startswith(b"vaultroom: denied: ")
    assert why in done.stderr.decode()
    text = done.stderr.decode().rstrip("\n")
    if agent in ("claude", "codex"):
        said = json.loads(done.stdout)["hookSpecificOutput"]
        assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", text)
    elif agent == "gemini":
        assert json.loads(done.stdout) == {"decision": "deny", "reason": text}
    else:
        assert done.stdout == b""


@pytest.mark.parametrize("agent", AGENTS)
def test_bytes_go_in_and_the_answer_comes_out(host: FakeHost, agent: str, tmp_path: Path) -> None:
    host.answer = says(7, '{"é":"\U0001f600"}\n', 'to "stderr"\\\n')
    client = write_client(host.home, agent)
    done = run(client, b'{"x":"\xff\x00\xc3\xa9"}', cwd=tmp_path)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (
        7, '{"é":"\U0001f600"}\n', 'to "stderr"\\\n',
    )  # fmt: skip
    (frame,) = host.frames
    assert frame["payload"].encode("utf-8", "surrogateescape") == b'{"x":"\xff\x00\xc3\xa9"}'
    assert frame | {"payload": ""} == {
        "type": "hook", "agent": agent, "payload": "", "cwd": str(tmp_path), "bytes": 12,
        "seconds": ADAPTERS[agent].hook_seconds - 5,
    }  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_host_everything_is_denied(host: FakeHost, agent: str) -> None:
    host.home.intake_socket.unlink()
    client = write_client(host.home, agent)
    done = run(client)
    assert_denied(agent, done, "no Vaultroom host answers")
    assert b"vaultroom init --remove" in done.stderr
    host.home.intake_socket.write_text("no socket")
    assert_denied(agent, run(client), "no Vaultroom host answers")


GOOD = encode({"type": "hook", "code": 0, "stdout": "", "stderr": ""})[4:]


@pytest.mark.parametrize(
    "answer",
    [
        lambda connection: None,
        lambda connection: connection.sendall(b"\0\0"),
        lambda connection: connection.sendall(b"\0\0\0\0"),
        lambda connection: connection.sendall(b"\xff\xff\xff\xff" + GOOD),
        lambda connection: connection.sendall(struct.pack(">I", len(GOOD)) + GOOD[:-1]),
        body(b"rubbish"),
        body(b" " + GOOD),
        body(GOOD + b" "),
        body(GOOD[:-1]),
        body(GOOD.replace(b"0", b"256")),
        body(GOOD.replace(b"0", b"-1")),
        body(GOOD.replace(b"0", b"00")),
        body(GOOD.replace(b"0", b"")),
        body(GOOD.replace(b"hook", b"verdict")),
        body(GOOD[:-1] + b',"code":0}'),
        body(GOOD.replace(b'"stdout":""', b'"stdout":"\\x"')),
        body(GOOD.replace(b'"stdout":""', b'"stdout":null')),
        body(GOOD.replace(b'"stdout":""', b'"stdout":"\xc3\xa9"')),
        body(encode({"type": "verdict", "effect": "allow", "rule_name": "", "message": ""})[4:]),
    ],
)  # fmt: skip
def test_anything_but_an_answer_is_a_deny(host: FakeHost, answer: Answer) -> None:
    host.answer = answer
    assert_denied("claude", run(write_client(host.home, "claude", native=True)), "its host")


@given(st.binary(max_size=60) | st.integers(0, len(GOOD)).flatmap(lambda at: st.just(GOOD[:at] + b"?")))
def test_no_rubbish_is_an_answer(data: bytes) -> None:
    with pytest.raises(hook_client.Unanswered):
        hook_client.answer(data)


@given(st.integers(0, 255), st.text(), st.text())
def test_every_answer_of_a_host_is_read(code: int, out: str, err: str) -> None:
    frame = encode({"type": "hook", "code": code, "stdout": out, "stderr": err})
    assert hook_client.answer(frame[4:]) == (code, out, err)


def test_a_late_answer_is_a_deny(host: FakeHost) -> None:
    host.answer = lambda connection: time.sleep(20)
    client = write_client(host.home, "claude", timeout=10)
    client.chmod(0o700)
    client.write_bytes(client.read_bytes().replace(b"seconds=7", b"seconds=1"))
    assert_denied("claude", run(client), "no answer came in time")


def test_an_agent_that_does_not_finish_its_question(host: FakeHost) -> None:
    client = write_client(host.home, "claude", timeout=10)
    client.chmod(0o700)
    client.write_bytes(client.read_bytes().replace(b"seconds=7", b"seconds=1"))
    waiting = subprocess.Popen(
        [client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert waiting.stdin is not None and waiting.stderr is not None
    assert waiting.wait(20) == 2
    assert b"no answer came in time" in waiting.stderr.read()
    waiting.communicate()


def test_a_huge_payload_is_told_to_the_host_by_its_length(host: FakeHost) -> None:
    host.answer = says(2, "", "too large\n")
    done = run(write_client(host.home, "claude"), b"x" * (50 << 20))
    assert (done.returncode, done.stderr) == (2, b"too large\n")
    assert (host.frames[0]["payload"], host.frames[0]["bytes"]) == ("", 50 << 20)
    run(write_client(host.home, "claude"), b"\xff" * (2 << 20))
    assert (host.frames[1]["payload"], host.frames[1]["bytes"]) == ("", 2 << 20)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "1>/dev/full", "0<&- 1>&- 2>&-"])
def test_closed_streams_never_let_a_call_run(host: FakeHost, agent: str, closed: str) -> None:
    adapter = ADAPTERS[agent]
    host.answer = says(adapter.denial.code, '{"a":1}', "denied\n")
    client = write_client(host.home, agent)
    done = subprocess.run(
        ["bash", "-c", f"echo '{{}}' | {client} {closed}"], capture_output=True, check=False
    )
    assert done.returncode == 2


def test_an_answer_that_cannot_be_printed_denies(host: FakeHost) -> None:
    host.answer = says(0, '{"decision":"deny"}')
    client = write_client(host.home, "gemini")
    done = subprocess.run(["bash", "-c", f"echo '{{}}' | {client} >/dev/full"], check=False)
    assert done.returncode == 2


def test_a_session_is_asked_where_its_socket_lies_in_the_run_folder(host: FakeHost, tmp_path: Path) -> None:
    session = FakeHost(host.home, answer=says(9))
    inside = host.home.run / "01J.sock"
    elsewhere = tmp_path / "x.sock"
    listeners = [session.listen(inside), session.listen(elsewhere)]
    client = write_client(host.home, "claude")
    assert run(client, env={"VAULTROOM_SOCK": str(inside)}).returncode == 9
    for odd in (str(elsewhere), f"{host.home.run}/../r/01J.sock", f"{host.home.run}/", "", "01J.sock"):
        assert run(client, env={"VAULTROOM_SOCK": odd}).returncode == 0
    baked = write_client(host.home, "codex", session_socket=elsewhere)
    assert run(baked).returncode == 9
    for listener in listeners:
        listener.close()


def test_a_missing_session_does_not_fall_back(host: FakeHost) -> None:
    client = write_client(host.home, "claude")
    done = run(client, env={"VAULTROOM_SOCK": str(host.home.run / "gone.sock")})
    assert_denied("claude", done, "no Vaultroom host answers")


@pytest.mark.parametrize("agent", AGENTS)
def test_native_hands_the_question_back_only_where_nobody_listens(host: FakeHost, agent: str) -> None:
    client = write_client(host.home, agent, native=True)
    host.answer = body(b"rubbish")
    assert run(client).returncode == 2
    host.home.intake_socket.unlink()
    done = run(client)
    assert (done.returncode, done.stderr) == (0, b"")
    if agent == "claude":
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"
    else:
        assert done.stdout == b""
    assert run(write_client(host.home, agent)).returncode == 2


def test_what_the_client_imports() -> None:
    """Built-in modules and `_socket`: anything else costs milliseconds in every act of an agent."""
    probe = (
        "import sys; before = set(sys.modules); names = {'__name__': 'client'}\n"
        f"exec(compile({client_source(hook_client)!r}, 'client', 'exec'), names)\n"
        "try: names['ask']('claude', b'/nowhere.sock', 1)\n"
        "except names['Unanswered'] as problem: names['deny'](('', '', 2), problem.text)\n"
        f"names['answer']({GOOD!r})\n"
        "print(' '.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [base_interpreter(), "-I", "-S", "-c", probe],
        input="{}",
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) <= {"_signal", "_socket", "posix"}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_broken_or_missing_client_denies(host: FakeHost, agent: str) -> None:
    client = write_client(host.home, agent)
    command = hook_command(client, agent)
    (host.home.hooks / ".hook_client.bin").unlink()
    (host.home.hooks / ".hook_client.py").unlink()
    assert (
        subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False).returncode == 2
    )
    client.unlink()
    gone = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False)
    assert gone.returncode == 2 and gone.stderr


def test_an_updated_interpreter_reads_the_source(host: FakeHost) -> None:
    client = write_client(host.home, "claude")
    client.chmod(0o700)
    text = client.read_bytes()
    client.write_bytes(text.replace(b"sys.hexversion == ", b"sys.hexversion == 1"))
    (host.home.hooks / ".hook_client.bin").unlink()
    host.answer = says(3)
    assert run(client).returncode == 3


def test_files_are_private_and_removed(host: FakeHost) -> None:
    clients = [write_client(host.home, agent, native=True) for agent in AGENTS]
    plugin = write_plugin(host.home)
    assert [os.stat(path).st_mode & 0o777 for path in clients] == [0o500] * len(AGENTS)
    assert str(clients[-1]) in plugin.read_text()
    remove_clients(host.home)
    assert list(host.home.hooks.iterdir()) == []

"""The thin client as a real process, against a small host that answers as it is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.thin.shim_host import ShimHost, body, raw_bytes, shim_host, verdict
from vaultroom.intercept.thin_code import base_interpreter, client_source
from vaultroom.thin import shim_client
from vaultroom.wire import encode

REFUSED = "vaultroom: policy check failed — refusing to run tool (fail closed)\n"


@pytest.fixture(scope="module")
def one_host() -> Iterator[ShimHost]:
    with shim_host() as running:
        running.program("tool", 'printf "%s\\0" ran "$0" "$@"')
        running.program("reader", "cat; exit 7")
        running.program("killer", "kill -TERM $$")
        running.install("tool", "reader", "killer", "cat", "yes", "sh", "env")
        yield running


@pytest.fixture
def host(one_host: ShimHost) -> ShimHost:
    one_host.answer = verdict("allow", "rule", "")
    one_host.frames.clear()
    return one_host


def test_an_allowed_program_runs_as_if_there_were_no_shim(host: ShimHost) -> None:
    done = host.run(["reader", "a"], input=b"from stdin\0\xff")
    assert (done.stdout, done.stderr, done.returncode) == (b"from stdin\0\xff", b"", 7)
    frame = host.frames[0]
    assert frame["type"] == "eval"
    assert frame["event"] | {"pid": 0} == {
        "source": "shim",
        "action": "shell.exec",
        "cmd": "reader",
        "argv": ["reader", "a"],
        "cwd": str(host.home),
        "pid": 0,
    }


def test_the_program_keeps_the_process(host: ShimHost) -> None:
    child = subprocess.Popen(
        [host.shims / "sh", "-c", "echo $$"], env=host.environment(), stdout=subprocess.PIPE
    )
    output = child.communicate()[0]
    assert int(output) == child.pid == host.frames[0]["event"]["pid"]


def test_argument_zero_is_the_name_and_bytes_stay_bytes(host: ShimHost) -> None:
    odd = [b"\xff\xfe", "é\n\"\\\t\x01 '$x".encode(), "\U0001f600".encode(), b"", b"-rf"]
    done = host.run(["tool", *odd])
    assert done.returncode == 0
    assert done.stdout.split(b"\0")[2:-1] == odd
    assert [word.encode("utf-8", "surrogateescape") for word in host.frames[0]["event"]["argv"][1:]] == odd
    assert host.run(["sh", "-c", "echo $0"]).stdout == b"sh\n"


@pytest.mark.parametrize(
    "locale",
    [
        {},
        {"LC_CTYPE": "C"},
        {"LC_CTYPE": "C.UTF-8"},
        {"LC_ALL": "C"},
        {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"},
    ],
)
def test_the_environment_and_the_locale_change_nothing(host: ShimHost, locale: dict[str, str]) -> None:
    done = host.run(["env"], env=host.environment(A="b\udcff", **locale))
    expected = host.environment(A="b\udcff", **locale)
    assert dict(line.split(b"=", 1) for line in done.stdout.splitlines()) == {
        os.fsencode(name): os.fsencode(value) for name, value in expected.items()
    }
    host.run(["tool", b"\xe9"], env=host.environment(**locale))
    assert host.frames[-1]["event"]["argv"][1] == "\udce9"


def test_signals_are_back_to_their_defaults(host: ShimHost) -> None:
    script = f"{host.shims}/yes | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], env=host.environment(), capture_output=True, check=False)
    assert done.stdout == b"y\n141\n"
    assert host.run(["killer"]).returncode == -signal.SIGTERM
    status = host.run(["cat", "/proc/self/status"]).stdout.decode()
    ignored = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn"))
    assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))


def test_an_interrupt_while_asking_ends_the_shim(host: ShimHost) -> None:
    host.answer = lambda connection: connection.recv(1)
    child = subprocess.Popen([host.shims / "tool"], env=host.environment(), stderr=subprocess.PIPE)
    while not host.frames:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.communicate()[1] == b""
    assert child.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    ("rule", "message", "expected"),
    [
        ("no-rm", "Not here.", 'vaultroom: denied by rule "no-rm": Not here.\n'),
        ("", "Nothing allows it.", "vaultroom: denied by the default: Nothing allows it.\n"),
        (
            'a"b\\',
            'say "no" \\ é – \U0001f600',
            'vaultroom: denied by rule "a"b\\": say "no" \\ é – \U0001f600\n',
        ),
        ("r", "two\nlines\x1b[31m\u202e", 'vaultroom: denied by rule "r": two lines?[31m?\n'),
        ('","message":"', '"}', 'vaultroom: denied by rule "","message":"": "}\n'),
        ("\ud83d", "\udc00\ud83d", 'vaultroom: denied by rule "?": ??\n'),
    ],
)
def test_a_denied_program_does_not_run(host: ShimHost, rule: str, message: str, expected: str) -> None:
    host.answer = verdict("deny", rule, message)
    done = host.run(["tool"])
    assert (done.returncode, done.stdout, done.stderr.decode()) == (126, b"", expected)


ALLOW = encode({"type": "verdict", "effect": "allow", "rule_name": "", "message": ""})[4:]


@pytest.mark.parametrize(
    "answer",
    [
        raw_bytes(b""),
        raw_bytes(b"\0\0"),
        raw_bytes(b"\0\0\0\0"),
        raw_bytes(b"\xff\xff\xff\xff" + ALLOW),
        raw_bytes(b"\0\x80\0\x01" + ALLOW),
        raw_bytes(struct.pack(">I", len(ALLOW)) + ALLOW[:-1]),
        body(b"rubbish"),
        body(b"null"),
        body(ALLOW.replace(b"allow", b"require_approval")),
        body(ALLOW.replace(b"allow", b"ALLOW")),
        body(b" " + ALLOW),
        body(ALLOW + b" "),
        body(ALLOW[:-2]),
        body(ALLOW[:-1] + b',"effect":"deny"}'),
        body(ALLOW.replace(b'"rule_name":""', b'"rule_name":"\\"')),
        body(ALLOW.replace(b'"rule_name":""', b'"rule_name":"\\x"')),
        body(ALLOW.replace(b'"rule_name":""', b'"rule_name":"\\u12"')),
        body(ALLOW.replace(b'"rule_name":""', b'"rule_name":null')),
        body(ALLOW.replace(b'"message":""', b'"message":"\xc3\xa9"')),
        body(b'{"effect":"allow","type":"verdict","rule_name":"","message":""}'),
        body(b'{"type":"verdict","effect":"deny","rule_name":"","message":""'),
    ],
)  # fmt: skip
def test_anything_but_a_verdict_is_a_refusal(host: ShimHost, answer: object) -> None:
    host.answer = answer  # type: ignore[assignment]
    done = host.run(["tool"])
    assert (done.returncode, done.stdout) == (77, b"")
    lines = done.stderr.decode().splitlines(keepends=True)
    assert lines[0] == REFUSED and len(lines) == 2 and lines[1].startswith("vaultroom: ")


def test_a_slow_host_is_waited_for(host: ShimHost) -> None:
    frame = encode({"type": "verdict", "effect": "allow", "rule_name": "", "message": ""})

    def slowly(connection: socket.socket) -> None:
        for start in range(0, len(frame), 16):
            time.sleep(0.05)
            connection.sendall(frame[start : start + 16])

    host.answer = slowly
    assert host.run(["tool"]).returncode == 0


def test_an_absent_host_is_a_refusal(tmp_path: Path) -> None:
    with shim_host() as gone:
        gone.program("tool", "echo ran")
        gone.install("tool")
        gone.socket_path.unlink()
        assert gone.run(["tool"]).returncode == 77
        gone.socket_path.write_text("no socket")
        done = gone.run(["tool"])
        assert (done.returncode, done.stdout) == (77, b"") and done.stderr.decode().startswith(REFUSED)


def test_a_host_that_accepts_nobody_is_given_up_after_the_connect_timeout() -> None:
    with shim_host() as full:
        full.program("tool", "echo ran")
        full.install("tool")
        full.socket_path.unlink()
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
            listener.bind(str(full.socket_path))
            listener.listen(0)
            first.connect(str(full.socket_path))
            assert full.run(["tool"]).returncode == 77


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_closed_standard_streams(host: ShimHost, closed: list[int], effect: str) -> None:
    host.answer = verdict(effect, "r", "m")
    marks = " ".join(f"{number}>&-" for number in closed)
    done = subprocess.run(
        ["bash", "-c", f"{host.shims}/tool {marks}"], env=host.environment(), capture_output=True, check=False
    )
    if effect == "deny":
        assert done.returncode == 126
        assert done.stderr == (b"" if 2 in closed else b'vaultroom: denied by rule "r": m\n')
    elif 1 not in closed:
        assert (done.returncode, done.stdout[:4]) == (0, b"ran\0")
    assert len(host.frames) == 1


def test_large_arguments_reach_the_program(host: ShimHost) -> None:
    words = ["x" * 100_000] * 12
    done = host.run(["sh", "-c", "echo $#", *words])
    assert done.stdout == b"11\n"
    assert host.frames[0]["event"]["argv"][3:] == words


def test_a_command_line_over_the_bound_is_refused_with_its_reason(host: ShimHost) -> None:
    done = host.run(["tool", *[b"\xff" * 130_000] * 12])
    assert done.returncode == 77
    assert b"more than 8388608 bytes" in done.stderr
    assert host.frames == []


def test_a_missing_program_is_not_asked_about(host: ShimHost) -> None:
    missing = host.program("missing", "true")
    host.install("tool", "reader", "killer", "cat", "yes", "sh", "env", "missing")
    missing.unlink()
    done = host.run(["missing"])
    assert (done.returncode, done.stderr) == (127, b"vaultroom: missing: command not found\n")
    assert host.frames == []


def test_a_program_that_cannot_be_executed(host: ShimHost) -> None:
    host.program("tool2", "#!/nowhere/interpreter\n")
    shutil.copy(host.shims / "tool", host.shims / "tool2")
    assert host.run(["tool2"]).returncode == 127
    (host.programs / "tool2").write_text("echo plain script $1\n")
    assert host.run(["tool2", "a"]).stdout == b"plain script a\n"
    (host.programs / "tool2").chmod(0o644)
    assert host.run(["tool2"]).returncode == 127
    (host.shims / "tool2").unlink()


def spellings(host: ShimHost) -> dict[str, str]:
    """Values of PATH that lead to the shims again and again."""
    shims, home = host.shims, host.home
    link = home / "link"
    if not link.is_symlink():
        link.symlink_to(shims)
        (home / "root-link").symlink_to(host.shims_root)
        one = home / "one-link"
        one.mkdir()
        (one / "tool").symlink_to(shims / "tool")
        (one / "tool2").symlink_to("tool")
        for name in ("copy", "copy2"):
            (home / name).mkdir()
            shutil.copy(shims / "tool", home / name / "tool")
    other = host.shims_root / "other"
    if not other.exists():
        shutil.copytree(shims, other)
    return {
        "twice": f"{shims}:{shims}",
        "slashes": f"{shims}//:{shims}/.:{shims}/../session",
        "link": f"{link}:{home}/root-link/session:{link}/../session",
        "relative": "shims/session:./shims/../shims/session:one-link/../shims/session",
        "a link to a shim": f"{home}/one-link",
        "copies": f"{home}/copy:{home}/copy2:{home}/copy",
        "another session": f"{other}:{shims}:{other}",
    }


@pytest.mark.parametrize(
    "spelling", ["twice", "slashes", "link", "relative", "a link to a shim", "copies", "another session"]
)
def test_a_shim_never_starts_a_shim(host: ShimHost, spelling: str) -> None:
    path = spellings(host)[spelling]
    done = host.run(["tool"], env=host.environment(PATH=f"{path}:{host.programs}:/usr/bin:/bin"))
    assert done.returncode == 0 and done.stdout.startswith(b"ran\0")
    assert len(host.frames) == 1
    assert host.run(["tool"], env=host.environment(PATH=path)).returncode == 127
    copy = subprocess.run(
        [host.home / "copy" / "tool"], env=host.environment(PATH=path), cwd=host.home, check=False
    )
    assert copy.returncode == 127


def test_whatever_lies_below_the_root_of_the_shims_is_passed_over(host: ShimHost) -> None:
    """Also without the mark of a shim, and through links and `..`."""
    strange = host.shims_root / "strange" / "deep"
    strange.mkdir(parents=True)
    (strange / "tool").write_text("#!/bin/sh\necho strange\n")
    (strange / "tool").chmod(0o755)
    links = host.home / "links"
    links.mkdir()
    (links / "folder").symlink_to(strange)
    (links / "tool").symlink_to("step")
    (links / "step").symlink_to("folder/tool")
    outward = host.shims_root / "outward"
    outward.mkdir()
    (outward / "tool").symlink_to("/bin/true")
    for folder in (strange, f"{strange}/../deep", links / "folder", links, outward):
        done = host.run(["tool"], env=host.environment(PATH=f"{folder}:{host.programs}"))
        assert done.stdout.startswith(b"ran\0")
        assert host.run(["tool"], env=host.environment(PATH=str(folder))).returncode == 127


def test_a_path_that_the_shell_start_file_rewrites(host: ShimHost) -> None:
    start = host.home / "start.sh"
    start.write_text(f"PATH={host.shims}:$PATH:{host.shims}\ntool > /dev/null\n")
    host.program("scripted", "#!/bin/bash\ntool")
    host.install("tool", "reader", "killer", "cat", "yes", "sh", "env", "scripted")
    done = host.run(["scripted"], env=host.environment(BASH_ENV=str(start)))
    assert done.stdout.startswith(b"ran\0")
    assert [frame["event"]["cmd"] for frame in host.frames] == ["scripted", "tool", "tool"]


@pytest.mark.parametrize("value", [None, "", "/nowhere.sock"])
def test_the_environment_cannot_choose_another_host(host: ShimHost, value: str | None) -> None:
    host.answer = verdict("deny", "r", "m")
    env = host.environment() if value is None else host.environment(VAULTROOM_SOCK=value)
    assert host.run(["tool"], env=env).returncode == 126


def test_without_a_path_the_usual_folders_count(host: ShimHost) -> None:
    assert host.run(["cat"], env={}, input=b"x").stdout == b"x"
    assert host.run(["tool"], env={"PATH": ""}, cwd=host.programs).stdout.startswith(b"ran\0")


def test_what_the_client_imports() -> None:
    """Built-in modules and `_socket`: anything else costs milliseconds in every command of an agent."""
    probe = (
        "import sys; before = set(sys.modules); names = {'__name__': 'client'}\n"
        f"exec(compile({client_source(shim_client)!r}, 'client', 'exec'), names)\n"
        "try: names['ask'](['x'], b'/nowhere.sock')\n"
        "except names['Refusal'] as refusal: assert refusal.code == 77\n"
        "names['failed']('x'); names['printable']('é')\n"
        'deny = b\'{"type":"verdict","effect":"deny","rule_name":"\\\\u00e9","message":""}\'\n'
        "try: names['judge']('x', deny)\n"
        "except names['Refusal'] as refusal: assert refusal.code == 126\n"
        "print(' '.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [base_interpreter(), "-I", "-S", "-c", probe], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {"_signal", "_socket", "posix"}


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5), st.text(max_size=20))
def test_a_request_is_the_json_that_everybody_reads(argv: list[str], cwd: str) -> None:
    frame = shim_client.request(argv, cwd=cwd, pid=7)
    assert struct.unpack(">I", frame[:4])[0] == len(frame) - 4
    act = {"source": "shim", "action": "shell.exec", "cmd": argv[0], "argv": argv, "cwd": cwd, "pid": 7}
    assert json.loads(frame[4:].decode("ascii")) == {"type": "eval", "event": act}


def judged(data: bytes) -> tuple[int, str]:
    try:
        shim_client.judge("tool", data)
    except shim_client.Refusal as refusal:
        return refusal.code, refusal.text
    return 0, ""


@given(st.binary(max_size=200))
def test_rubbish_is_never_an_allow(data: bytes) -> None:
    assert judged(data)[0] == 77


@given(st.data())
def test_a_damaged_allow_is_an_allow_only_if_it_still_is_one(data: st.DataObject) -> None:
    answer = bytearray(encode({"type": "verdict", "effect": "allow", "rule_name": 'a"b', "message": "é"})[4:])
    answer[data.draw(st.integers(0, len(answer) - 1))] = data.draw(st.integers(0, 255))
    if judged(bytes(answer))[0] == 0:
        assert json.loads(answer)["effect"] == "allow"


@given(st.text(max_size=30), st.text(max_size=30))
def test_every_rule_and_message_can_be_told(rule: str, message: str) -> None:
    code, text = judged(
        encode({"type": "verdict", "effect": "deny", "rule_name": rule, "message": message})[4:]
    )
    assert code == 126
    assert text.endswith("\n") and text[:-1].isprintable()
    if message.isprintable():
        assert text.endswith(f": {message}\n")


def test_the_interpreter_is_the_one_behind_the_environment() -> None:
    assert not os.path.islink(base_interpreter())
    assert sys.prefix == sys.base_prefix or not base_interpreter().startswith(sys.prefix)

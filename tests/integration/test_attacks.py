"""Attacks on a running Vaultroom, tried for real in a throw-away home: what must not get through."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.world import VAULTROOM, World, wait_for

PATIENCE = 2.0
"""Seconds that an act of somebody else may have to wait while an attack goes on."""

FREE = "env -i HOME=$HOME VAULTROOM_HOME=$VAULTROOM_HOME PATH=$PATH setsid -f"
"""Puts a command out of its session as far as a shell can."""

ANSWER = f"""\
for i in $(seq 40); do
  id=$({VAULTROOM} approve list --json | grep -o '01[0-9A-Z]\\{{24\\}}' | head -1)
  [ -n "$id" ] && {VAULTROOM} approve allow $id && break
  sleep 0.2
done
touch answered
"""


def _policy(world: World, *rules: str, shims: str = "rm, git, cat") -> None:
    text = "version: 1\ndefaults: {action: allow, approval_timeout: 5s}\n"
    if rules:
        text += "rules:\n" + "".join(f"  - {rule}\n" for rule in rules)
    world.write_policy(f"{text}shims:\n  binaries: [{shims}]\n")


def _rule(name: str, effect: str, *, path: str = "", cel: str = "", action: str = "fs.delete") -> str:
    what = f"path: ['{path}']" if path else f"cel: '{cel}'"
    return f"{{name: {name}, match: {{action: [{action}], {what}}}, effect: {effect}}}"


def _files(world: World, *names: str) -> list[Path]:
    made = []
    for name in names:
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        made.append(path)
    return made


def _repository(world: World) -> Path:
    """A clone whose push works; `world.root / "origin.git"` has a branch main once it did."""
    clone = world.work / "clone"
    git = ["git", "-c", "user.email=a@b", "-c", "user.name=a"]
    for name in ("origin.git", "other.git"):
        subprocess.run([*git, "init", "-q", "--bare", str(world.root / name)], check=True)
    subprocess.run([*git, "init", "-q", "-b", "main", str(clone)], check=True)
    subprocess.run([*git, "-C", str(clone), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(
        [*git, "-C", str(clone), "remote", "add", "origin", str(world.root / "origin.git")], check=True
    )
    return clone


def _was_pushed(world: World, to: str = "origin.git") -> bool:
    seen = subprocess.run(
        ["git", "-C", str(world.root / to), "rev-parse", "-q", "--verify", "main"],
        check=False,
        capture_output=True,
    )
    return seen.returncode == 0


def _hosted_session(world: World) -> str:
    """A host, a session with a sleeping agent; gives the session's socket."""
    world.host()
    world.start("run", "--", "sleep", "100")
    return str(wait_for(lambda: next(iter(world.run_folder.glob("0*.sock")), None), "a session's socket"))


def _frame(body: bytes | list[str], cwd: str = "/tmp") -> bytes:
    if isinstance(body, list):
        act = {"source": "shim", "action": "shell.exec", "argv": body, "cwd": cwd}
        body = json.dumps({"type": "eval", "event": act}).encode()
    return len(body).to_bytes(4, "big") + body


def _ask(path: str, data: bytes, seconds: float = 30.0) -> dict[str, Any]:
    with closing(socket.socket(socket.AF_UNIX)) as client:
        client.settimeout(seconds)
        client.connect(path)
        client.sendall(data)
        length = int.from_bytes(client.recv(4), "big")
        body = b""
        while len(body) < length:
            body += client.recv(length - len(body))
        answer: dict[str, Any] = json.loads(body)
        return answer


@contextmanager
def _connections(path: str, count: int, seconds: float, frame: bytes = b"") -> Iterator[int]:
    """Up to `count` connections that are held open."""
    held: list[socket.socket] = []
    until = time.monotonic() + seconds
    try:
        while len(held) < count and time.monotonic() < until:
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            try:
                client.connect(path)
                client.setblocking(True)
                client.sendall(frame)
                held.append(client)
            except BlockingIOError:
                client.close()
                time.sleep(0.01)
        yield len(held)
    finally:
        for client in held:
            client.close()


def _wait_while(path: str, attack: bytes) -> float:
    """How long a small act waits while the host deals with `attack`."""
    with closing(socket.socket(socket.AF_UNIX)) as client:
        client.connect(path)
        client.sendall(attack)
        time.sleep(0.2)
        begun = time.monotonic()
        _ask(path, _frame(["cat", "x"]), 60)
        return time.monotonic() - begun


# Let through


def test_a_stale_session_in_the_environment_does_not_unguard_an_agent(world: World) -> None:
    """A terminal multiplexer or editor started inside a session keeps its variables when it is over."""
    (victim,) = _files(world, "work/victim")
    stale = {"VAULTROOM_SESSION": "01M8PFNXA9038JMXXXYR6X5Y6W", "VAULTROOM_SOCK": "/nonexistent.sock"}
    world.call("run", "--", "rm", "victim", environ=stale)
    world.call("run", "--", "bash", "-c", "rm victim", environ=stale)
    assert victim.exists()


def test_what_an_agent_leaves_running_stays_guarded(world: World) -> None:
    """Its PATH names the shims' folder; with that removed, `rm` is the real one."""
    (victim,) = _files(world, "work/victim")
    world.script("(sleep 1; rm victim; touch tried) >/dev/null 2>&1 </dev/null &\nexit 0")
    world.call("run", "--", "bash", "agent.sh")
    wait_for((world.work / "tried").exists, "what the agent left")
    assert victim.exists()


def test_an_act_that_means_other_files_by_the_time_of_the_answer_is_not_released(world: World) -> None:
    """Asked about work/ok/f, allowed, and by then the link in the path leads to a forbidden folder."""
    secret, _ = _files(world, "secret/f", "work/ok/f")
    _policy(
        world,
        _rule("never", "deny", path=f"{secret.parent}/**"),
        _rule("ask", "require_approval", path=f"{world.work}/**"),
    )
    world.script(f"ln -s ok d; (sleep 1; ln -sfn {secret.parent} d; touch swapped) & rm d/f; wait")
    agent = world.start("run", "--", "bash", "agent.sh")
    request = world.one_request()
    wait_for((world.work / "swapped").exists, "the swap")
    world.call("approve", "allow", request["id"])
    agent.communicate(timeout=20)
    assert secret.exists()


@pytest.mark.parametrize("place", ["user/.ssh/id", "vault/policy.yaml"])
def test_ten_thousand_arguments_do_not_turn_a_deny_into_a_question(world: World, place: str) -> None:
    _files(world, "user/.ssh/id")
    _policy(world, _rule("keep", "deny", path="~/.ssh/**"))
    world.script(f"rm -f {world.root / place} {{1..10001}}; echo $?")
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for(lambda: agent.poll() is not None or world.requests(), "a verdict")
    for request in world.requests():
        world.call("approve", "allow", request["id"])
    assert agent.communicate(timeout=20)[0] == "126\n"
    assert (world.root / place).exists()


@pytest.mark.parametrize("other", ["", "/elsewhere"])
def test_the_next_host_judges_with_the_variables_of_the_session(world: World, other: str) -> None:
    """`$PROJECT` in a path is what it was for the session, not what the new host's terminal has."""
    (secret,) = _files(world, "secret/f")
    usual = (world.home / "policy.yaml").read_text()
    _policy(world, _rule("keep", "deny", path="$PROJECT/**"))
    own = (world.home / "policy.yaml").rename(world.root / "own.yaml")
    world.write_policy(usual)
    host = world.host()
    world.script(f"touch ready; while [ ! -e go ]; do sleep 0.1; done; rm {secret}; echo $?")
    agent = world.start(
        "run", "--policy", str(own), "--", "bash", "agent.sh", environ={"PROJECT": str(secret.parent)}
    )
    wait_for((world.work / "ready").exists, "the agent")
    host.kill()
    host.wait()
    following = world.start("daemon", environ={"PROJECT": other} if other else {})
    wait_for(lambda: following.poll() is not None or world.is_hosted(), "the next host")
    (world.work / "go").touch()
    out, err = agent.communicate(timeout=20)
    assert secret.exists()
    assert (following.poll(), out) == (None, "126\n"), err


@pytest.mark.parametrize(
    "push",
    [
        "git --shallow-file '' push origin main",
        "git config alias.p push; git p origin main",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p origin main",
    ],
)
def test_a_push_is_a_push(world: World, push: str) -> None:
    clone = _repository(world)
    _policy(world, _rule("stop", "deny", cel='event.subcommand == "push"', action="shell.exec"))
    world.call("run", "--", "bash", "-c", push, cwd=clone)
    assert not _was_pushed(world)


@pytest.mark.parametrize(
    "argv",
    [
        ["pip", "--prox", "http://x", "install", "y"],
        ["npm", "--regis", "http://x", "install", "y"],
        ["npm", "--fetch-timeout", "1", "install", "y"],
        ["systemctl", "--typ", "service", "install"],
        ["git", "--shallow-file", "x", "install"],
    ],
)
def test_an_abbreviated_global_option_does_not_hide_the_subcommand(world: World, argv: list[str]) -> None:
    _policy(world, _rule("stop", "deny", cel='event.subcommand == "install"', action="shell.exec"))
    assert _ask(_hosted_session(world), _frame(argv))["effect"] == "deny"


def test_git_clean_is_judged_where_the_environment_sends_it(world: World) -> None:
    clone = _repository(world)
    (keep,) = _files(world, "keep/f")
    _policy(world, _rule("keep", "deny", path=f"{keep.parent}/**"))
    line = f"GIT_DIR={clone}/.git GIT_WORK_TREE={keep.parent} git clean -fdx"
    world.call("run", "--", "bash", "-c", line, cwd=clone)
    assert keep.exists()


def test_a_grant_does_not_cover_the_same_words_in_another_environment(world: World) -> None:
    """The person allowed a push to origin; the variables make it a push to elsewhere."""
    clone = _repository(world)
    other = world.root / "other.git"
    steer = f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.pushurl GIT_CONFIG_VALUE_0={other}"
    push = "git push origin main"
    world.script(f"cd {clone}; {push}; touch ../one; {steer} {push}; touch ../two")
    world.start("run", "--", "bash", "agent.sh")
    world.call("approve", "allow", world.one_request()["id"], "--rule")
    wait_for((world.work / "one").exists, "the first push")
    wait_for(lambda: (world.work / "two").exists() or world.requests(), "the second one or its question")
    assert not _was_pushed(world, "other.git")


# Answering for itself


def test_an_agent_cannot_answer_by_ending_its_runner(world: World) -> None:
    """The runner is the subreaper: without it a detached process stands below init."""
    world.host()
    world.script(ANSWER, "answer.sh")
    world.script(f"{FREE} bash answer.sh; (git push &); sleep 1; kill -9 $PPID; sleep 12")
    world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "answered").exists, "the answering process", 60)
    assert not world.rows("final_effect='allow'")


def test_what_an_agent_left_running_cannot_answer_for_the_next(world: World) -> None:
    world.host()
    world.script(ANSWER, "answer.sh")
    world.call("run", "--", "bash", "-c", f"{FREE} bash answer.sh >/dev/null 2>&1; sleep 1")
    world.start("run", "--", "bash", "-c", "git push")
    wait_for((world.work / "answered").exists, "the answering process", 60)
    assert not world.rows("final_effect='allow'")


def test_an_agent_cannot_approve_a_policy(world: World) -> None:
    (world.work / "vaultroom.yaml").write_text("version: 1\ndefaults: {action: allow}\n")
    assert world.call("run", "--", "vaultroom", "policy", "trust", "vaultroom.yaml").returncode != 0


def test_an_agent_cannot_become_the_host(world: World) -> None:
    host = world.host()
    world.script(
        f"kill -9 {host.pid}; sleep 0.5; vaultroom daemon 2>said & pid=$!\n"
        "sleep 3; kill $pid; wait $pid; cat said"
    )
    assert "hosting" not in world.call("run", "--", "bash", "agent.sh").stdout


@pytest.mark.parametrize(
    "line",
    [
        "tmux send-k -t x y",
        "tmux run-shell 'vaultroom approve allow x'",
        "tmux new-session -d 'vaultroom approve allow x'",
        "vaultroom --config x policy trust y",
        "vaultroom --config x approve list",
        "python3 -mvaultroom approve list",
        "python3 -X utf8 -m vaultroom approve list",
    ],
)
def test_built_in_rules_are_not_passed_by_spelling(world: World, line: str) -> None:
    _policy(world, shims="tmux, vaultroom, python3")
    argv = [word.strip("'") for word in line.split(" ", 3)]
    answer = _ask(_hosted_session(world), _frame(line.split() if argv[0] != "tmux" else argv))
    assert (answer["effect"], answer["rule_name"][:8]) == ("deny", "builtin:")


def test_an_agent_cannot_act_in_the_name_of_another_session(world: World) -> None:
    path = _hosted_session(world)
    world.script(
        f"import socket\nc = socket.socket(socket.AF_UNIX)\nc.connect({path!r})\n"
        f"c.sendall({_frame(['cat', 'forged'])!r})\nprint(c.recv(999))\n",
        "forge.py",
    )
    said = world.call("run", "--", sys.executable, "forge.py").stdout
    assert '"effect":"allow"' not in said


# Stopping the host


def test_a_repeated_key_does_not_stop_the_host(world: World) -> None:
    """40,000 members take 20 s and 700,000, which fit into a frame, take hours."""
    names = [f'"{number:06d}":0' for number in range(40_000)]
    attack = _frame(f"{{{','.join([*names, names[-1]])}}}".encode())
    assert _wait_while(_hosted_session(world), attack) < PATIENCE


@pytest.mark.parametrize("words", [["--password=x"], ["http://a:b@c"], ["-H", "Authorization: b"]])
def test_masking_a_long_command_does_not_stop_the_host(world: World, words: list[str]) -> None:
    """As many arguments as the kernel lets a shim have."""
    attack = _frame(["curl", *words * (100_000 // len(words))])
    assert _wait_while(_hosted_session(world), attack) < PATIENCE


def test_connections_that_never_send_do_not_lock_the_user_out(world: World) -> None:
    """With the usual limit of 1024 descriptors."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    try:
        path = _hosted_session(world)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    with _connections(path, 1300, 6):
        listing = world.start("approve", "list")
        try:
            _, said = listing.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            pytest.fail("`approve list` hangs")
        assert said.startswith("Nothing waits for")


def test_slow_look_ups_do_not_keep_the_host_from_ending(world: World) -> None:
    """Chains of links make each of 400 paths take a moment; the client is gone, the threads go on."""
    _policy(world)
    (world.work / "d").mkdir()
    for number in range(38):
        (world.work / f"l{number}").symlink_to("d/../" * 810 + (f"l{number + 1}" if number < 37 else "."))
    attack = _frame(["rm", *(f"l0/{number}/x" for number in range(400))], str(world.work))
    path = _hosted_session(world)
    host = world.started[0]
    with _connections(path, 10, 5, attack):
        time.sleep(2.5)
    os.kill(host.pid, signal.SIGTERM)
    begun = time.monotonic()
    try:
        host.wait(20)
    except subprocess.TimeoutExpired:
        os.kill(host.pid, signal.SIGKILL)
    assert time.monotonic() - begun < 12


@pytest.mark.parametrize("kind", ["deep", "fifo", "types"])
def test_a_broken_session_file_does_not_keep_the_host_from_opening(world: World, kind: str) -> None:
    folder = world.home / "sessions"
    folder.mkdir(mode=0o700)
    if kind == "fifo":
        os.mkfifo(folder / "x.json")
    elif kind == "deep":
        (folder / "x.json").write_text("[" * 100_000)
    else:
        names = "id agent_name agent_command cwd home path policy_hash policy_name"
        odd: dict[str, object] = {name: [] for name in names.split()} | {
            "audit_db": "",
            "runner": {},
            "child": {},
        }
        (folder / "x.json").write_text(json.dumps(odd))
    daemon = world.start("daemon")
    wait_for(lambda: daemon.poll() is not None or world.is_hosted(), "the host", 6)
    assert daemon.poll() is None


# Two hosts


def test_a_removed_lock_does_not_make_a_second_host(world: World) -> None:
    """`/tmp` is tidied by the system, and a long home's run folder lies there."""
    first = world.host()
    (world.home / "host.lock").unlink()
    second = world.start("daemon")
    wait_for(lambda: second.poll() is not None, "the second host to give up")
    assert (first.poll(), second.returncode) == (None, 1)


def test_one_log_has_one_host_whatever_the_runtime_folder(world: World) -> None:
    """A desktop session has XDG_RUNTIME_DIR, cron and `su` have not; the log is the same."""
    settings = world.user / ".config" / "vaultroom"
    settings.mkdir(parents=True)
    (settings / "policy.yaml").write_text((world.home / "policy.yaml").read_text())
    (world.root / "xdg").mkdir(mode=0o700)
    desktop = {"VAULTROOM_HOME": "", "XDG_RUNTIME_DIR": str(world.root / "xdg")}
    first = world.start("daemon", environ=desktop)
    wait_for((world.user / ".local/share/vaultroom/audit.db").exists, "the first host")
    time.sleep(1)
    second = world.start("daemon", environ={"VAULTROOM_HOME": "", "XDG_RUNTIME_DIR": ""})
    wait_for(lambda: second.poll() is not None, "the second host to give up")
    assert (first.poll(), second.returncode) == (None, 1)


# The log and what is shown


def test_an_asked_act_whose_client_leaves_at_once_has_an_outcome(world: World) -> None:
    """Law 1: a lost connection is a recorded deny, also while a script is being read for the question."""
    _policy(world, _rule("ask", "require_approval", cel='event.cmd == "python3"', action="shell.exec"))
    path = _hosted_session(world)
    with open(world.work / "s.py", "wb") as script:
        script.truncate(16 * 1024 * 1024)
    for _ in range(10):
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(path)
            client.sendall(_frame(["python3", *["s.py"] * 8], str(world.work)))
            time.sleep(0.02)
    time.sleep(3)
    asked = world.rows("verdict='require_approval' AND final_effect IS NULL")
    assert len(world.rows("final_effect='deny'")) == len(asked) > 0


@pytest.mark.parametrize(
    "argv",
    [
        ["curl", "-HCookie: a=hunter2secret", "x"],
        ["gh", "secret", "set", "X", "--body", "hunter2secret"],
        ["vault", "login", "hunter2secret"],
        ["htpasswd", "-b", "f", "u", "hunter2secret"],
        ["twine", "upload", "-p", "hunter2secret", "x"],
        ["rm", "https://u:hunter2secret@h/x"],
        ["curl", "-u", "me:hunter2secret", "x"],
        ["git", "clone", "https://me:hunter2secret@h/x"],
        ["bash", "-c", "export TOKEN=hunter2secret; x"],
    ],
    ids=lambda argv: argv[0],
)
def test_a_secret_does_not_reach_the_log(world: World, argv: list[str]) -> None:
    _ask(_hosted_session(world), _frame(argv))
    assert "hunter2secret" not in str(world.rows())


def test_a_secret_in_a_folder_or_a_broken_frame_does_not_reach_the_log(world: World) -> None:
    token = "ghp_" + "a1B2" * 9
    path = _hosted_session(world)
    _ask(path, _frame(["cat"], f"/tmp/{token}"))
    _ask(path, _frame(json.dumps({"type": f"token={token}", "event": {}}).encode()))
    assert token not in str(world.rows())


@pytest.mark.parametrize(
    "arguments", [["verify", "--db", "no{}"], ["daemon", "--nope{}"], ["run", "--agent", "a{}", "--", "x{}"]]
)
def test_hostile_text_never_reaches_the_terminal(world: World, arguments: list[str]) -> None:
    hostile = "\x1b]0;PWN\x07\u202e\u200b"
    result = world.call(*(word.format(hostile) for word in arguments))
    assert not set("\x1b\x07\u202e\u200b") & set(result.stdout + result.stderr)


# Attacks that held


def test_broken_frames_are_denied_and_harm_nobody(world: World) -> None:
    path = _hosted_session(world)
    start = b'{"type":"eval","event":{"source":"shim","action":"shell.exec","cwd":"/","argv":'
    broken = [b"[" * 100_000, b'{"a":1,"a":2}', b"\xff", b'{"type":"eval"}', b"NaN", b"1" * 5000]
    broken += [start + end for end in (b'["x"],"uid":0}}', b'["\\ud800"]}}', b'["a\\u0000"]}}', b'["///"]}}')]
    for body in broken:
        assert _ask(path, _frame(body))["effect"] == "deny"
    assert _ask(path, b"\xff\xff\xff\xff")["effect"] == "deny"
    assert _ask(path, _frame(["cat"]))["effect"] == "allow"
    assert len(world.rows("rule_name='builtin:frame'")) == len(broken) + 1


@pytest.mark.parametrize(
    "line",
    [
        "PYTHONPATH=evil PYTHONHOME=evil PYTHONSTARTUP=evil/posix.py PYTHONINSPECT=1 rm victim",
        "env -i $(command -v rm) victim",
        "S=$(command -v rm); (unset PATH; $S victim)",
        "rm victim <&- >&- 2>&-",
        "S=$(command -v rm); (exec -a cat $S victim); cp $S rm; ./rm victim; ln -s $S rm2; ./rm2 victim",
        "(ulimit -n 3; rm victim); (ulimit -v 60000; rm victim)",
        "VAULTROOM_SOCK=/dev/null VAULTROOM_SESSION= BASH_ENV=x LC_ALL=C rm victim",
        "rm -- victim $'\\xff' $'a\\nb'",
        "mkdir gone; cd gone; /bin/rmdir ../gone; rm ../victim",
        "S=$(command -v rm); exec 9<$S; /proc/self/fd/9 victim; bash $S victim",
    ],
)
def test_tricks_around_a_shim_end_in_a_refusal(world: World, line: str) -> None:
    (victim, _) = _files(world, "work/victim", "work/evil/posix.py")
    world.call("run", "--", "bash", "-c", line)
    assert victim.exists()


def test_the_control_socket_refuses_detached_processes_of_an_agent(world: World) -> None:
    world.host()
    twice = f"{FREE} setsid -f bash -c '(vaultroom approve list &)'"
    world.script(f"vaultroom approve list; {FREE} vaultroom approve list; ({twice}); sleep 3")
    assert world.call("run", "--", "bash", "agent.sh").stderr.count("refused: it descends") == 3


def test_three_hundred_shims_at_once(world: World) -> None:
    world.script(
        "for i in $(seq 300); do (cat /dev/null; echo $? >>codes) & done; wait; sort codes | uniq -c"
    )
    assert world.call("run", "--", "bash", "agent.sh").stdout.split() == ["300", "0"]
    assert world.call("verify").returncode == 0


def test_a_client_that_never_reads_does_not_keep_the_host_from_ending(world: World) -> None:
    host = world.host()
    with closing(socket.socket(socket.AF_UNIX)) as client:
        client.connect(str(world.run_folder / "control.sock"))
        client.settimeout(0.5)
        with pytest.raises(TimeoutError):
            while True:
                client.sendall(_frame(b'{"n":1,"op":"state","args":{}}'))
        assert world.call("run", "--", "cat", "/dev/null").returncode == 0
        host.terminate()
        host.wait(15)


@pytest.mark.parametrize(
    "name", ["audit.db", "audit.db.head", "keys/install.key", "trusted-policies", "shims"]
)
def test_a_planted_link_is_not_written_through(world: World, name: str) -> None:
    (precious,) = _files(world, "precious")
    precious.write_text("precious")
    place = world.home / name
    place.parent.mkdir(mode=0o700, exist_ok=True)
    place.symlink_to(precious)
    (world.work / "vaultroom.yaml").write_text("version: 1\n")
    world.call("run", "--", "true")
    world.call("policy", "trust", "vaultroom.yaml")
    assert precious.read_text() == "precious"


def test_nothing_is_open_to_others_under_umask_0(world: World) -> None:
    before = os.umask(0)
    try:
        _hosted_session(world)
        world.call("policy", "trust", str(world.home / "policy.yaml"))
    finally:
        os.umask(before)
    open_ones = [
        path
        for folder in (world.home, world.run_folder)
        for path in folder.rglob("*")
        if path.lstat().st_mode & 0o022 or (path.lstat().st_mode & 0o044 and path.name != "install.pub")
    ]
    assert [path for path in open_ones if path.name != "policy.yaml"] == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE events SET payload = CAST(payload AS BLOB) WHERE seq=2",
        "UPDATE events SET rule_name='' WHERE seq=2",
        "UPDATE events SET payload = replace(payload, '{', '{ ') WHERE seq=2",
        "DELETE FROM events WHERE seq=2",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM heads; END",
        "UPDATE sessions SET ended_at=NULL",
        "DELETE FROM heads",
        "UPDATE policies SET text=text||' '",
    ],
)
def test_tampering_shows(world: World, sql: str) -> None:
    world.call("run", "--", "cat", "/dev/null")
    with closing(sqlite3.connect(world.db)) as connection:
        connection.executescript(sql)
        connection.commit()
    assert world.call("verify").returncode == 3

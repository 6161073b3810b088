"""`vaultroom run` end to end: real shims, real git, the real log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit.world import World, wait_for


def _repository(world: World) -> Path:
    """A clone whose push really works: origin is a bare repository beside it."""
    origin, clone = world.root / "origin.git", world.work / "clone"
    run = ["git", "-c", "user.email=a@b", "-c", "user.name=a"]
    subprocess.run([*run, "init", "-q", "--bare", str(origin)], check=True)
    subprocess.run([*run, "init", "-q", "-b", "main", str(clone)], check=True)
    subprocess.run([*run, "-C", str(clone), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*run, "-C", str(clone), "remote", "add", "origin", str(origin)], check=True)
    return clone


def test_rm_is_stopped_with_the_rules_name(world: World) -> None:
    victim = world.user / "x"
    victim.mkdir()
    world.script('rm -rf ~/x; echo "code $?"; echo "still here"')
    result = world.call("run", "--", "bash", "agent.sh")
    assert result.stdout == "code 126\nstill here\n"
    assert 'vaultroom: denied by rule "block-rm": Ask a person to delete files.' in result.stderr
    assert result.returncode == 0
    assert victim.is_dir()
    denied = world.rows("verdict='deny'")
    assert [(row[1], row[3]) for row in denied] == [("shell.exec", "block-rm")]
    payload = json.loads(denied[0][6])
    assert payload["argv"] == ["rm", "-rf", str(victim)]
    deletes = [f for f in payload["record"]["facets"] if f.get("action") == "fs.delete"]
    assert [f["path"] for f in deletes] == [str(victim)]
    assert world.call("verify").returncode == 0


def test_an_allowed_command_is_as_without_vaultroom(world: World) -> None:
    world.script("printf 'a b\\n' | cat; cat missing; echo $?; exit 7")
    result = world.call("run", "--", "bash", "agent.sh")
    assert result.stdout == "a b\n1\n"
    assert "No such file" in result.stderr
    assert result.returncode == 7


def test_push_waits_and_allow_lets_it_go(world: World) -> None:
    clone = _repository(world)
    world.script(f'cd "{clone}"; git push origin main; echo "code $?"; git push nowhere; echo "code $?"')
    agent = world.start("run", "--", "bash", "agent.sh")
    request = world.one_request()
    assert request["rule"] == "git-push-ask"
    assert set(request) == {
        "id", "state", "session", "agent", "rule", "action", "summary", "created_at", "expires_at",
    }  # fmt: skip
    assert world.call("approve", "allow", request["id"]).returncode == 0
    second = wait_for(
        lambda: next((r for r in world.requests() if r["id"] != request["id"]), None), "the 2nd"
    )
    assert world.call("approve", "allow", second["id"]).returncode == 0
    out, err = agent.communicate(timeout=30)
    assert out == "code 0\ncode 128\n", err
    assert world.call("approve", "allow", request["id"]).returncode == 4
    outcomes = [row[4:6] for row in world.rows("final_effect IS NOT NULL")]
    assert outcomes == [("allow", "cli"), ("allow", "cli")]
    assert subprocess.run(
        ["git", "-C", str(world.root / "origin.git"), "rev-parse", "main"], check=True, capture_output=True
    ).stdout


def test_deny_and_its_reason_reach_the_agent(world: World) -> None:
    world.script('git push; echo "code $?"')
    agent = world.start("run", "--", "bash", "agent.sh")
    request = world.one_request()
    denied = world.call("approve", "deny", request["id"], "--reason", "wait for the review")
    assert denied.returncode == 0
    out, err = agent.communicate(timeout=30)
    assert out == "code 126\n"
    assert 'denied by rule "git-push-ask"' in err
    assert "wait for the review" in err


def test_nobody_answers(world: World) -> None:
    world.write_policy((world.home / "policy.yaml").read_text().replace("30s", "300ms"))
    world.script('git push; echo "code $?"')
    result = world.call("run", "--", "bash", "agent.sh")
    assert result.stdout == "code 126\n"
    assert "nobody answered in time" in result.stderr
    last = json.loads(world.rows("final_effect IS NOT NULL")[0][6])
    assert last["timed_out"] is True
    assert last["record"]["state"] == "expired"
    assert last["approved_by"] == ""


def test_allow_rule_is_remembered_for_the_same_act_only(world: World) -> None:
    world.script("for i in 1 2; do git push a; echo $?; done; git push b; echo $?")
    agent = world.start("run", "--", "bash", "agent.sh")
    first = world.one_request()
    assert world.call("approve", "allow", first["id"], "--rule").returncode == 0
    other = wait_for(lambda: next((r for r in world.requests() if r["id"] != first["id"]), None), "push b")
    assert "push b" in other["summary"]
    world.call("approve", "deny", other["id"])
    out, _ = agent.communicate(timeout=30)
    assert out == "128\n128\n126\n"
    assert [row[5] for row in world.rows("final_effect='allow'")] == ["cli", "grant"]


def test_a_client_that_leaves_withdraws_its_request(world: World) -> None:
    world.script("git push & sleep 1; kill -9 $!; wait; echo over; read -t 5 < /dev/null; sleep 1")
    agent = world.start("run", "--", "bash", "agent.sh")
    world.one_request()
    wait_for(lambda: not world.requests(), "the request to go")
    agent.communicate(timeout=30)
    outcome = json.loads(world.rows("final_effect IS NOT NULL")[0][6])
    assert outcome["record"]["state"] == "withdrawn"
    assert outcome["final_effect"] == "deny"


def test_a_killed_host_refuses_and_the_next_one_goes_on(world: World) -> None:
    daemon = world.host()
    world.script(
        'cat /dev/null; echo "first $?"; touch ready; while [ ! -e killed ]; do sleep 0.05; done\n'
        'cat /dev/null; echo "second $?"; touch refused; while [ ! -e again ]; do sleep 0.05; done\n'
        'cat /dev/null; echo "third $?"; rm x; echo "fourth $?"'
    )
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "ready").exists, "the agent")
    daemon.kill()
    daemon.wait()
    (world.work / "killed").touch()
    wait_for((world.work / "refused").exists, "the refusal")
    world.host()
    (world.work / "again").touch()
    out, err = agent.communicate(timeout=30)
    assert out == "first 0\nsecond 77\nthird 0\nfourth 126\n", err
    assert "policy check failed" in err
    verified = world.call("verify", "--json")
    assert verified.returncode == 0, verified.stdout
    assert [s["state"] for s in json.loads(verified.stdout)["sessions"]] == ["sealed"]


def test_a_killed_run_leaves_its_agent_to_the_next_host(world: World) -> None:
    world.script(
        'cat /dev/null; echo "$?" > first; while [ ! -e again ]; do sleep 0.05; done\n'
        'cat /dev/null; echo "$?" > second; rm x; echo "$?" > third'
    )
    runner = world.start("run", "--", "bash", "agent.sh")
    wait_for(lambda: (world.work / "first").exists() and (world.work / "first").read_text(), "the agent")
    runner.kill()
    runner.wait()
    world.host()
    (world.work / "again").touch()
    wait_for(lambda: (world.work / "third").exists() and (world.work / "third").read_text(), "the end")
    assert (world.work / "second").read_text() == "0\n"
    assert (world.work / "third").read_text() == "126\n"
    wait_for(lambda: world.rows("action='session.close'"), "the seal")
    assert world.call("verify").returncode == 0


def test_two_runs_share_one_host(world: World) -> None:
    world.script('touch "$1"; while [ ! -e go ]; do sleep 0.05; done; rm x; echo "code $?"; exit "$1"')
    first = world.start("run", "--", "bash", "agent.sh", "3")
    wait_for((world.work / "3").exists, "the first agent")
    second = world.start("run", "--agent", "other", "--", "bash", "agent.sh", "4")
    wait_for((world.work / "4").exists, "the second agent")
    (world.work / "go").touch()
    assert first.communicate(timeout=30)[0] == "code 126\n"
    assert second.communicate(timeout=30)[0] == "code 126\n"
    assert (first.returncode, second.returncode) == (3, 4)
    assert json.loads(world.call("verify", "--json").stdout)["ok"] is True


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 42", 42), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
)
def test_the_childs_exit_code(world: World, script: str, code: int) -> None:
    world.script(script)
    assert world.call("run", "--", "bash", "agent.sh").returncode == code


def test_exit_codes_of_a_start_that_fails(world: World) -> None:
    assert world.call("run", "--", "no-such-program").returncode == 127
    broken = world.root / "broken.yaml"
    broken.write_text("version: 1\nrulez: []\n")
    refused = world.call("run", "--policy", str(broken), "--", "true")
    assert refused.returncode == 2
    assert f"{broken}:2:1" in refused.stderr
    assert world.call("run").returncode == 2
    (world.home / "audit.db").write_bytes(b"this is not a database, " * 100)
    unusable = world.call("run", "--", "true")
    assert unusable.returncode == 77
    assert "audit.db" in unusable.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_agent(world: World, number: signal.Signals) -> None:
    world.script(f'trap "echo got; exit 9" {number.value}; touch ready; while :; do sleep 0.05; done')
    runner = world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "ready").exists, "the agent")
    os.kill(runner.pid, number)
    out, _ = runner.communicate(timeout=30)
    assert out == "got\n"
    assert runner.returncode == 9


def test_a_signal_just_after_the_start_reaches_the_agent(world: World) -> None:
    world.script('trap "echo got; exit 9" 15; echo > ready; while :; do sleep 0.05; done')
    runner = world.start("run", "--", "bash", "agent.sh")
    while not (world.work / "ready").exists():
        pass  # as early as can be: the runner does not wait for the agent yet
    os.kill(runner.pid, signal.SIGTERM)
    out, _ = runner.communicate(timeout=30)
    assert (out, runner.returncode) == ("got\n", 9)


def test_what_the_child_gets_to_see(world: World) -> None:
    policy = world.home / "policy.yaml"
    policy.write_text(
        policy.read_text()
        + "approvals:\n  channels:\n    telegram: {enabled: false, bot_token_env: MY_TOKEN}\n"
    )
    world.script("env")
    result = world.call(
        "run", "--", "bash", "agent.sh", environ={"MY_TOKEN": "t", "VAULTROOM_SECRET": "s", "OTHER": "o"}
    )
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    assert seen["OTHER"] == "o"
    assert "MY_TOKEN" not in seen
    assert "VAULTROOM_SECRET" not in seen
    assert seen["PATH"].split(":")[0] == str(world.home / "shims" / seen["VAULTROOM_SESSION"])
    assert seen["VAULTROOM_SOCK"].endswith(f"{seen['VAULTROOM_SESSION']}.sock")


def test_everything_of_a_session_is_gone_after_it(world: World) -> None:
    world.script('ls -l "$VAULTROOM_SOCK"')
    result = world.call("run", "--", "bash", "agent.sh")
    assert result.stdout.startswith("srw-------")
    assert list((world.home / "shims").iterdir()) == []
    assert list((world.home / "sessions").iterdir()) == []
    assert list(world.run_folder.iterdir()) == []


def test_an_agent_cannot_answer_for_itself(world: World) -> None:
    world.script(
        "(sleep 1; vaultroom approve list --json; env -u VAULTROOM_SESSION vaultroom approve list --json;"
        " setsid vaultroom approve list) 2>&1 & git push; wait"
    )
    agent = world.start("run", "--", "bash", "agent.sh")
    request = world.one_request()
    time.sleep(2.0)
    assert world.requests()[0]["id"] == request["id"]
    world.call("approve", "deny", request["id"])
    out, _ = agent.communicate(timeout=30)
    assert out.count("refused: it descends from the") == 3
    assert world.rows("action='suspicious'")


def test_run_inside_a_session_joins_it(world: World) -> None:
    world.script("vaultroom run -- bash -c 'rm x; echo $?'; vaultroom run --policy p.yaml -- true; echo $?")
    result = world.call("run", "--", "bash", "agent.sh")
    assert result.stdout == "126\n2\n"
    assert len(world.rows("action='session.open'")) == 1


def test_broken_frames_are_recorded_denials(world: World) -> None:
    sender = world.work / "send.py"
    sender.write_text(
        "import os, socket, struct, sys\n"
        "def send(data, end=False):\n"
        "    s = socket.socket(socket.AF_UNIX); s.connect(os.environ['VAULTROOM_SOCK']); s.sendall(data)\n"
        "    if end: s.shutdown(socket.SHUT_WR)\n"
        "    answer = b''\n"
        "    while chunk := s.recv(4096): answer += chunk\n"
        "    print(answer[4:].decode())\n"
        "frame = lambda body: struct.pack('>I', len(body)) + body\n"
        "send(struct.pack('>I', 100) + b'half', end=True)\n"
        "send(struct.pack('>I', 10 * 1024 * 1024))\n"
        "send(frame(b'\\xff\\xfe'))\n"
        "send(frame(b'[1]'))\n"
        'send(frame(b\'{"type":"eval","event":{"argv":[]}}\'))\n'
    )
    result = world.call("run", "--", "python3", "send.py")
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(a["type"], a["effect"], a["rule_name"]) for a in answers] == [
        ("verdict", "deny", "builtin:frame")
    ] * 5
    assert len(world.rows("verdict='deny' AND rule_name='builtin:frame'")) == 5
    assert world.call("verify").returncode == 0


def test_verify_names_the_row_that_was_changed(world: World) -> None:
    world.script("cat /dev/null; rm x; cat /dev/null")
    world.call("run", "--", "bash", "agent.sh")
    import sqlite3

    with sqlite3.connect(world.db) as connection:
        connection.execute("UPDATE events SET rule_name='block-rn' WHERE rule_name='block-rm'")
    connection.close()
    result = world.call("verify", "--json")
    assert result.returncode == 3
    (session,) = json.loads(result.stdout)["sessions"]
    assert session["state"] == "tampered"
    assert session["first_bad_seq"] == 3


def test_what_nobody_answered_when_the_host_was_lost_is_recorded_as_withdrawn(world: World) -> None:
    daemon = world.host()
    world.script('git push; echo "code $?"')
    agent = world.start("run", "--", "bash", "agent.sh")
    world.one_request()
    daemon.kill()
    daemon.wait()
    out, _ = agent.communicate(timeout=30)
    assert out == "code 77\n"
    world.host()
    wait_for(lambda: world.rows("action='session.close'"), "the seal")
    outcome = json.loads(world.rows("final_effect IS NOT NULL")[0][6])
    assert (outcome["record"]["state"], outcome["final_effect"]) == ("withdrawn", "deny")
    assert world.call("verify").returncode == 0

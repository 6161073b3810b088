"""The installed hook client against the real host: sessions of `vaultroom run`, and the home's intake."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit import hook_calls
from tests.kit.hooked_agents import home_of
from tests.kit.world import VAULTROOM, World, wait_for
from vaultroom.intercept.hooks.client_files import write_client
from vaultroom.intercept.hooks.known import ADAPTERS

AGENTS = tuple(ADAPTERS)


_AGENT = """\
import json, subprocess, sys
for line in sys.stdin:
    client, payload = json.loads(line)
    done = subprocess.run([client], input=payload.encode("latin-1"), capture_output=True)
    print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)
"""


@dataclass(frozen=True)
class Answered:
    returncode: int
    stdout: str
    stderr: str


class Agent:
    """A process that starts hooks, as an agent would: what descends from it may not answer for it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.process = subprocess.Popen(
            [sys.executable, "-c", _AGENT], env=world.environ(), cwd=world.work, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        world.started.append(self.process)

    def begin(self, payload: str | bytes, agent: str = "claude", timeout: int | None = None) -> None:
        client = write_client(home_of(self._world), agent, timeout=timeout)
        data = payload if isinstance(payload, bytes) else payload.encode()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([str(client), data.decode("latin-1")]) + "\n")
        self.process.stdin.flush()

    def result(self) -> Answered:
        assert self.process.stdout is not None
        return Answered(*json.loads(self.process.stdout.readline()))

    def ask(self, payload: str | bytes, agent: str = "claude", timeout: int | None = None) -> Answered:
        self.begin(payload, agent, timeout)
        return self.result()


@pytest.fixture
def agent(world: World) -> Agent:
    return Agent(world)


def payloads(world: World, where: str) -> list[dict[str, Any]]:
    return [json.loads(row[6]) for row in world.rows(where)]


@pytest.mark.parametrize("name", AGENTS)
def test_the_intake_judges_and_records(world: World, agent: Agent, name: str) -> None:
    world.host()
    allowed = agent.ask(hook_calls.command(name, "ls -l", str(world.work)), name)
    assert (allowed.returncode, allowed.stdout, allowed.stderr) == (0, "", "")
    denied = agent.ask(hook_calls.command(name, "rm -rf x", str(world.work)), name)
    assert denied.returncode == 2
    assert 'denied by rule "block-rm": Ask a person to delete files.' in denied.stderr
    (opened,) = payloads(world, "action='session.open'")
    assert opened["record"]["agent_name"] == name
    acts = payloads(world, "source='hook'")
    assert [(act["raw"], act["record"]["verdict"]) for act in acts] == [
        ("ls -l", "allow"),
        ("rm -rf x", "deny"),
    ]


def test_each_session_of_an_agent_is_its_own_and_ends_with_the_agent(world: World, agent: Agent) -> None:
    world.host()
    client = write_client(home_of(world), "claude")
    payload = hook_calls.command("claude", "ls", str(world.work), session_id="other")
    script = f"import subprocess; subprocess.run([{str(client)!r}], input={payload!r}, text=True, check=True)"
    agent.ask(hook_calls.command("claude", "ls", str(world.work)))
    subprocess.run([sys.executable, "-c", script], env=world.environ(), check=True)
    assert len(world.rows("action='session.open'")) == 2
    (closed,) = wait_for(lambda: payloads(world, "action='session.close'"), "the end of the other session")
    assert closed["record"]["reason"] == "exit"


BAD: dict[str, tuple[bytes, str]] = {
    "cut off": (hook_calls.command("claude", "ls")[:-9].encode(), "JSON"),
    "not UTF-8": (b'{"session_id":"\xff"}', "UTF-8"),
    "no session": (hook_calls.command("claude", "ls", session_id=None).encode(), "session_id"),
    "no command": (hook_calls.claude("Bash", {}).encode(), "command"),
    "an empty command": (hook_calls.command("claude", "").encode(), "command"),
    "a list": (hook_calls.claude("Bash", {"command": ["rm"]}).encode(), "command"),
    "a path with NUL": (hook_calls.claude("Write", {"file_path": "/a\0b", "content": ""}).encode(), "NUL"),
    "50 MB": (b" " * (50 << 20), "52428800"),
    "nothing": (b"", "nothing"),
}


def test_what_is_not_understood_is_a_recorded_deny(world: World, agent: Agent) -> None:
    world.host()
    for what, (data, named) in BAD.items():
        done = agent.ask(data)
        assert done.returncode == 2, what
        assert named in done.stderr, what
        newest = payloads(world, "source='hook'")[-1]
        assert newest["record"]["rule"] == "builtin:frame", what
        assert named in newest["record"]["message"], what
    assert len(world.rows("source='hook'")) == len(BAD)


def test_an_unknown_tool_is_an_act(world: World, agent: Agent) -> None:
    world.host()
    payload = hook_calls.claude("FromTheFuture", {"a": 1}, str(world.work), agent_id="sub-1")
    assert agent.ask(payload).returncode == 0
    (act,) = payloads(world, "source='hook'")
    assert (act["action"], act["tool"], act["tool_args"]) == ("mcp.tool", "FromTheFuture", {"a": 1})
    assert (act["agent_id"], act["tool_use_id"]) == ("sub-1", "toolu_01")


def test_contents_stay_out_of_the_log(world: World, agent: Agent) -> None:
    world.host()
    secret = "the-content-of-a-file"
    path = str(world.work / "f")
    arguments = {"file_path": path, "content": secret}
    assert agent.ask(hook_calls.claude("Write", arguments, str(world.work))).returncode == 0
    (row,) = world.rows("source='hook'")
    assert secret not in row[6] and path in row[6]
    assert json.loads(row[6])["tool_args"]["content"]["bytes"] == len(secret)
    assert world.call("verify").returncode == 0


def test_without_a_policy_nothing_is_let_through(world: World, agent: Agent) -> None:
    world.host()
    (world.home / "policy.yaml").unlink()
    done = agent.ask(hook_calls.command("claude", "ls", str(world.work)))
    assert done.returncode == 2
    assert "expected a policy" in done.stderr


def test_an_untrusted_policy_of_the_folder_does_not_count(world: World, agent: Agent) -> None:
    world.host()
    (world.work / "vaultroom.yaml").write_text("version: 1\ndefaults: {action: allow}\n")
    assert agent.ask(hook_calls.command("claude", "rm x", str(world.work))).returncode == 2
    world.call("policy", "trust", "vaultroom.yaml")
    payload = hook_calls.command("claude", "rm x", str(world.work), session_id="later")
    assert agent.ask(payload).returncode == 0


def test_a_person_answers_in_time_or_denies(world: World, agent: Agent) -> None:
    world.host()
    payload = hook_calls.command("claude", "git push", str(world.work))
    agent.begin(payload)
    world.call("approve", "allow", world.one_request()["id"])
    assert agent.result() == Answered(0, "", "")
    agent.begin(payload)
    world.call("approve", "deny", world.one_request()["id"], "--reason", "not today")
    denied = agent.result()
    assert denied.returncode == 2
    assert "refused" in denied.stderr and "not today" in denied.stderr


def test_the_agent_cannot_answer_for_itself(world: World, agent: Agent) -> None:
    world.host()
    agent.ask(hook_calls.command("claude", "ls", str(world.work)))
    script = world.script(f"#!/bin/sh\n{VAULTROOM} approve list", "inside.sh")
    script.chmod(0o700)
    assert agent.process.stdin is not None
    agent.process.stdin.write(json.dumps([str(script), ""]) + "\n")
    agent.process.stdin.flush()
    assert "descends from" in agent.result().stderr


def test_a_person_who_needs_longer_than_the_agent_waits(world: World, agent: Agent) -> None:
    world.write_policy((world.home / "policy.yaml").read_text().replace("30s", "300s"))
    world.host()
    payload = hook_calls.command("claude", "git push", str(world.work))
    first = agent.ask(payload, timeout=10)
    assert first.returncode == 2
    assert "run exactly the same again" in first.stderr
    request = world.one_request()
    world.call("approve", "allow", request["id"])
    other = hook_calls.command("claude", "git push elsewhere", str(world.work))
    agent.begin(other, timeout=10)
    elsewhere = world.one_request()
    world.call("approve", "deny", elsewhere["id"])
    assert agent.result().returncode == 2, "an answer is good for the identical act"
    assert agent.ask(payload, timeout=10).returncode == 0
    agent.begin(payload, timeout=10)
    again = world.one_request()
    world.call("approve", "deny", again["id"])
    assert agent.result().returncode == 2, "an answer is good for one act"
    outcomes = payloads(world, "final_effect IS NOT NULL")
    assert [(o["final_effect"], o["record"].get("late", False)) for o in outcomes] == [
        ("deny", True), ("deny", False), ("allow", False), ("deny", False),
    ]  # fmt: skip
    assert [o["approved_by"] for o in outcomes] == ["cli"] * 4


def test_nobody_answers(world: World, agent: Agent) -> None:
    world.write_policy((world.home / "policy.yaml").read_text().replace("30s", "300ms"))
    world.host()
    done = agent.ask(hook_calls.command("claude", "git push", str(world.work)))
    assert (done.returncode, "nobody answered in time" in done.stderr) == (2, True)


def test_a_host_that_is_killed_while_a_person_is_asked(world: World, agent: Agent) -> None:
    host = world.host()
    agent.begin(hook_calls.command("claude", "git push", str(world.work)))
    world.one_request()
    host.kill()
    cut = agent.result()
    assert cut.returncode == 2
    assert "broke off" in cut.stderr
    assert agent.ask(hook_calls.command("claude", "ls")).returncode == 2


def test_a_new_host_goes_on_with_the_session(world: World, agent: Agent) -> None:
    host = world.host()
    payload = hook_calls.command("claude", "ls", str(world.work))
    assert agent.ask(payload).returncode == 0
    host.kill()
    host.wait()
    world.host()
    assert agent.ask(payload).returncode == 0
    opened = payloads(world, "action='session.open'")
    assert [row["record"]["segment"] for row in opened] == [1, 2]
    assert world.call("verify").returncode == 0


def test_the_whole_command_line_does_the_same(world: World) -> None:
    world.host()
    for line, code in (("ls", 0), ("rm x", 2)):
        payload = hook_calls.command("claude", line, str(world.work))
        done = subprocess.run(
            [VAULTROOM, "hook", "claude"], input=payload, env=world.environ(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    unknown = subprocess.run(
        [VAULTROOM, "hook", "cursor"], env=world.environ(), check=False, capture_output=True
    )
    assert unknown.returncode == 2


def agent_script(world: World, *lines: str) -> Path:
    """An agent of `vaultroom run` that announces each line, then runs it in a shell if it may."""
    client = write_client(home_of(world), "claude")
    steps = [(line, hook_calls.command("claude", line, str(world.work))) for line in lines]
    text = f"""\
import subprocess
for line, payload in {steps!r}:
    announced = subprocess.run([{str(client)!r}], input=payload, text=True, capture_output=True)
    print(announced.returncode, flush=True)
    if announced.returncode == 0:
        print(subprocess.run(["sh", "-c", line], capture_output=True).returncode, flush=True)
print(subprocess.run(["sh", "-c", "git --version"], capture_output=True).returncode, flush=True)
"""
    path = world.work / "agent.py"
    path.write_text(text)
    return path


def run_agent(world: World, path: Path) -> subprocess.Popen[str]:
    return world.start("run", "--agent", "scripted", "--", sys.executable, str(path))


def test_one_act_is_asked_about_once(world: World) -> None:
    """The hook's approval answers the shim of exactly the same command, once."""
    agent = run_agent(world, agent_script(world, "git push nowhere"))
    world.call("approve", "allow", world.one_request()["id"])
    out, err = agent.communicate(timeout=30)
    assert out.split() == ["0", "128", "0"], err
    (hook,) = payloads(world, "source='hook' AND final_effect IS NULL")
    shim = payloads(world, "source='shim' AND final_effect IS NULL")[0]
    assert shim["record"]["caused_by"] == hook["id"]
    outcomes = payloads(world, "final_effect IS NOT NULL")
    assert [(o["source"], o["final_effect"], o["approved_by"]) for o in outcomes] == [
        ("hook", "allow", "cli"),
        ("shim", "allow", "hook"),
    ]


def test_a_denied_hook_lends_nothing_and_others_are_orphans(world: World) -> None:
    agent = run_agent(world, agent_script(world, "git push nowhere"))
    world.call("approve", "deny", world.one_request()["id"])
    out, _ = agent.communicate(timeout=30)
    assert out.split() == ["2", "0"]
    (shim,) = payloads(world, "source='shim'")
    assert shim["record"]["orphan"] is True


def test_another_command_than_the_announced_one_is_asked_about(world: World) -> None:
    client = write_client(home_of(world), "claude")
    payload = shlex.quote(hook_calls.command("claude", "git push nowhere", str(world.work)))
    pushes = "git push elsewhere; echo $?; git push nowhere; echo $?; git push nowhere"
    lines = f"printf %s {payload} | {client}; {pushes}"
    path = world.work / "agent.py"
    path.write_text(f"import subprocess; subprocess.run(['bash', '-c', {lines!r}])")
    agent = run_agent(world, path)
    first = world.one_request()
    world.call("approve", "allow", first["id"])
    second = _besides(world, first)
    assert "elsewhere" in second["summary"]
    world.call("approve", "deny", second["id"])
    world.call("approve", "deny", _besides(world, first, second)["id"])
    out, _ = agent.communicate(timeout=30)
    assert out.split() == ["126", "128"]


def _besides(world: World, *known: dict[str, Any]) -> dict[str, Any]:
    ids = {request["id"] for request in known}
    return wait_for(lambda: next((r for r in world.requests() if r["id"] not in ids), None), "another")


def test_in_a_session_its_own_policy_counts(world: World) -> None:
    strict = world.work / "strict.yaml"
    strict.write_text("version: 1\ndefaults: {action: deny}\nshims: {binaries: []}\n")
    path = agent_script(world, "ls")
    agent = world.start("run", "--policy", str(strict), "--", sys.executable, str(path))
    out, _ = agent.communicate(timeout=30)
    assert out.split()[0] == "2"
    assert os.path.exists(world.db)
    assert len(world.rows("action='session.open'")) == 1

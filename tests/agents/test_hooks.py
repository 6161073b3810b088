"""The real agents with Vaultroom's hook: stopped, let through, and refused where nobody answers."""

from __future__ import annotations

import subprocess

import pytest

from tests.kit.hooked_agents import PACKAGES, home_of, run_agent, shell_call
from tests.kit.world import World

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

AGENTS = tuple(PACKAGES)
SPELLINGS = ("rm -rf ./victim", "/bin/rm -rf victim")
POLICY = """\
version: 1
defaults: {action: allow}
rules:
  - name: "keep-the-victim"
    match: {action: [fs.delete], path: ["./victim/**", "./victim"]}
    effect: deny
    message: "The victim stays."
shims:
  binaries: []
"""


def _prepare(world: World) -> None:
    world.write_policy(POLICY)
    subprocess.run(["git", "init", "-q", str(world.work)], check=True)
    (world.work / "victim").mkdir()
    (world.work / "victim" / "file").write_text("alive")


def _alive(world: World) -> bool:
    return (world.work / "victim" / "file").exists()


@pytest.mark.parametrize("agent", AGENTS)
def test_the_victim_survives_and_git_status_runs(world: World, agent: str) -> None:
    _prepare(world)
    world.host()
    calls = [shell_call(agent, line) for line in (*SPELLINGS, "git status")]
    model, result = run_agent(world, agent, calls)
    assert _alive(world), result.stderr
    told = model.reported()
    assert told.count("The victim stays.") >= 2, (told[-3000:], result.stdout, result.stderr)
    assert 'rule \\"keep-the-victim\\"' in told.replace('\\\\"', '\\"')
    assert "No commits yet" in told, (told[-3000:], result.stderr)
    denied = world.rows("verdict='deny' AND source='hook'")
    assert [row[3] for row in denied] == ["keep-the-victim"] * 2
    opened = world.rows("action='session.open'")
    assert len(opened) == 1
    assert world.call("verify").returncode == 0


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_host_it_is_refused(world: World, agent: str) -> None:
    _prepare(world)
    host = world.host()
    host.kill()
    host.wait()
    model, result = run_agent(world, agent, [shell_call(agent, SPELLINGS[0])])
    assert _alive(world), (result.stdout, result.stderr)
    assert "no Vaultroom host answers" in model.reported(), (result.stdout, result.stderr)


@pytest.mark.parametrize("agent", AGENTS)
def test_with_the_hook_program_removed_it_is_refused(world: World, agent: str) -> None:
    _prepare(world)
    home_of(world).prepare()
    model, result = run_agent(world, agent, [shell_call(agent, SPELLINGS[0])], install=False)
    assert model.seen, (result.stdout, result.stderr)
    assert _alive(world), (result.stdout, result.stderr)


def test_claude_with_its_own_permissions_is_refused_too(world: World) -> None:
    _prepare(world)
    model, _ = run_agent(world, "claude", [shell_call("claude", SPELLINGS[0])], bypass=False)
    assert _alive(world)
    assert "no Vaultroom host answers" in model.reported()

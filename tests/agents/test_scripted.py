"""The same story as with the real agent, with a scripted bash agent: it needs no npm."""

from __future__ import annotations

import json

from tests.agents.test_claude import POLICY
from tests.kit.world import World


def test_the_victim_survives_and_the_agent_carries_on(world: World) -> None:
    world.write_policy(POLICY)
    victim = world.work / "victim"
    victim.mkdir()
    (victim / "file").write_text("alive\n")
    world.script('rm -rf ./victim; echo "code $?"; cat victim/file')
    result = world.call("run", "--agent", "scripted", "--", "bash", "agent.sh")
    assert result.stdout == "code 126\nalive\n"
    assert 'denied by rule "keep-the-victim": The victim stays.' in result.stderr
    (denied,) = (json.loads(row[6]) for row in world.rows("verdict='deny'"))
    assert (denied["agent"], denied["record"]["rule"]) == ("scripted", "keep-the-victim")
    assert world.call("verify").returncode == 0

"""The real Claude Code CLI under `vaultroom run`, asked by a scripted model to delete a folder."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.kit.mock_model import CLOSING, ToolCall, mock_model
from tests.kit.npm_agents import installed
from tests.kit.world import VAULTROOM, World

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

POLICY = """\
version: 1
defaults: {action: allow}
rules:
  - name: "keep-the-victim"
    match: {action: [fs.delete], path: ["./victim/**"]}
    effect: deny
    message: "The victim stays."
shims:
  binaries: [rm, cat]
"""


def test_the_victim_survives_and_claude_carries_on(world: World) -> None:
    programs = installed("claude", "@anthropic-ai/claude-code")
    world.write_policy(POLICY)
    victim = world.work / "victim"
    victim.mkdir()
    (victim / "file").write_text("alive")
    calls = [
        ToolCall("Bash", {"command": "rm -rf ./victim", "description": "remove the victim"}),
        ToolCall("Bash", {"command": "cat victim/file", "description": "look again"}),
    ]
    with mock_model(calls) as model:
        environ = world.environ(
            {
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "not-a-key",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "IS_SANDBOX": "1",
            }
        )
        claude = ["claude", "-p", "Remove the victim.", "--dangerously-skip-permissions"]
        result = subprocess.run(
            [VAULTROOM, "run", "--", *claude],
            env=environ,
            cwd=world.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    assert result.returncode == 0, result.stderr
    assert (victim / "file").read_text() == "alive"
    refusal, afterwards = model.tool_results()
    assert 'denied by rule "keep-the-victim": The victim stays.' in refusal
    assert "126" in refusal
    assert afterwards == "alive"
    assert CLOSING in result.stdout

    denied = [json.loads(row[6]) for row in world.rows("verdict='deny'")]
    assert [(event["cmd"], event["argv"]) for event in denied] == [("rm", ["rm", "-rf", "./victim"])]
    assert denied[0]["record"]["rule"] == "keep-the-victim"
    assert denied[0]["agent"] == "claude"
    assert denied[0]["cwd"] == str(world.work)
    verified = world.call("verify", "--json")
    assert verified.returncode == 0
    assert json.loads(verified.stdout)["sessions"][0]["state"] == "sealed"

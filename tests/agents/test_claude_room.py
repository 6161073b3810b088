"""The real Claude Code CLI, interactive in one terminal, guarded by the room in another."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from tests.kit.mock_model import CLOSING, ToolCall, mock_model
from tests.kit.npm_agents import installed
from tests.kit.tmux import tmux
from tests.kit.world import VAULTROOM, World, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.terminal, pytest.mark.timeout(600)]

KEY = "not-a-key-but-long-enough-to-be-shown"


def _accept_everything(world: World) -> None:
    """What a user has long answered in Claude Code's own first-run dialogs."""
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {
            str(world.work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    (world.user / ".claude.json").write_text(json.dumps(settings))
    (world.user / ".claude").mkdir()
    (world.user / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')


def test_claude_asks_and_the_room_answers(world: World) -> None:
    programs = installed("claude", "@anthropic-ai/claude-code")
    subprocess.run(["git", "init", "-q", str(world.work)], check=True)
    _accept_everything(world)
    calls = [
        ToolCall("Bash", {"command": "rm -rf ./victim", "description": "remove the victim"}),
        ToolCall("Bash", {"command": "git push origin main", "description": "push"}),
    ]
    (world.work / "victim").mkdir()
    with mock_model(calls) as model:
        environ = world.environ(
            {
                "PATH": f"{programs}{os.pathsep}{world.environ()['PATH']}",
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": KEY,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "IS_SANDBOX": "1",
            }
        )
        with (
            tmux([VAULTROOM], environ=environ, cwd=world.work) as room,
            tmux(["bash", "--norc"], environ=environ, cwd=world.work, columns=100, rows=40) as terminal,
        ):
            room.wait("Agents")
            wait_for(world.is_hosted, "the host")
            terminal.line(f"{VAULTROOM} run -- claude --dangerously-skip-permissions; echo ended $?")
            terminal.wait("bypass permissions", 60)
            time.sleep(1.0)
            terminal.type("Remove the victim, then push.")
            time.sleep(0.5)
            terminal.key("Enter")
            room.wait("$ git push origin main", 60)
            time.sleep(1.2)
            room.type("d")
            terminal.wait(CLOSING, 60)
            assert "claude" in room.screen()
            terminal.type("/exit")
            time.sleep(0.5)
            terminal.key("Enter")
            terminal.wait("ended 0", 60)
    removal, push = model.tool_results()
    assert 'denied by rule "block-rm"' in removal
    assert 'denied by rule "git-push-ask"' in push
    assert (world.work / "victim").is_dir()
    verdicts = [(row[2], row[3], row[4]) for row in world.rows("rule_name IS NOT NULL")]
    assert ("deny", "block-rm", None) in verdicts
    assert ("require_approval", "git-push-ask", "deny") in verdicts

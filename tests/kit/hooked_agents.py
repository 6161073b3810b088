"""The real agents with Vaultroom's hook in their settings, in a throw-away world."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.kit.mock_model import MockModel, ToolCall, mock_model
from tests.kit.npm_agents import installed
from tests.kit.world import World
from vaultroom.intercept.hooks.client_files import hook_command, write_client
from vaultroom.intercept.hooks.opencode import plugin_text
from vaultroom.paths import Home, find_home

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "opencode": "opencode-ai",
    "gemini": "@google/gemini-cli",
}
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses at once, so that agents do not wait for a network."""
SECONDS = 120


def home_of(world: World) -> Home:
    return find_home({"VAULTROOM_HOME": str(world.home)})


def shell_call(agent: str, line: str) -> ToolCall:
    """The tool call that makes the agent run `line`."""
    if agent == "claude":
        return ToolCall("Bash", {"command": line, "description": "scripted"})
    if agent == "codex":
        return ToolCall("exec_command", {"cmd": line})
    if agent == "gemini":
        return ToolCall("run_shell_command", {"command": line})
    return ToolCall("bash", {"command": line, "description": "scripted"})


def run_agent(
    world: World, agent: str, calls: Sequence[ToolCall], *, bypass: bool = True, install: bool = True
) -> tuple[MockModel, subprocess.CompletedProcess[str]]:
    """Run the agent to its end. `bypass`: its own permissions let everything through."""
    programs = installed(agent, PACKAGES[agent])
    client = write_client(home_of(world), agent) if install else home_of(world).hooks / agent
    with mock_model(calls) as model:
        command, variables = _SETTINGS[agent](world, client, model.url, bypass)
        environ = world.environ(
            {
                "PATH": f"{programs}{os.pathsep}{world.environ()['PATH']}",
                **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
                "NO_PROXY": "127.0.0.1,localhost",
                "no_proxy": "127.0.0.1,localhost",
                **variables,
            }
        )
        result = subprocess.run(
            command,
            env=environ,
            cwd=world.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    return model, result


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _claude(world: World, client: Path, url: str, bypass: bool) -> tuple[list[str], dict[str, str]]:
    hook = {"type": "command", "command": hook_command(client, "claude")}
    settings = {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}
    _write(world.user / ".claude" / "settings.json", json.dumps(settings))
    mode = ["--dangerously-skip-permissions"] if bypass else ["--allowedTools", "Bash"]
    return ["claude", "-p", "Do as scripted.", *mode], {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "not-a-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }


def _codex(world: World, client: Path, url: str, bypass: bool) -> tuple[list[str], dict[str, str]]:
    config = f"""\
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = {json.dumps(url + "/v1")}
wire_api = "responses"
[[hooks.PreToolUse]]
matcher = ".*"
[[hooks.PreToolUse.hooks]]
type = "command"
command = {json.dumps(hook_command(client, "codex"))}
"""
    _write(world.user / ".codex" / "config.toml", config)
    trust = "--dangerously-bypass-hook-trust"
    command = ["codex", "exec", "--skip-git-repo-check", trust, "Do as scripted."]
    return command, {"CODEX_HOME": str(world.user / ".codex")}


def _opencode(world: World, client: Path, url: str, bypass: bool) -> tuple[list[str], dict[str, str]]:
    _write(world.work / ".opencode" / "plugin" / "vaultroom.js", plugin_text(client))
    provider: dict[str, Any] = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "not-a-key"},
        "models": {"scripted": {"name": "scripted", "tool_call": True}},
    }
    config = {"provider": {"scripted": provider}, "model": "scripted/scripted", "autoupdate": False}
    _write(world.work / "opencode.json", json.dumps(config))
    return ["opencode", "run", "-m", "scripted/scripted", "Do as scripted."], {}


def _gemini(world: World, client: Path, url: str, bypass: bool) -> tuple[list[str], dict[str, str]]:
    hook = {"type": "command", "name": "vaultroom", "command": hook_command(client, "gemini")}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "hooks": {"BeforeTool": [{"matcher": "*", "hooks": [hook]}]},
    }
    _write(world.user / ".gemini" / "settings.json", json.dumps(settings))
    command = ["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "Do as scripted."]
    return command, {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "not-a-key"}


_SETTINGS = {"claude": _claude, "codex": _codex, "opencode": _opencode, "gemini": _gemini}

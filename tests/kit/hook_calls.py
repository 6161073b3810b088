"""Payloads as the real agents write them to their hooks."""

from __future__ import annotations

import json
from typing import Any


def claude(tool: str, /, arguments: dict[str, Any], cwd: str = "/w", **more: Any) -> str:
    """Claude Code's PreToolUse; codex takes the same."""
    data = {
        "session_id": "s-1",
        "transcript_path": "/t.jsonl",
        "cwd": cwd,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": "toolu_01",
    }
    return json.dumps(data | more)


def gemini(tool: str, /, arguments: dict[str, Any], cwd: str = "/w", **more: Any) -> str:
    data = {
        "session_id": "s-1",
        "cwd": cwd,
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": tool,
        "tool_input": arguments,
    }
    return json.dumps(data | more)


def opencode(tool: str, /, arguments: dict[str, Any], cwd: str = "/w", **more: Any) -> str:
    data = {
        "hook_event_name": "tool.execute.before",
        "session_id": "s-1",
        "tool_use_id": "call_1",
        "tool_name": tool,
        "tool_input": arguments,
        "cwd": cwd,
    }
    return json.dumps(data | more)


MAKERS = {"claude": claude, "codex": claude, "gemini": gemini, "opencode": opencode}
SHELLS = {"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "opencode": "bash"}


def command(agent: str, line: str, cwd: str = "/w", **more: Any) -> str:
    """The payload of the agent's shell tool."""
    return MAKERS[agent](SHELLS[agent], {"command": line}, cwd, **more)

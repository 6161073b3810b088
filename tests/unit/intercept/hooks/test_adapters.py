"""Each agent's payload is read strictly, and answered in words that it understands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kit import hook_calls
from vaultroom.errors import FrameError
from vaultroom.events import Effect
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks.claude import mcp_name
from vaultroom.intercept.hooks.known import ADAPTERS

AGENTS = tuple(ADAPTERS)
DENY = Outcome(Effect.DENY, "no-rm", 'Say "no" \u202e.')


@pytest.mark.parametrize("agent", AGENTS)
def test_a_call_is_read(agent: str) -> None:
    call = ADAPTERS[agent].read(hook_calls.command(agent, "ls -l", "/home/dev"))
    assert (call.agent, call.session, call.cwd) == (agent, "s-1", "/home/dev")
    assert (call.tool, dict(call.input)) == (hook_calls.SHELLS[agent], {"command": "ls -l"})


def test_sub_agents_and_calls_have_ids() -> None:
    call = ADAPTERS["claude"].read(hook_calls.claude("Bash", {"command": "ls"}, agent_id="a-7"))
    assert (call.tool_use_id, call.agent_id) == ("toolu_01", "a-7")


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"session_id": None}, "session_id"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": "x" * 600}, "session_id"),
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": "/a\0b"}, "NUL"),
        ({"hook_event_name": "PostToolUse"}, "hook event"),
        ({"tool_name": 7}, "tool_name"),
        ({"tool_name": None}, "tool_name"),
        ({"tool_input": "ls"}, "tool_input"),
        ({"tool_input": None}, "tool_input"),
    ],
)
def test_what_is_not_understood_is_named(agent: str, change: dict[str, Any], named: str) -> None:
    with pytest.raises(FrameError, match=named):
        ADAPTERS[agent].read(hook_calls.command(agent, "ls", **change))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "payload",
    [
        "",
        " \n",
        "null",
        "[]",
        "{",
        '{"a":1}{"b":2}',
        '{"session_id":"a","session_id":"b"}',
        '{"a":NaN}',
        '{"a":"\udcff"}',
        '{"a":"\\ud800"}',
        "[" * 100_000,
        '{"a":' * 70 + "1" + "}" * 70,
        hook_calls.claude("Bash", {"command": "ls"})[:-1],
    ],
)
def test_rubbish_is_refused(agent: str, payload: str) -> None:
    with pytest.raises(FrameError, match="expected"):
        ADAPTERS[agent].read(payload)


@pytest.mark.parametrize(
    ("name", "server", "expected"),
    [
        ("Bash", None, ("", "Bash")),
        ("mcp__fs__write_file", None, ("fs", "write_file")),
        ("mcp__my__fs__write", {"name": "my__fs"}, ("my__fs", "write")),
        ("mcp__a_b__t", {"name": "a.b"}, ("a.b", "t")),
        ("mcp__fs__write", {"name": "other"}, ("fs", "write")),
    ],
)
def test_names_of_mcp_tools(name: str, server: object, expected: tuple[str, str]) -> None:
    assert mcp_name(name, server) == expected


@pytest.mark.parametrize("name", ["mcp__", "mcp__fs", "mcp__fs__", "mcp____t"])
def test_half_a_name_of_an_mcp_tool(name: str) -> None:
    with pytest.raises(FrameError, match="mcp__server__tool"):
        mcp_name(name, None)


def test_gemini_says_server_and_tool() -> None:
    payload = hook_calls.gemini("mcp_fs_x", {}, mcp_context={"server_name": "fs", "tool_name": "x"})
    call = ADAPTERS["gemini"].read(payload)
    assert (call.server, call.tool) == ("fs", "x")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_allow_says_nothing(agent: str) -> None:
    answer = ADAPTERS[agent].answer(Outcome(Effect.ALLOW, "r"))
    assert (answer.code, answer.stdout, answer.stderr) == (0, "", "")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_deny_is_code_2_and_says_rule_and_message(agent: str) -> None:
    answer = ADAPTERS[agent].answer(DENY)
    assert answer.code == 2
    assert answer.stderr.startswith('vaultroom: denied by rule "no-rm": Say "no" ')
    assert "\u202e" not in answer.stderr + answer.stdout
    if agent == "opencode":
        return
    said = json.loads(answer.stdout)
    if agent == "gemini":
        assert said == {"decision": "deny", "reason": answer.stderr.rstrip("\n")}
    else:
        assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert said["hookSpecificOutput"]["permissionDecisionReason"] == answer.stderr.rstrip("\n")

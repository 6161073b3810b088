from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vaultroom.gate.protect import DOCTOR_PROBE
from vaultroom.gate.protected_commands import DOCTOR_PROBE_PROGRAM
from vaultroom.install.agents import AGENTS
from vaultroom.install.probe import (
    PROBE_PROGRAM,
    PROBE_RULE,
    Held,
    ask,
    commands_in,
    judge,
    payload,
)
from vaultroom.intercept.hooks.known import ADAPTERS

_CLAUDE = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"%s"}}'


def test_the_probe_is_what_the_built_in_rule_denies() -> None:
    assert (PROBE_PROGRAM, PROBE_RULE) == (DOCTOR_PROBE_PROGRAM, DOCTOR_PROBE)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_payload_is_one_that_the_adapter_understands(agent: str) -> None:
    call = ADAPTERS[agent].read(payload(agent, "/w"))
    assert call.cwd == "/w"
    assert call.input["command"] == PROBE_PROGRAM


@pytest.mark.parametrize(
    ("agent", "code", "out", "err", "held"),
    [
        ("claude", 2, "", f'denied by rule "{PROBE_RULE}"', Held.DENIED),
        ("claude", 2, "", "not found", Held.REFUSED),
        ("claude", 0, _CLAUDE % "deny", PROBE_RULE, Held.DENIED),
        ("claude", 0, _CLAUDE % "allow", PROBE_RULE, Held.OPEN),
        ("claude", 0, "", "", Held.OPEN),
        ("claude", 1, "", PROBE_RULE, Held.OPEN),
        ("claude", 127, "", "not found", Held.OPEN),
        ("claude", 0, "deny", "", Held.OPEN),
        ("claude", None, "", "", Held.OPEN),
        ("gemini", 0, '{"decision":"deny","reason":"x"}', PROBE_RULE, Held.DENIED),
        ("gemini", 0, _CLAUDE % "deny", PROBE_RULE, Held.OPEN),
        ("codex", 2, "", PROBE_RULE, Held.DENIED),
        ("opencode", 1, "", "x", Held.REFUSED),
        ("opencode", 0, "", PROBE_RULE, Held.OPEN),
    ],
)
def test_what_an_answer_means_to_the_agent(
    agent: str, code: int | None, out: str, err: str, held: Held
) -> None:
    assert judge(agent, code, out, err).held is held


def test_a_hook_is_started_by_a_shell_with_the_payload(tmp_path: Path) -> None:
    command = f"grep -q {PROBE_PROGRAM} && echo '{PROBE_RULE}' >&2 && exit 2"
    answer = ask("claude", command, cwd=str(tmp_path), environ=os.environ)
    assert answer.held is Held.DENIED


def test_a_hook_that_never_answers_is_ended(tmp_path: Path) -> None:
    answer = ask("claude", "sleep 100", cwd=str(tmp_path), environ=os.environ, seconds=0.2)
    assert answer.held is Held.OPEN


def test_only_our_commands_are_found(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    hooks = [{"hooks": [{"command": "/v/hooks/claude || exit 2"}]}, {"hooks": [{"command": "other"}]}, 3]
    settings.write_text(json.dumps({"hooks": {"PreToolUse": hooks}}))
    assert commands_in("claude", settings, Path("/v/hooks")) == ("/v/hooks/claude || exit 2",)
    assert commands_in("claude", tmp_path / "none", Path("/v/hooks")) == ()
    settings.write_text('{"hooks": {"PreToolUse": 3}}')
    assert commands_in("claude", settings, Path("/v/hooks")) == ()

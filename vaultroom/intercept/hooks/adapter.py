"""What Vaultroom needs to know about one agent's pre-tool hook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks.tools import Tool
from vaultroom.visible import visible


@dataclass(frozen=True, slots=True)
class HookCall:
    """One tool call that an agent announces.

    `session` is the agent's own id of its session, `cwd` the absolute folder that the tool would work in.
    `tool` is the tool's name as the agent writes it, with `server` where it belongs to an MCP server (then
    without the prefix). `agent_id` names a sub-agent; it and `tool_use_id` are empty where not given.
    """

    agent: str
    session: str
    cwd: str
    tool: str
    input: Mapping[str, Any] = field(hash=False)
    server: str = ""
    tool_use_id: str = ""
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """A deny in the agent's words: `before` and `behind` stand around the reason, a JSON string."""

    before: str
    behind: str
    code: int


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What the client prints, and its exit code."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""


class Adapter(Protocol):
    """One agent."""

    name: str
    processes: frozenset[str]
    """Names that the kernel shows for the agent's own process."""
    tools: Mapping[str, Tool]
    denial: Denial
    native: str
    """What hands the question to the agent's own prompt."""
    hook_seconds: int
    """The agent's own limit for a hook where its settings do not say."""
    honours_exit_2: bool
    """Whether a hook command that ends with 2 stops the call, whatever it printed."""

    def read(self, payload: str) -> HookCall:
        """The call in the agent's payload. Raises FrameError, naming what was not understood."""
        ...

    def answer(self, outcome: Outcome) -> HookAnswer:
        """The outcome in words that this agent understands."""
        ...


def denial_text(outcome: Outcome) -> str:
    """What the agent is told: the rule, and its message with what a person typed."""
    rule = f'rule "{visible(outcome.rule_name)}"' if outcome.rule_name else "the default"
    message = visible(outcome.message)
    return f"vaultroom: denied by {rule}: {message}" if message else f"vaultroom: denied by {rule}"


def denied(denial: Denial, text: str) -> HookAnswer:
    """The deny on every way that the agent listens to."""
    import json

    out = f"{denial.before}{json.dumps(text)}{denial.behind}\n" if denial.before else ""
    return HookAnswer(denial.code, out, f"{text}\n")

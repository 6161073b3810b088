"""Codex: `[[hooks.PreToolUse]]` in its config.toml.

It knows one answer, deny. "allow" and "ask" make it mark the hook as failed and run the call, so an allow
says nothing at all. Exit code 2 with a reason on stderr denies as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from vaultroom.events import Action
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks.adapter import Denial, HookAnswer, HookCall, denial_text, denied
from vaultroom.intercept.hooks.claude import claude_like
from vaultroom.intercept.hooks.tools import File, Patch, Shell, Tool

TOOLS: Mapping[str, Tool] = {
    "Bash": Shell("command"),
    "apply_patch": Patch("command"),
    "view_image": File(Action.FS_READ, "path"),
}


class Codex:
    name = "codex"
    processes = frozenset({"codex"})
    tools = TOOLS
    denial = Denial(
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        '"permissionDecisionReason":',
        "}}",
        2,
    )
    native = ""
    hook_seconds = 60
    honours_exit_2 = True

    def read(self, payload: str) -> HookCall:
        return claude_like(self.name, payload)

    def answer(self, outcome: Outcome) -> HookAnswer:
        return HookAnswer() if outcome.allowed else denied(self.denial, denial_text(outcome))

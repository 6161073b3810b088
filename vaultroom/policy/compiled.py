"""Rules made ready for judging, and the index from an action to the rules that can match it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vaultroom.events import AGENT_ACTIONS, FILE_ACTIONS, Action, Effect
from vaultroom.policy.matchers.hosts import HostPattern, HostSet
from vaultroom.policy.model import Condition, Expression, JudgeEngine, Policy, Rule


class Judge(Protocol):
    """An expression that can be asked: our own program, or cel-python's second opinion."""

    def evaluate(self, view: dict[str, Any]) -> bool:
        """Raises CelEvalError when it has no value for the view."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule. `bit` is its position in the masks of the path index.

    `commands` are the only values of `cmd` for which the expression can hold (None: no such bound);
    `judges_opaque` says whether it may match an act that could not be read.
    """

    bit: int
    name: str
    effect: Effect
    message: str
    line: int
    why: str
    has_path: bool
    tools: frozenset[str] | None
    hosts: HostSet | None
    not_hosts: HostSet | None
    judge: Judge | None
    commands: frozenset[str] | None
    judges_opaque: bool
    expression: Expression | None

    @property
    def is_strict(self) -> bool:
        """Whether it holds back rather than lets through."""
        return self.effect is not Effect.ALLOW


def compile_rule(position: int, rule: Rule, engine: JudgeEngine) -> CompiledRule:
    match = rule.match
    program = match.cel.program if match.cel is not None else None
    judge: Judge | None = program
    if match.cel is not None and engine is JudgeEngine.CEL_PYTHON:
        from vaultroom.policy.cel.second_opinion import SecondOpinion

        judge = SecondOpinion(match.cel.source)
    if match.cel is not None and (judge is None or program is None):
        raise ValueError(f"rule {rule.name!r} was not compiled by the loader")
    own = engine is JudgeEngine.VAULTROOM and program is not None
    tests_opaque = program is not None and "opaque" in program.fields
    return CompiledRule(
        bit=1 << position,
        name=rule.name,
        effect=rule.effect,
        message=rule.message,
        line=rule.spot.line,
        why=f"rule {rule.name!r} (line {rule.spot.line}) is the first that matches",
        has_path=match.path is not None,
        tools=None if match.tool is None else frozenset(item.value for item in match.tool),
        hosts=_host_set(match.host),
        not_hosts=_host_set(match.not_host),
        judge=judge,
        commands=program.necessary("cmd") if own and program is not None else None,
        judges_opaque=rule.effect is not Effect.ALLOW or tests_opaque,
        expression=match.cel,
    )


def _host_set(items: tuple[Condition[HostPattern], ...] | None) -> HostSet | None:
    return None if items is None else HostSet(item.value for item in items)


Candidates = dict[tuple[Action, bool], tuple[CompiledRule, ...]]
"""From (action, whether the facet is derived) to the rules that may match, in order."""


def index_by_action(policy: Policy, rules: Sequence[CompiledRule]) -> Candidates:
    """Which rules have to be looked at for a facet; exact for the action, the rest is matched."""
    candidates: Candidates = {}
    for action in AGENT_ACTIONS:
        pairs = list(zip(policy.rules, rules, strict=True))
        candidates[action, False] = tuple(ready for rule, ready in pairs if _covers(rule, action))
        candidates[action, True] = tuple(ready for rule, ready in pairs if names_action(rule, action))
    return candidates


def _covers(rule: Rule, action: Action) -> bool:
    listed = rule.match.action
    return listed is None or any(item.value is action for item in listed)


def names_action(rule: Rule, action: Action) -> bool:
    """Whether a rule names what a derived facet does: by its action, or without one by path, host or tool."""
    match = rule.match
    if match.action is not None:
        return _covers(rule, action)
    if action in FILE_ACTIONS:
        return match.path is not None
    if action is Action.NET_EGRESS:
        return match.host is not None or match.not_host is not None
    return action is Action.MCP_TOOL and match.tool is not None

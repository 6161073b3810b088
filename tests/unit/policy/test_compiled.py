"""Rules made ready for judging."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultroom.events import Action
from vaultroom.policy.cel.second_opinion import SecondOpinion
from vaultroom.policy.compiled import compile_rule, index_by_action
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import JudgeEngine

POLICY = load_policy(
    b"""version: 1
rules:
  - {name: a, match: {action: [fs.read], cel: 'event.cmd == "x"'}, effect: allow}
  - {name: b, match: {path: [/x]}, effect: deny}
  - {name: c, match: all, effect: require_approval}
  - {name: d, match: {cel: 'event.opaque'}, effect: allow}
""",
    name="p",
    environ={},
    home="/h",
)


def test_a_compiled_rule() -> None:
    a, b, _, d = (compile_rule(i, rule, JudgeEngine.VAULTROOM) for i, rule in enumerate(POLICY.rules))
    assert (a.bit, b.bit) == (1, 2)
    assert a.commands == {"x"}
    assert (a.is_strict, b.is_strict) == (False, True)
    assert (a.judges_opaque, b.judges_opaque, d.judges_opaque) == (False, True, True)
    assert (a.has_path, b.has_path) == (False, True)


def test_cel_python_judges_without_our_shortcuts() -> None:
    compiled = compile_rule(0, POLICY.rules[0], JudgeEngine.CEL_PYTHON)
    assert isinstance(compiled.judge, SecondOpinion)
    assert compiled.commands is None


def test_a_rule_whose_expression_was_never_compiled_is_refused() -> None:
    rule = POLICY.rules[0]
    assert rule.match.cel is not None
    bare = replace(rule, match=replace(rule.match, cel=replace(rule.match.cel, program=None)))
    with pytest.raises(ValueError, match="not compiled"):
        compile_rule(0, bare, JudgeEngine.VAULTROOM)


def test_the_index_keeps_the_order_of_the_file() -> None:
    rules = [compile_rule(i, rule, JudgeEngine.VAULTROOM) for i, rule in enumerate(POLICY.rules)]
    index = index_by_action(POLICY, rules)

    def names(action: Action, *, derived: bool) -> str:
        return "".join(rule.name for rule in index[action, derived])

    assert names(Action.FS_READ, derived=False) == "abcd"
    assert names(Action.FS_READ, derived=True) == "ab"
    assert names(Action.SHELL_EXEC, derived=False) == "bcd"
    assert names(Action.SHELL_EXEC, derived=True) == ""

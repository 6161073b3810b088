"""The second CEL engine's word on a policy."""

from __future__ import annotations

import pytest

from vaultroom.policy.agreement import disagreements, synthetic_views
from vaultroom.policy.cel import FIELDS, second_opinion
from vaultroom.policy.loader import load_policy

TEXT = b"""version: 1
rules:
  - {name: plain, match: all, effect: deny}
  - name: one
    match: {cel: 'event.cmd == "git" || event.argv.exists(a, a == "-rf")'}
    effect: deny
"""


def test_every_synthetic_view_is_whole() -> None:
    assert all(FIELDS.keys() <= view.keys() for view in synthetic_views())


def test_engines_agree_on_an_ordinary_policy() -> None:
    assert disagreements(load_policy(TEXT, name="p", environ={}, home="/h")) == ()


def test_a_disagreement_is_a_finding_at_the_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion.SecondOpinion, "evaluate", lambda self, view: view["cmd"] == "rm")
    (finding,) = disagreements(load_policy(TEXT, name="p", environ={}, home="/h"))
    assert (finding.code, finding.rule, finding.line, finding.column) == (
        "cel-engines-disagree",
        "one",
        5,
        18,
    )

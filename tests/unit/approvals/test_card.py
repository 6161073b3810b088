from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.approvals.making import command, request_for, with_facets
from vaultroom.approvals.card import (
    card_from_dict,
    card_of,
    card_to_dict,
    detail_lines,
    lines_of,
    memory_lines,
)
from vaultroom.approvals.summary import cells
from vaultroom.events import Action, Facet
from vaultroom.visible import visible


def test_a_card_says_what_the_specification_wants() -> None:
    text = "\n".join(lines_of(card_of(request_for()), 80))
    assert "approval requested" in text
    assert "Agent: opencode · Rule: git-push-ask (line 31)" in text
    assert "Action: shell.exec" in text
    assert "$ git push origin main" in text
    assert "cwd: /home/dev/proj" in text


def test_a_long_command_is_wrapped_and_never_cut() -> None:
    arguments = [f"--option-{number}" for number in range(500)]
    lines = lines_of(card_of(request_for(command("git", *arguments))), 72)
    whole = "".join(line.removeprefix("  ") for line in lines)
    assert all(argument in whole for argument in arguments)
    assert max(cells(line) for line in lines) <= 72


@given(st.text(), st.text(), st.text(), st.integers(20, 100))
def test_everything_on_a_card_is_visible_and_fits(one: str, two: str, three: str, width: int) -> None:
    event = replace(command("x", one, raw=two, cwd=three), agent=one)
    request = replace(request_for(event, rule=three or "r"), rule_text=two)
    card = card_of(request)
    for line in [*lines_of(card, width), *detail_lines(card, width), *memory_lines(card, width)]:
        assert visible(line) == line
        assert cells(line) <= width


def test_the_parts_that_ask_are_named() -> None:
    test = Facet(Action.SHELL_EXEC, cmd="npm", argv=("npm", "test"))
    push = Facet(Action.SHELL_EXEC, cmd="git", argv=("git", "push"))
    event = with_facets(command("npm", "test", raw="npm test && git push"), push, test)
    text = "\n".join(lines_of(card_of(request_for(event)), 80))
    assert "asks: $ git push — rule git-push-ask" in text and "asks: $ npm" not in text


def test_what_would_be_remembered_is_on_the_card_or_why_not() -> None:
    assert "r remembers: $ git push origin main" in "".join(memory_lines(card_of(request_for()), 200))
    opaque = card_of(request_for(command("x", opaque=True)))
    assert "cannot be remembered" in "".join(memory_lines(opaque, 200))
    assert "cannot be read statically" in "\n".join(lines_of(opaque, 80))


def test_waiters_and_details() -> None:
    card = card_of(replace(request_for(), waiters=3))
    assert "3 identical acts" in "\n".join(lines_of(card, 80))
    details = "\n".join(detail_lines(card, 80))
    assert card.id in details and "- name: git-push-ask" in details


def test_cards_travel_as_json() -> None:
    card = card_of(request_for())
    assert card_from_dict(json.loads(json.dumps(card_to_dict(card)))) == card


@pytest.mark.parametrize(
    "change", [{"act": 1}, {"remembers": "x"}, {"waiters": True}, {"deadline": "x"}, {"asks": [1]}]
)
def test_a_card_of_another_shape_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        card_from_dict(card_to_dict(card_of(request_for())) | change)
    with pytest.raises(ValueError, match="member 'act'"):
        card_from_dict({k: v for k, v in card_to_dict(card_of(request_for())).items() if k != "act"})

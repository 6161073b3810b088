from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.approvals.making import command, request_for
from vaultroom.approvals.answer import Answer, AnswerKind
from vaultroom.approvals.card import Card, card_of
from vaultroom.approvals.channels.prompt_state import (
    ARM_SECONDS,
    Command,
    Done,
    Draw,
    PromptState,
    Send,
    Status,
)
from vaultroom.events import Event

START = 1000.0


def a_card(event: Event | None = None) -> Card:
    return replace(card_of(request_for(event)), deadline=START + 60)


def open_prompt(card: Card | None = None, *, rows: int = 40, columns: int = 80) -> PromptState:
    state = PromptState(card or a_card(), columns=columns, rows=rows)
    state.start()
    state.painted(START)
    return state


def answers(commands: list[Command]) -> list[Answer]:
    return [command.answer for command in commands if isinstance(command, Send)]


def statuses(commands: list[Command]) -> str:
    return " ".join(command.text for command in commands if isinstance(command, Status))


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("a", AnswerKind.ALLOW_ONCE),
        ("r", AnswerKind.ALLOW_RULE),
        ("d", AnswerKind.DENY),
        ("ctrl-c", AnswerKind.DENY),
    ],
)
def test_one_key_answers_and_is_bound_to_the_card(key: str, kind: AnswerKind) -> None:
    state = open_prompt()
    (answer,) = answers(state.keys([key], START + 1.01 * ARM_SECONDS))
    assert (answer.kind, answer.by, answer.shown) == (kind, "tty", state.card.shown)
    assert state.keys(["a"], START + 10) == [] and state.tick(START + 100) == []


KEYS = st.sampled_from(["a", "r", "d", "e", "ctrl-c", "enter", " ", "?", "x", "escape"])
EARLY = st.floats(0, ARM_SECONDS, exclude_max=True)


@given(st.lists(st.tuples(EARLY, st.lists(KEYS, min_size=1, max_size=3)), max_size=12))
def test_no_keys_before_arming_ever_answer(presses: list[tuple[float, list[str]]]) -> None:
    state = open_prompt()
    for after, keys in sorted(presses, key=lambda press: press[0]):
        assert answers(state.keys(keys, START + after)) == []


@given(st.lists(st.tuples(EARLY, KEYS), min_size=2, max_size=30))
def test_no_keys_without_a_pause_ever_answer(presses: list[tuple[float, str]]) -> None:
    state = open_prompt()
    now = START + ARM_SECONDS / 2
    state.keys(["x"], now)
    for pause, key in presses:
        now += pause
        assert answers(state.keys([key], now)) == []


@given(st.lists(KEYS, max_size=20))
def test_nothing_answers_before_the_card_was_painted(keys: list[str]) -> None:
    state = PromptState(a_card(), columns=80, rows=40)
    state.start()
    for at, key in enumerate(keys):
        assert answers(state.keys([key], START + at)) == []


@given(st.lists(KEYS, min_size=2, max_size=6))
def test_of_keys_that_come_together_none_counts(keys: list[str]) -> None:
    assert answers(open_prompt().keys(keys, START + 5)) == []


@given(st.lists(KEYS, max_size=15), st.integers(6, 12))
def test_a_long_card_is_never_allowed_before_its_end(keys: list[str], rows: int) -> None:
    state = open_prompt(a_card(command("git", *(f"--option-{n}" for n in range(400)))), rows=rows)
    now = START
    for key in keys:
        now += 1
        for sent in answers(state.keys([key], now)):
            assert sent.kind is AnswerKind.DENY or state.at_end
        state.painted(now)


def test_paging_to_the_end_unlocks_after_the_last_page_was_painted() -> None:
    state = open_prompt(a_card(command("git", *(f"--option-{n}" for n in range(200)))), rows=10)
    now, drawn = START, []
    while not state.at_end:
        now += 1
        assert "read to the end first" in statuses(state.keys(["a"], now))
        now += 1
        for page in state.keys([" "], now):
            assert isinstance(page, Draw) and len(page.lines) <= 8
            drawn += page.lines
        assert answers(state.keys(["a"], now + 1)) == []
        now += 2
        state.painted(now)
    assert "--option-199" in "".join(line.removeprefix("  ") for line in drawn)
    assert answers(state.keys(["a"], now + ARM_SECONDS / 2)) == []
    assert answers(state.keys(["a"], now + 2 * ARM_SECONDS))[0].kind is AnswerKind.ALLOW_ONCE


@pytest.mark.parametrize(("columns", "rows"), [(10, 40), (80, 4)])
def test_a_tiny_window_allows_nothing_but_denies(columns: int, rows: int) -> None:
    state = open_prompt(columns=columns, rows=rows)
    now = START
    while state.keys([" "], now := now + 1) and not state.at_end:
        state.painted(now)
    state.painted(now)
    assert answers(state.keys(["a"], now + 1)) == []
    assert answers(state.keys(["d"], now + 2))[0].kind is AnswerKind.DENY


def test_a_typed_reason_denies() -> None:
    state = open_prompt()
    assert "reason" in statuses(state.keys(["e"], START + 1))
    state.keys(list("not nox"), START + 1.01)
    state.keys(["backspace", "w", "\u0301"], START + 1.02)
    (answer,) = answers(state.keys(["enter"], START + 1.03))
    assert (answer.kind, answer.reason) == (AnswerKind.DENY, "not now\u0301".replace("x", ""))


def test_a_reason_can_be_left_and_is_bounded() -> None:
    state = open_prompt()
    state.keys(["e"], START + 1)
    state.keys(["a"] * 2000, START + 2)
    state.keys(["escape"], START + 3)
    assert answers(state.keys(["x"], START + 4)) == []
    state.keys(["e"], START + 5)
    state.keys(["a"] * 2000, START + 6)
    (answer,) = answers(state.keys(["enter"], START + 7))
    assert answer.reason == "a" * 500


def test_what_cannot_be_remembered_offers_no_rule() -> None:
    state = PromptState(a_card(command("rm", "x", opaque=True)), columns=80, rows=40)
    (page,) = state.start()
    state.painted(START)
    assert isinstance(page, Draw)
    text = "\n".join(page.lines)
    assert "cannot be remembered" in text and "r allow this rule" not in text
    assert answers(state.keys(["r"], START + 1)) == []


def test_the_card_says_what_the_rule_key_remembers() -> None:
    (page,) = PromptState(a_card(), columns=80, rows=40).start()
    assert isinstance(page, Draw) and any("r remembers: $ git push" in line for line in page.lines)


def test_details_are_drawn_and_have_to_be_seen_again() -> None:
    state = open_prompt()
    (page,) = state.keys(["?"], START + 1)
    assert isinstance(page, Draw) and any(state.card.id in line for line in page.lines)
    assert answers(state.keys(["a"], START + 2)) == []
    state.painted(START + 3)
    assert answers(state.keys(["a"], START + 4))


def test_a_resized_window_is_drawn_and_has_to_be_seen_again() -> None:
    state = open_prompt()
    assert state.resize(80, 40) == []
    assert isinstance(state.resize(60, 20)[0], Draw)
    assert answers(state.keys(["a"], START + 2)) == []


def test_the_deadline_ends_the_question_and_beats_a_key() -> None:
    state = open_prompt()
    assert state.keys(["a"], START + 60) == [Done("expired: denied")]
    other = open_prompt()
    assert other.tick(START + 60) == [Done("expired: denied")]


def test_a_longer_deadline_from_another_waiter_counts() -> None:
    state = open_prompt()
    state.update(replace(state.card, deadline=START + 90), 2)
    assert "2 more waiting" in statuses(state.tick(START + 60))


def test_an_answer_from_elsewhere_ends_the_question() -> None:
    state = open_prompt()
    assert state.end("denied (by tui)") == [Done("denied (by tui)")]
    assert answers(state.keys(["a"], START + 5)) == []


def test_the_countdown_is_redrawn_only_when_it_changes() -> None:
    state = open_prompt()
    assert "expires 0:59" in statuses(state.tick(START + 0.5))
    assert state.tick(START + 0.6) == []
    assert "expires 0:58" in statuses(state.tick(START + 1.5))

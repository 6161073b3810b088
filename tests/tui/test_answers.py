"""Each answer has one key; no key answers before its card was seen (design, laws 4 and 5)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.widgets import Input

from tests.kit import views
from tests.tui.bench import OTHER, busy_state, request, room
from vaultroom.control.protocol import AnswerCommand, Dossier
from vaultroom.errors import VaultroomError
from vaultroom.tui.arming import MOMENT, READ_ON
from vaultroom.tui.widgets.card import CardBody
from vaultroom.tui.widgets.prompt import Prompt

CARD = views.request_view().card
LONG = "$ echo " + " ".join(f"word-{number}" for number in range(200)) + " && rm -rf /home/dev"


def waiting(*requests: object) -> object:
    return replace(views.state(), requests=requests)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", {"kind": "allow_once"}),
        ("r", {"kind": "allow_rule"}),
        ("w", {"kind": "allow_rule", "directory": "/home/dev/proj"}),
        ("d", {"kind": "deny"}),
    ],
)
async def test_one_key_answers_with_what_was_shown(key: str, expected: dict[str, str]) -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press(key)
        assert bench.control.answers == [
            AnswerCommand(request=views.REQUEST_ID, by="tui", shown=CARD["shown"], **expected)
        ]


async def test_a_reason_is_typed_and_sent() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("e")
        await bench.tap(*"add", "space", *"tests")
        assert bench.control.answers == []
        await bench.press("enter")
        (answer,) = bench.control.answers
        assert (answer.kind, answer.reason, answer.shown) == ("deny", "add tests", CARD["shown"])
        assert not bench.screen.query(Prompt)


async def test_minutes_are_asked_and_enter_waits_a_moment() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("m")
        await bench.tap(*"x99")
        await bench.press("enter")
        assert bench.control.answers == [] and bench.screen.query(Prompt), "99 is too long"
        await bench.press("backspace", "backspace")
        await bench.tap("1", "5", "enter")
        await bench.settle()
        assert bench.control.answers == [], "Enter came with the digits"
        await bench.press("enter")
        (answer,) = bench.control.answers
        assert (answer.kind, answer.minutes) == ("allow_rule", 15)


async def test_escape_leaves_the_prompt_and_answers_nothing() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("e", "a", "escape")
        assert bench.control.answers == [] and not bench.screen.query(Prompt)
        assert isinstance(bench.screen.focused, CardBody)
        await bench.press("a")
        assert [answer.kind for answer in bench.control.answers] == ["allow_once"]


async def test_a_key_before_the_moment_is_told_so() -> None:
    async with room() as bench:
        await bench.settle()
        await bench.tap("a")
        await bench.settle()
        assert bench.control.answers == []
        assert MOMENT in bench.app.export_screenshot().replace("&#160;", " ")
        await bench.press("a")
        assert len(bench.control.answers) == 1


async def test_keys_that_come_together_do_not_count() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.tap("a", "r", "d")
        await bench.settle()
        assert bench.control.answers == []


async def test_a_paste_answers_nothing() -> None:
    from textual import events

    async with room() as bench:
        await bench.arm()
        bench.app.post_message(events.Paste("adreadme"))
        await bench.settle()
        await bench.tap("a")
        await bench.settle()
        assert bench.control.answers == []


async def test_a_long_command_is_read_to_its_end_before_it_can_be_allowed() -> None:
    async with room(waiting(request(1, LONG))) as bench:
        await bench.arm()
        await bench.press("a")
        assert bench.control.answers == []
        assert READ_ON in bench.app.export_screenshot().replace("&#160;", " ")
        text = "".join("".join(span.text for span in line) for line in bench.screen._card.text.lines)
        assert "rm -rf /home/dev" in text.replace("      ", "").replace("↪ ", "")
        for _ in range(12):
            await bench.press("space")
            if bench.app.guard.read:
                break
        assert bench.app.guard.read
        await bench.press("a")
        assert len(bench.control.answers) == 1


async def test_a_long_command_can_be_denied_at_once() -> None:
    async with room(waiting(request(1, LONG))) as bench:
        await bench.arm()
        await bench.press("d")
        assert [answer.kind for answer in bench.control.answers] == ["deny"]


async def test_what_cannot_be_remembered_can_only_be_allowed_once() -> None:
    card = {"remembers": [], "refusal": "It cannot be read statically what would run."}
    async with room(waiting(request(1, card=card))) as bench:
        await bench.arm()
        await bench.press("r", "m", "w")
        assert bench.control.answers == [] and not bench.screen.query(Prompt)
        await bench.press("a")
        assert [answer.kind for answer in bench.control.answers] == ["allow_once"]


async def test_a_new_request_changes_neither_the_card_nor_the_focus() -> None:
    async with room() as bench:
        await bench.arm()
        focused, place = bench.screen.focused, bench.screen._card.region
        state = bench.control.shown
        more = (views.session_view(id="01J0000000000000000000000X", agent="late"), *state.sessions)
        bench.control.push(replace(state, sessions=more, requests=(request(7), *state.requests, request(8))))
        await bench.settle()
        assert bench.screen.deck.current is not None
        assert bench.screen.deck.current.id == views.REQUEST_ID
        assert bench.screen.focused is focused and bench.screen._card.region == place
        await bench.press("a")
        assert [answer.request for answer in bench.control.answers] == [views.REQUEST_ID]


async def test_the_next_card_has_to_be_seen_before_it_can_be_answered() -> None:
    async with room(waiting(request(1), request(2))) as bench:
        await bench.arm()
        await bench.press("d")
        assert len(bench.control.answers) == 1
        await bench.tap("d")
        await bench.settle()
        assert len(bench.control.answers) == 1, "the second card had stood for no time at all"
        await bench.press("d")
        assert len(bench.control.answers) == 2


async def test_a_card_whose_content_changes_has_to_be_seen_again() -> None:
    async with room(waiting(request(1))) as bench:
        await bench.arm()
        changed = request(1, "$ git push --force", card={"shown": "ee" * 32})
        bench.control.push(replace(bench.control.shown, requests=(changed,)))
        await bench.settle()
        await bench.tap("a")
        await bench.settle()
        assert bench.control.answers == []
        await bench.press("a")
        assert bench.control.answers[0].shown == "ee" * 32


async def test_a_count_that_grows_does_not_disarm() -> None:
    first = request(1, dossier=Dossier(removal=replace(views.removal(), files=1, complete=False)))
    later = request(1, dossier=Dossier(removal=views.removal()), seconds_left=40.0)
    async with room(waiting(first)) as bench:
        await bench.arm()
        bench.control.push(replace(bench.control.shown, requests=(later,)))
        await bench.settle()
        bench.clock.pass_(0.41)
        await bench.tap("a")
        await bench.settle()
        assert len(bench.control.answers) == 1


async def test_a_storm_of_requests_while_the_user_types_answers_nothing_unseen() -> None:
    """Twenty requests arrive while somebody types into the wrong window."""
    typed = random.Random(4).choices("adremwzx jk", k=80)
    async with room(waiting()) as bench:
        await bench.settle()
        for number, key in enumerate(typed):
            if number % 4 == 0 and number < 80:
                state = bench.control.shown
                bench.control.push(replace(state, requests=(*state.requests, request(number // 4))))
            bench.clock.pass_(0.12)
            await bench.tap({" ": "space"}.get(key, key))
        await bench.settle()
        assert bench.control.answers == [] and bench.control.steered == []
        assert len(bench.control.shown.requests) == 20
        assert not bench.screen.query(Input)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    keys=st.lists(
        st.tuples(st.sampled_from([*"adremwzx", "space", "enter", "tab", "down"]), st.floats(0.01, 0.39)),
        min_size=1,
        max_size=12,
    )
)
async def test_no_sequence_of_keys_without_a_pause_answers(keys: list[tuple[str, float]]) -> None:
    async with room(waiting(request(1), request(2))) as bench:
        await bench.tap("shift")
        for key, gap in keys:
            bench.clock.pass_(gap)
            await bench.tap(key)
        await bench.settle(2)
        assert bench.control.answers == [] and bench.control.steered == []


async def test_nothing_is_answered_in_a_window_that_shows_nothing() -> None:
    async with room(size=(30, 8)) as bench:
        await bench.settle()
        bench.clock.pass_(5)
        await bench.press("a", "r")
        assert bench.control.answers == []
        assert "Make the window larger" in bench.app.export_screenshot().replace("&#160;", " ")


async def test_nothing_is_answered_under_another_screen() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("question_mark", "a", "d")
        assert bench.control.answers == []
        await bench.press("escape", "2", "a", "d")
        assert bench.control.answers == []
        await bench.press("1")
        await bench.tap("a")
        await bench.settle()
        assert bench.control.answers == [], "the card is to be seen again first"
        await bench.press("a")
        assert len(bench.control.answers) == 1


async def test_the_palette_has_no_answers() -> None:
    async with room() as bench:
        titles = [command.title for command in bench.app.get_system_commands(bench.screen)]
        assert titles
        assert not any("llow" in title or "eny" in title or "top" in title for title in titles)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("already:expired", "expired"),
        ("changed", "look again"),
        ("unknown", "no longer waits"),
        ("refused: not by that grant", "not by that grant"),
    ],
)
async def test_the_hosts_word_is_passed_on(word: str, said: str) -> None:
    async with room() as bench:
        bench.control.word = word
        await bench.arm()
        await bench.press("a")
        assert said in bench.app.export_screenshot().replace("&#160;", " ")


async def test_a_refusal_is_said_and_the_card_can_be_answered_again() -> None:
    async with room() as bench:
        await bench.arm()
        bench.control.refusal = VaultroomError("the log is full", advice="Free some space.")
        bench.app.link._pulse = 60.0
        await bench.press("a")
        assert "the log is full Free some space." in bench.app.export_screenshot().replace("&#160;", " ")


async def test_an_expired_card_cannot_be_answered() -> None:
    async with room() as bench:
        await bench.arm()
        bench.clock.pass_(60)
        await bench.settle()
        await bench.press("a", "d")
        assert bench.control.answers == []


async def test_a_selected_agent_narrows_the_queue() -> None:
    async with room(busy_state(), size=(120, 40)) as bench:
        await bench.arm()
        bench.screen.query_one("#agents-list").focus()
        await bench.press("down", "down")
        assert bench.screen.selected == OTHER
        assert [one.session for one in bench.screen.deck.requests] == [OTHER]
        await bench.press("escape")
        assert bench.screen.selected == "" and len(bench.screen.deck.requests) == 3


async def test_a_key_that_no_field_takes_answers_nothing_while_one_is_open() -> None:
    async with room(keymap={"answer.allow_once": "f8"}) as bench:
        await bench.arm()
        await bench.press("e", "f8")
        assert bench.control.answers == [] and bench.screen.query(Prompt)
        await bench.press("escape", "f8")
        assert [answer.kind for answer in bench.control.answers] == ["allow_once"]

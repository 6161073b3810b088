"""One registry: unique keys, a user's keymap that makes sense, and no answer in the palette."""

from __future__ import annotations

import pytest

from tests.tui.bench import room
from vaultroom.tui.commands import COMMANDS, Group, KeyTable


def test_ids_and_keys_are_unique() -> None:
    ids = [command.id for command in COMMANDS]
    keys = [key for command in COMMANDS for key in command.keys.split(",")]
    assert len(ids) == len(set(ids)) and len(keys) == len(set(keys))


def test_no_answer_can_be_searched_for() -> None:
    assert not [c.id for c in COMMANDS if c.palette and (c.group is Group.ANSWER or c.id == "agent.stop")]


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"answer.alow": "y"}, "there is no action"),
        ({"answer.deny": ""}, "expected a key"),
        ({"answer.deny": "no way!"}, "expected a key like"),
        ({"answer.deny": "a"}, "is the key of answer.allow_once"),
        ({"answer.deny": 4}, "expected a key"),
        ({"\x1b[2J": "y"}, "there is no action"),
    ],
)
def test_a_change_that_makes_no_sense_is_named_and_left_out(keymap: dict[str, str], said: str) -> None:
    table = KeyTable(keymap)
    (problem,) = table.problems
    assert said in problem and problem.isprintable()
    assert table.keys("answer.deny") == ("d",)


async def test_a_changed_key_answers_and_is_shown() -> None:
    async with room(keymap={"answer.allow_once": "y", "answer.deny": "f8"}) as bench:
        await bench.arm()
        await bench.press("a")
        assert bench.control.answers == []
        assert "f8" in bench.app.export_screenshot()
        await bench.press("y")
        assert [answer.kind for answer in bench.control.answers] == ["allow_once"]

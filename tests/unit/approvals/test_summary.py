from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.approvals.making import act, command
from vaultroom.approvals.summary import act_text, cells, facet_line, one_line, wrap
from vaultroom.events import Action, Facet
from vaultroom.visible import visible


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (command("git", "push", "origin", "main"), "$ git push origin main"),
        (command("git", "commit", "-m", "two words", raw=""), "$ git commit -m 'two words'"),
        (act(Action.FS_DELETE, path="/a/b"), "delete /a/b"),
        (act(Action.FS_WRITE, path="/a"), "write /a"),
        (act(Action.NET_EGRESS, host="docs.example", port=443), "connect to docs.example:443"),
        (act(Action.MCP_TOOL, server="fs", tool="list"), "fs/list"),
        (act(Action.MCP_TOOL, tool="Bash", tool_args={"a": "b"}), 'Bash {\n  "a": "b"\n}'),
    ],
)
def test_acts_as_people_read_them(event, text: str) -> None:
    assert act_text(event) == text


def test_a_recursive_facet_says_so() -> None:
    facet = Facet(Action.FS_DELETE, path="/a", recursive=True)
    assert facet_line(facet) == "delete /a and everything below it"


def test_several_lines_become_one() -> None:
    assert one_line(command("x", raw="a\nb"), 80) == "$ a ⏎ b"


HOSTILE = "\x1b]52;c;AAAA\x07\x1b[2J\u202e\u200b[bold]"


@given(st.text() | st.just(HOSTILE), st.integers(2, 100))
def test_one_line_is_visible_and_fits(text: str, width: int) -> None:
    for event in (
        command("x", text, raw=text),
        act(Action.FS_WRITE, path="/" + text),
        act(Action.NET_EGRESS, host=text or "h"),
        act(Action.MCP_TOOL, tool=text or "t", server=text, tool_args={text: [text]}),
    ):
        line = one_line(event, width)
        assert visible(line) == line
        assert cells(line) <= width


@given(st.text().map(visible), st.integers(1, 60))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width, indent="  ")
    assert all(cells(line) <= max(width, 20) for line in lines)
    assert "".join([lines[0], *(line[2:] for line in lines[1:])]) == text


def test_combining_marks_cannot_pile_up() -> None:
    assert len(wrap("e" + "\u0301" * 200, 40)) > 4


def test_arguments_that_cannot_be_shown_say_so() -> None:
    loop: dict[str, object] = {}
    loop["x"] = loop
    assert "cannot be shown" in act_text(act(Action.MCP_TOOL, tool="t", tool_args=loop))

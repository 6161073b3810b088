from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.cli.doctor import check_lines
from vaultroom.install.health import Check, State

_WORDS = st.lists(st.text(alphabet="abc/.-", min_size=1, max_size=50), min_size=1, max_size=20).map(" ".join)


@given(st.sampled_from(State), _WORDS, _WORDS)
def test_a_check_fits_into_80_columns(state: State, text: str, fix: str) -> None:
    lines = check_lines(Check("opencode hook", state, text, fix), colour=False)
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[-1].endswith(fix)


@pytest.mark.parametrize(
    ("state", "mark"), [(State.OK, "ok "), (State.OPEN, "OPEN"), (State.BROKEN, "BROKEN")]
)
def test_what_fails_stands_out(state: State, mark: str) -> None:
    (line,) = check_lines(Check("shims", state, "x"), colour=False)
    assert line.startswith(mark)
    assert "\x1b[" not in line
    assert "\x1b[" in check_lines(Check("shims", state, "x"), colour=True)[0]


def test_what_a_hook_said_cannot_act_on_the_screen() -> None:
    assert "\x1b" not in "".join(check_lines(Check("x", State.OPEN, "a\x1b[2Jb", "c\x07"), colour=False))

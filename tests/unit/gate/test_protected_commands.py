from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.gate.protected_commands import (
    answers_for_itself,
    is_probe,
    stops_the_host,
    types_elsewhere,
)

_WORDS = st.one_of(
    st.sampled_from(["vaultroom", "policy", "-x", "--a=b", "kill", "tmux", "python3", "-m", "-1", ";", ""]),
    st.text(max_size=6),
)


@given(st.lists(_WORDS, max_size=8))
def test_any_argv_is_read_without_an_error(words: list[str]) -> None:
    cmd = words[0] if words else ""
    for answer in (
        answers_for_itself(words),
        types_elsewhere(cmd, words),
        stops_the_host(cmd, words, frozenset({1})),
        is_probe(words),
    ):
        assert answer in (True, False)


@given(st.lists(st.sampled_from(["--verbose", "--no-color", "--config", "--config=x", "-v"]), max_size=3))
def test_no_option_hides_an_answer(options: list[str]) -> None:
    assert answers_for_itself(["vaultroom", *options, "approve", "allow", "X"])

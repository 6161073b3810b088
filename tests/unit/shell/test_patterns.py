"""Shell patterns, against fnmatch where both agree on the meaning."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.shell.patterns import Pattern, escape, is_magic, unescape


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*.log", "a.log", True),
        ("*.log", ".log", True),
        ("?", "", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[]]", "]", True),
        ("[[:digit:]]", "7", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("a[", "a[", True),
    ],
)
def test_a_pattern(pattern: str, text: str, expected: bool) -> None:
    assert Pattern(pattern).matches(text) is expected


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_stars_and_question_marks_mean_what_they_do_elsewhere(pattern: str, text: str) -> None:
    assert Pattern(pattern).matches(text) == fnmatch.fnmatchcase(text, pattern)


@given(st.text("ab*?[]\\", max_size=8))
def test_an_escaped_text_matches_itself_alone(text: str) -> None:
    assert Pattern(escape(text)).matches(text)
    assert not is_magic(escape(text))
    assert unescape(escape(text)) == text


def test_a_hostile_pattern_takes_no_time() -> None:
    assert not Pattern("*a" * 100 + "*b").matches("a" * 1000)

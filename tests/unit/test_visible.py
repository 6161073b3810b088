"""Every character that could act on a screen becomes a visible mark."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.visible import visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain text, [bold] {x}", "plain text, [bold] {x}"),
        ("", ""),
        ("grüße 日本 😀", "grüße 日本 😀"),
        ("\x1b[2J\r\n\t\0\x7f", "␛[2J␍␊␉␀␡"),
        ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
        ("a\u200bb\ufeff\u00ad", "a<U+200B>b<U+FEFF><U+00AD>"),
        ("\x9b31m", "<U+009B>31m"),
        ("\udcff", "<U+DCFF>"),
        ("\ue000\U000e0041\U000f0000", "<U+E000><U+E0041><U+F0000>"),
        ("a\u2028b\u2029", "a<U+2028>b<U+2029>"),
        ("a\u00a0b\u2003c", "a<U+00A0>b<U+2003>c"),
        ("\u0378", "<U+0378>"),
    ],
)
def test_marks(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_newlines_can_be_kept() -> None:
    assert visible("a\nb\r\n\tc", keep_newlines=True) == "a\nb␍\n␉c"


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    seen = visible(text)
    assert seen.isprintable()
    assert not any(unicodedata.category(char)[0] in "CZ" and char != " " for char in seen)
    assert visible(seen) == seen


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_is_itself(text: str) -> None:
    assert visible(text) is text

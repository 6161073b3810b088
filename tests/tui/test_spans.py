"""Fitting and wrapping: lists are cut, what is judged is whole."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.tui.spans import CONTINUED, Role, Span, cells, cut, fit, pad, spread, width_of, wrap

TEXTS = st.text(alphabet="ab /-é漢👍\u0301 xyz", max_size=200)


@given(TEXTS, st.integers(8, 60))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    pieces = wrap(text, width)
    joined = "".join(piece.removeprefix(CONTINUED) for piece in pieces)
    assert joined == text
    assert all(cells(piece) <= width for piece in pieces)


@given(st.text(alphabet="ab ", min_size=1, max_size=200), st.integers(8, 40))
def test_a_broken_word_is_marked_and_a_space_is_not(text: str, width: int) -> None:
    pieces = wrap(text, width)
    for before, after in pairwise(pieces):
        assert after.startswith(CONTINUED) == (not before.endswith(" "))


@given(TEXTS, st.integers(0, 60))
def test_fit_and_pad_never_exceed(text: str, width: int) -> None:
    assert cells(fit(text, width)) <= width
    assert cells(pad(text, width)) == width
    if cells(text) <= width:
        assert fit(text, width) == text


@given(TEXTS, TEXTS, st.integers(0, 60))
def test_a_spread_line_has_exactly_its_width(left: str, end: str, width: int) -> None:
    spans = spread([Span(left)], [Span(end, Role.DIM)] if end else [], width)
    assert width_of(spans) <= width
    assert width_of(cut([Span(left), Span(end)], width)) <= width

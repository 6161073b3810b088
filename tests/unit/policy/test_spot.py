"""Offsets as lines and columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.policy.spot import LineTable, Spot


@given(st.text("a\né", max_size=30))
def test_every_offset(text: str) -> None:
    table = LineTable.of(text)
    line, column = 1, 1
    for offset, char in enumerate(text):
        assert table.spot(offset) == Spot(line, column)
        line, column = (line + 1, 1) if char == "\n" else (line, column + 1)
    assert table.spot(len(text)) == Spot(line, column)

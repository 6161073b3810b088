from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom import clock


@given(st.integers(0, 4_000_000_000 * 10**9))
def test_a_time_reads_back(ns: int) -> None:
    assert clock.parse_rfc3339(clock.rfc3339(ns)) == ns


def test_texts_sort_like_times() -> None:
    times = [0, 1, 999_999_999, 1_000_000_000, 1_700_000_000_000_000_000]
    assert [clock.rfc3339(t) for t in times] == sorted(clock.rfc3339(t) for t in times)
    assert clock.rfc3339(1_700_000_000_000_000_001) == "2023-11-14T22:13:20.000000001Z"


@pytest.mark.parametrize("text", ["", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20.123Z", "x" * 30])
def test_other_shapes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|match"):
        clock.parse_rfc3339(text)


def test_frozen_stops_and_lets_go() -> None:
    with clock.frozen(5):
        assert clock.now_ns() == 5
    assert clock.now_ns() > 5

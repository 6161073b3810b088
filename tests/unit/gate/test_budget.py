from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.gate.budget import RateBudget


def test_a_burst_of_the_limit_then_one_each_interval() -> None:
    budget = RateBudget(60, now=0.0)
    assert [budget.spend(0.0) for _ in range(61)] == [True] * 60 + [False]
    assert budget.spend(1.0)
    assert not budget.spend(1.0)


def test_zero_is_off() -> None:
    budget = RateBudget(0, now=0.0)
    assert all(budget.spend(0.0) for _ in range(10_000))


def test_a_clock_that_goes_back_gives_nothing() -> None:
    budget = RateBudget(1, now=100.0)
    assert budget.spend(100.0)
    assert not budget.spend(0.0)


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="found -1"):
        RateBudget(-1, now=0.0)


@given(st.integers(1, 200), st.lists(st.floats(0, 30), max_size=300))
def test_never_more_than_the_burst_plus_the_rate(limit: int, gaps: list[float]) -> None:
    budget, now, spent = RateBudget(limit, now=0.0), 0.0, 0
    for gap in gaps:
        now += gap
        spent += budget.spend(now)
    assert spent <= limit + now * limit / 60.0 + 1e-6

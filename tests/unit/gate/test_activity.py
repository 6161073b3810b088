from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.gate.activity import PerMinute


def test_an_act_counts_for_a_minute() -> None:
    rate = PerMinute()
    rate.add(1000.5)
    rate.add(1030.0)
    assert rate.count(1030.0) == 2
    assert rate.count(1059.9) == 2
    assert rate.count(1060.0) == 1
    assert rate.count(1090.0) == 0
    assert rate.count(9999.0) == 0


@given(st.lists(st.floats(0, 200), max_size=200))
def test_as_counted_by_hand(gaps: list[float]) -> None:
    rate, now, times = PerMinute(), 5000.0, []
    for gap in gaps:
        now += gap
        rate.add(now)
        times.append(int(now))
    assert rate.count(now) == sum(int(now) - second < 60 for second in times)

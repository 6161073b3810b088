"""Nobody answers what they have not seen: the guard as plain calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.tui.arming import ARM_SECONDS, Guard


def seen(at: float = 10.0, needed: int = 5, bottom: int = 5) -> Guard:
    guard = Guard()
    guard.show("card", needed)
    guard.painted("card", bottom, at)
    return guard


def test_a_key_counts_after_the_card_has_stood_for_a_moment() -> None:
    guard = seen(at=10.0)
    guard.key(10.0 + ARM_SECONDS - 0.001)
    assert not guard.counts()
    guard = seen(at=10.0)
    guard.key(10.0 + ARM_SECONDS)
    assert guard.counts()


def test_a_key_that_follows_another_does_not_count() -> None:
    guard = seen(at=10.0)
    guard.key(11.0)
    guard.key(11.3)
    assert not guard.counts()
    guard.key(11.3 + ARM_SECONDS)
    assert guard.counts()


def test_nothing_counts_before_the_paint_or_for_another_card() -> None:
    guard = Guard()
    guard.key(50.0)
    assert not guard.counts()
    guard.show("card", 1)
    guard.key(60.0)
    assert not guard.counts() and not guard.ready(99.0)
    guard.painted("another", 9, 60.0)
    guard.key(70.0)
    assert not guard.counts() and not guard.read


def test_a_new_card_has_to_be_seen_again() -> None:
    guard = seen()
    guard.key(20.0)
    assert guard.counts() and guard.read
    guard.show("next", 1)
    guard.key(30.0)
    assert not guard.counts() and not guard.read


def test_the_end_must_have_been_on_the_screen() -> None:
    guard = seen(needed=12, bottom=8)
    assert not guard.read
    guard.painted("card", 11, 20.0)
    assert not guard.read
    guard.painted("card", 12, 21.0)
    assert guard.read
    guard.painted("card", 3, 22.0)
    assert guard.read, "scrolling back up forgets nothing"
    guard.grow(15)
    assert not guard.read


@given(
    painted=st.floats(0, 10),
    gaps=st.lists(st.floats(0.001, ARM_SECONDS - 0.001), min_size=2, max_size=30),
    start=st.floats(0, 10),
)
def test_no_key_of_a_stream_without_a_pause_counts(painted: float, gaps: list[float], start: float) -> None:
    guard = Guard()
    guard.show("card", 0)
    guard.painted("card", 0, painted)
    now = start
    guard.key(now)
    for gap in gaps:
        now += gap
        guard.key(now)
        assert not guard.counts()

"""Durations."""

from __future__ import annotations

import pytest

from vaultroom.policy.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("2h", 7200),
        ("1.5s", 1.5),
        ("1h1m1s1ms", 3661.001),
        ("5m", 300),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "60", "s", "60 s", "1d", "-1s", "0s", "1s1m", "1e3s", "٣s", "9" * 30 + "s", "200h"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(text)

"""The only source of time. UTC wall clock in nanoseconds, and a monotonic clock for durations.

Tests freeze it with `frozen(...)`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_NANOS = 1_000_000_000
_frozen_ns: int | None = None


def now_ns() -> int:
    """Nanoseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns() if _frozen_ns is None else _frozen_ns


def monotonic() -> float:
    """Seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()


def perf_ns() -> int:
    """Nanoseconds on the finest clock, for measuring a single judgement."""
    return time.perf_counter_ns()


def rfc3339(ns: int) -> str:
    """`2026-01-31T12:00:00.123456789Z`: always nine digits, so that texts sort like times."""
    seconds, nanos = divmod(ns, _NANOS)
    t = time.gmtime(seconds)
    return (
        f"{t.tm_year:04d}-{t.tm_mon:02d}-{t.tm_mday:02d}T"
        f"{t.tm_hour:02d}:{t.tm_min:02d}:{t.tm_sec:02d}.{nanos:09d}Z"
    )


def parse_rfc3339(text: str) -> int:
    """The inverse of `rfc3339`; raises ValueError for any other shape."""
    import calendar

    if len(text) != 30 or text[19] != "." or text[29] != "Z" or not text[20:29].isdigit():
        raise ValueError(f"expected a time like 2026-01-31T12:00:00.000000000Z, found {text!r}")
    parsed = time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    return calendar.timegm(parsed) * _NANOS + int(text[20:29])


@contextmanager
def frozen(ns: int) -> Iterator[None]:
    """Freeze the wall clock at `ns` within the block."""
    global _frozen_ns
    before, _frozen_ns = _frozen_ns, ns
    try:
        yield
    finally:
        _frozen_ns = before

"""How much a session does: counts by outcome, and acts in the last minute."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Counts:
    """How many acts were let through, stopped and asked about so far."""

    allowed: int = 0
    denied: int = 0
    asked: int = 0


class PerMinute:
    """Acts in the last 60 s, in buckets of a second: constant memory at any rate."""

    __slots__ = ("_buckets", "_second")

    def __init__(self) -> None:
        self._buckets = [0] * WINDOW_SECONDS
        self._second = 0

    def add(self, now: float) -> None:
        """Count one act at `now` (seconds, monotonic)."""
        self._advance(now)
        self._buckets[self._second % WINDOW_SECONDS] += 1

    def count(self, now: float) -> int:
        self._advance(now)
        return sum(self._buckets)

    def _advance(self, now: float) -> None:
        second = int(now)
        for gone in range(self._second + 1, min(second, self._second + WINDOW_SECONDS) + 1):
            self._buckets[gone % WINDOW_SECONDS] = 0
        self._second = max(self._second, second)

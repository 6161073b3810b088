"""The rate budget: so many acts a minute, then a person is asked (design section 4).

A token bucket per session: one token per act, as many tokens as the limit, refilled evenly over a
minute. It turns only an allow into require_approval. Pure: the caller brings the time.
"""

from __future__ import annotations

RULE = "budget:rate"
"""The rule name that an act over the budget is recorded under."""


class RateBudget:
    """`limit` acts per minute; 0 switches it off. Times are seconds on a monotonic clock."""

    __slots__ = ("_checked_at", "_tokens", "limit")

    def __init__(self, limit: int, now: float) -> None:
        if limit < 0:
            raise ValueError(f"expected a rate limit of 0 or more, found {limit}")
        self.limit = limit
        self._tokens = float(limit)
        self._checked_at = now

    def spend(self, now: float) -> bool:
        """Take one token. False when there is none: the act is over the budget."""
        if self.limit == 0:
            return True
        passed = max(0.0, now - self._checked_at)
        self._checked_at = now
        self._tokens = min(float(self.limit), self._tokens + passed * self.limit / 60.0)
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

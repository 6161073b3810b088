"""Durations as the specification writes them: `60s`, `1m30s`, `500ms`, `2h`."""

from __future__ import annotations

import re

LONGEST = 7 * 24 * 3600.0
"""Seconds; a longer wait is taken for a mistake."""

_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
_SHAPE = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?", re.ASCII)
_SECONDS = (3600.0, 60.0, 1.0, 0.001)


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError for a bare number, another unit, zero, or more than a week."""
    found = _SHAPE.fullmatch(text)
    if not text or found is None:
        raise ValueError(f"expected a duration such as 60s, 1m30s or 500ms, found {text!r}")
    total = sum(float(part) * unit for part, unit in zip(found.groups(), _SECONDS, strict=True) if part)
    if not 0 < total <= LONGEST:
        raise ValueError(f"expected a duration between 1ms and {LONGEST / 3600:.0f}h, found {text!r}")
    return total

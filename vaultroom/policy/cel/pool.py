"""One pass per event and field over all literal regular expressions of a policy.

A policy with a hundred `event.raw.matches("…")` would otherwise run a hundred searches per event. While
expressions are compiled, `codegen.py` reserves a position here for every pattern on a string field; `build`
makes one RE2 set per field. Its result is computed when the first expression asks and kept in the view,
together with the text it is for, so that a copied or changed view is never answered with another text's
result.
"""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from vaultroom.policy.re2 import PatternSet, compile_pattern

Hits = Callable[[dict[str, Any]], frozenset[int]]
"""From a view to the positions of the patterns that its field matches."""

_SERIAL: Final = count()


class RegexPool:
    """Collects patterns while a policy is compiled; afterwards gives one `Hits` function per field."""

    def __init__(self) -> None:
        self._patterns: dict[str, dict[str, int]] = {}

    def reserve(self, field: str, pattern: str) -> int:
        """The position of `pattern` among those of `field`. The same pattern has one position."""
        patterns = self._patterns.setdefault(field, {})
        return patterns.setdefault(pattern, len(patterns))

    def build(self) -> dict[str, Hits]:
        """The function of each field that has patterns. They raise RuntimeError when RE2 fails."""
        return {field: _hits(field, list(patterns)) for field, patterns in self._patterns.items()}


def _hits(field: str, patterns: list[str]) -> Hits:
    find = _finder(patterns)
    key = f"\0matches:{field}:{next(_SERIAL)}"

    def hits(view: dict[str, Any]) -> frozenset[int]:
        text = view[field]
        known: tuple[str, frozenset[int]] | None = view.get(key)
        if known is not None and known[0] is text:
            return known[1]
        found = frozenset(find(text))
        view[key] = (text, found)
        return found

    return hits


def _finder(patterns: list[str]) -> Callable[[str], list[int]]:
    """All patterns in one set; one by one where they are too large together."""
    try:
        return PatternSet.search(patterns).matches
    except ValueError:
        compiled = [compile_pattern(pattern) for pattern in patterns]
        return lambda text: [position for position, pattern in enumerate(compiled) if pattern.search(text)]

"""`${name…}`: what operators make of a value that is known."""

from __future__ import annotations

from typing import Final

from vaultroom.shell.patterns import Pattern

_LONGEST: Final = 2_000
"""Characters of a value from which a prefix or suffix is cut; a longer one is not worked out."""

DEFAULTS: Final = frozenset(("-", ":-", "=", ":="))
ALTERNATIVES: Final = frozenset(("+", ":+"))
ASSIGNING: Final = frozenset(("=", ":="))
CUTTING: Final = frozenset(("#", "##", "%", "%%"))


def cut(value: str, operator: str, pattern: str) -> str | None:
    """`${value#pattern}` and its kin; None where that is not worked out."""
    if len(value) * len(pattern) > _LONGEST:
        return None
    matcher = Pattern(pattern)
    size = len(value)
    shortest = len(operator) == 1
    if operator[0] == "#":
        ends = range(size + 1) if shortest else range(size, -1, -1)
        return next((value[end:] for end in ends if matcher.matches(value[:end])), value)
    starts = range(size, -1, -1) if shortest else range(size + 1)
    return next((value[:start] for start in starts if matcher.matches(value[start:])), value)

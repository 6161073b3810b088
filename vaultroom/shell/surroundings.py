"""What is known about the shell that will run a line: its home, its variables, other people's homes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_ROOT_ONLY: Mapping[str, str] = MappingProxyType({"root": "/root"})
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts handed in by whoever saw the line. "" means unknown.

    `home` is what `~` and `$HOME` mean, `homes` the home of each user for `~name`. `variables` are those
    whose value is known; with `is_complete` every other variable is known to be unset, without it any
    other variable may have any value. `has_aliases` says that the shell expands aliases.
    """

    home: str = ""
    homes: Mapping[str, str] = field(default_factory=lambda: _ROOT_ONLY)
    variables: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    is_complete: bool = False
    has_aliases: bool = False

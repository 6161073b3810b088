"""A facet: one thing that a compound act does (design section 4).

`cd x && rm -rf y > z` has two commands, a delete and a write: four facets. A *primary* facet is judged
on its own and falls through to the default. A *derived* facet (what a known command touches) counts
only where a rule names it, and carries the command it derives from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from vaultroom.events.action import Action

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


def no_arguments() -> Mapping[str, Any]:
    """The empty tool arguments, as a field's default."""
    return NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Facet:
    """One judged view of an event. Fields have their zero value where they do not apply.

    `cmd` is the program's base name; `argv` includes argv[0]; `path` is absolute, without `..` and with
    symbolic links resolved; `host` is normalised (lower case, no trailing dot, IDNA); `port` is 0 where
    unknown. `recursive` says that the act reaches everything below `path`. `parent` is the index of the
    primary facet that a derived one belongs to.
    """

    action: Action
    cmd: str = ""
    argv: tuple[str, ...] = ()
    subcommand: str = ""
    path: str = ""
    host: str = ""
    port: int = 0
    server: str = ""
    tool: str = ""
    tool_args: Mapping[str, Any] = field(default_factory=no_arguments, hash=False)
    cwd: str = ""
    opaque: bool = False
    recursive: bool = False
    derived: bool = False
    parent: int | None = None

    def __post_init__(self) -> None:
        if self.derived != (self.parent is not None):
            raise ValueError("a derived facet names its parent, a primary one does not")

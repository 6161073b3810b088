"""What `find` touches: with `-delete` everything below its start paths; with `-fprint` and its kin a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vaultroom.events import Action
from vaultroom.shell.effects.touch import Analyse, Effects, Places, Touch

_WRITES_TO = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_LEADING_WITH_VALUE = frozenset({"-D", "-f"})
_EXPRESSION = frozenset({"(", ")", "!", ","})


def _find(argv: Sequence[str], places: Places) -> Effects:
    starts, expression, follows = _split(argv[1:])
    follows = follows or "-follow" in expression
    touches = []
    opaque = False
    if "-delete" in expression:
        opaque = follows or "-files0-from" in expression
        for start in starts or ["."]:
            touches.append(Touch(Action.FS_DELETE, places.entry(start), recursive=True))
            if follows and places.is_link(start):
                touches.append(Touch(Action.FS_DELETE, places.through(start), recursive=True))
    for word, value in pairwise(expression):
        if word in _WRITES_TO:
            touches.append(Touch(Action.FS_WRITE, places.through(value)))
    return Effects(tuple(touches), opaque)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Start paths, expression, and whether links are followed (`-L`, `-H`): then it may leave them."""
    starts: list[str] = []
    follows = False
    rest = iter(enumerate(arguments))
    for index, argument in rest:
        if argument in ("-H", "-L"):
            follows = True
        elif argument in _LEADING_WITH_VALUE and not starts:
            _, value = next(rest, (index, ""))
            if argument == "-f" and value:
                starts.append(value)
        elif argument in ("-P", "-E", "-X", "-d", "-s", "-x", "--") or argument.startswith("-O"):
            continue
        elif argument.startswith("-") or argument in _EXPRESSION:
            return starts, list(arguments[index:]), follows
        elif argument:
            starts.append(argument)
    return starts, [], follows


PROGRAMS: dict[str, Analyse] = {"find": _find, "gfind": _find}

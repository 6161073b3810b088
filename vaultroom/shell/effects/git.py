"""What `git clean` touches: everything untracked below the working directory or below its path specs.

Without `-f` git refuses unless the configuration allows it; that cannot be seen from here, so it counts as
a delete.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from vaultroom.events import Action
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, Touch
from vaultroom.shell.subcommand import split_global_options
from vaultroom.shell.words import words

_CLEAN = Syntax(
    short={"n": "dry-run", "e": "exclude"},
    short_values="e",
    flags=words("quiet no-quiet dry-run no-dry-run force no-force interactive no-interactive"),
    values=words("exclude"),
    ends=words("-- --end-of-options"),
)
_GLOB = "*?["


def _git(argv: Sequence[str], places: Places) -> Effects:
    options, rest = split_global_options("git", argv)
    opaque = any(
        name in ("-c", "--config-env") and value.lower().startswith("alias.") for name, value in options
    )
    if rest[:1] != ["clean"]:
        return Effects(opaque=opaque)
    base = _working_directory(options, places)
    parsed = parse(rest[1:], _CLEAN)
    if parsed.has("dry-run") and not parsed.has("no-dry-run"):
        return Effects(opaque=opaque)
    touches = []
    for spec in parsed.operands or ["."]:
        if spec.startswith(":") or not spec:
            opaque = True
            spec = "."
        cut = min((spec.find(mark) for mark in _GLOB if mark in spec), default=len(spec))
        literal = (
            spec if cut == len(spec) else spec[:cut].rpartition("/")[0] or ("/" if spec[0] == "/" else ".")
        )
        operand = posixpath.join(base, literal)
        touches.append(Touch(Action.FS_DELETE, places.entry(operand), places.may_be_tree(operand)))
    return Effects(tuple(touches), opaque)


def _working_directory(options: Sequence[tuple[str, str]], places: Places) -> str:
    """Where git works after `-C` (each relative to the one before) and `--work-tree`."""
    base = ""
    tree = None
    for name, value in options:
        if name == "-C" and value:
            base = posixpath.join(base, value)
        elif name == "--work-tree":
            tree = value
    base = base or "."
    if tree is not None:
        root = posixpath.join(base, tree)
        top, here = places.through(root), places.through(base)
        if here != top and not here.startswith(top.rstrip("/") + "/"):
            return root
    return base


PROGRAMS: dict[str, Analyse] = {"git": _git}

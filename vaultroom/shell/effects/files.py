"""What the small file programs touch: rm, mv, cp, ln, dd, chmod and their kin.

Each function reads argv the way the GNU program does and over-approximates where programs differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaultroom.events import Action
from vaultroom.shell.effects.options import Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, Touch, basename, inside
from vaultroom.shell.words import words

_READ, _WRITE, _DELETE = Action.FS_READ, Action.FS_WRITE, Action.FS_DELETE

_RM = Syntax(
    short={"r": "recursive", "R": "recursive"},
    flags=words(
        "recursive force dir verbose interactive one-file-system preserve-root no-preserve-root help version"
    ),
)
_RMDIR = Syntax(short={"p": "parents"}, flags=words("parents verbose ignore-fail-on-non-empty help version"))
_MOVE = Syntax(
    short={"t": "target-directory", "T": "no-target-directory", "S": "suffix"},
    short_values="tS",
    flags=words(
        "backup debug force interactive no-clobber no-copy exchange strip-trailing-slashes no-target-"
        "directory"
        " update verbose context help version"
    ),
    values=words("suffix target-directory"),
)
_COPY = Syntax(
    short={
        "t": "target-directory",
        "T": "no-target-directory",
        "S": "suffix",
        "r": "recursive",
        "R": "recursive",
        "a": "archive",
        "l": "link",
        "s": "symbolic-link",
    },
    short_values="tS",
    flags=words(
        "archive attributes-only backup copy-contents debug force interactive keep-directory-symlink link"
        " dereference"
        " no-clobber no-dereference preserve parents recursive reflink remove-destination strip-trailing-"
        "slashes"
        " symbolic-link no-target-directory update verbose one-file-system context help version"
    ),
    values=words("suffix target-directory no-preserve sparse"),
)
_LINK = Syntax(
    short={
        "t": "target-directory",
        "T": "no-target-directory",
        "S": "suffix",
        "s": "symbolic",
        "r": "relative",
        "n": "no-dereference",
    },
    short_values="tS",
    flags=words(
        "backup directory force interactive logical no-dereference physical relative symbolic no-target-"
        "directory"
        " verbose help version"
    ),
    values=words("suffix target-directory"),
)
_TRUNCATE = Syntax(
    short={"r": "reference", "s": "size"},
    short_values="rs",
    flags=words("no-create io-blocks help version"),
    values=words("reference size"),
)
_SHRED = Syntax(
    short={"u": "remove", "n": "iterations", "s": "size"},
    short_values="ns",
    flags=words("force remove verbose exact zero help version"),
    values=words("iterations size random-source"),
)
_ATTRIBUTES = Syntax(
    short={"R": "recursive", "h": "no-dereference"},
    flags=words(
        "changes silent quiet verbose dereference no-dereference no-preserve-root preserve-root recursive"
        " help version"
    ),
    values=words("from reference"),
)
_TEE = Syntax(flags=words("append ignore-interrupts output-error help version"))

_REPLACING = ("remove-destination", "link", "symbolic-link", "force", "f", "backup", "b", "suffix")
"""Options of cp with which a link in the way may be replaced instead of written through."""
_MOST_FOLDERS = 4
"""Target directories of one command that are looked at; the programs themselves refuse a second one."""
_MODE_LETTERS = frozenset("rwxXstugoa,+=01234567")
"""With these letters an argument of chmod that begins with a dash is a mode, not an option."""


def _remove(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _RM)
    recursive = options.has("recursive")
    return Effects(
        tuple(Touch(_DELETE, places.entry(operand), recursive) for operand in _real(options.operands))
    )


def _remove_directory(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _RMDIR)
    touches = []
    for operand in _real(options.operands):
        touches.append(Touch(_DELETE, places.entry(operand)))
        if options.has("parents"):
            touches += [Touch(_DELETE, places.entry(parent)) for parent in _written_parents(operand)]
    return Effects(tuple(touches))


def _written_parents(operand: str) -> Iterator[str]:
    """`a/b/c` → `a/b`, `a`: what `rmdir -p` goes on to remove."""
    parent = operand.rstrip("/").rpartition("/")[0].rstrip("/")
    while parent:
        yield parent
        parent = parent.rpartition("/")[0].rstrip("/")


def _destinations(
    options: Parsed, places: Places, *, one_may_be_here: bool
) -> tuple[list[str], list[str], bool]:
    """The sources, the destination for each of them, as operands, and whether those lie in a directory."""
    operands = _real(options.operands)
    folders = _real(options.values_of("target-directory"))[:_MOST_FOLDERS]
    if folders:
        return operands * len(folders), [f for f in folders for _ in operands], True
    if one_may_be_here and len(operands) == 1:
        return operands, ["."], True
    if len(operands) < 2:
        return operands, [], False
    *sources, last = operands
    if options.has("no-target-directory") and len(sources) == 1:
        return sources, [last], False
    in_folder = len(sources) > 1 or last.endswith("/") or places.is_directory(last)
    return sources, [last] * len(sources), in_folder


def _move(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _MOVE)
    sources, targets, in_folder = _destinations(options, places, one_may_be_here=False)
    touches = []
    for position, source in enumerate(sources):
        tree = places.may_be_tree(source)
        origin = places.entry(source)
        touches += [Touch(_READ, origin, tree), Touch(_DELETE, origin, tree)]
        if position < len(targets):
            target = targets[position]
            written = inside(target, basename(source)) if in_folder else target
            touches.append(Touch(_WRITE, places.entry(written), tree))
            touches += _backup(options, written, places)
            if options.has("exchange"):
                touches += [Touch(_DELETE, places.entry(written), True), Touch(_WRITE, origin, True)]
    return Effects(tuple(touches))


def _copy(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _COPY)
    deep = options.has("recursive") or options.has("archive")
    replaces = any(options.has(name) for name in _REPLACING)
    sources, targets, in_folder = _destinations(options, places, one_may_be_here=False)
    touches = []
    for position, source in enumerate(sources):
        tree = deep and places.may_be_tree(source, follow=True)
        touches.append(Touch(_READ, places.through(source), tree))
        if position < len(targets):
            target = targets[position]
            name = source.strip("/") if options.has("parents") else basename(source)
            written = inside(target, name) if in_folder and name != ".." else target
            if options.has("parents"):
                made = (inside(target, parent) for parent in _written_parents(name))
                touches += [Touch(_WRITE, places.through(folder)) for folder in made]
            touches.append(Touch(_WRITE, places.through(written), tree))
            touches += _backup(options, written, places)
            if replaces and places.is_link(written):
                touches.append(Touch(_WRITE, places.entry(written), tree))
    return Effects(tuple(touches))


def _link(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _LINK)
    symbolic = options.has("symbolic")
    sources, targets, in_folder = _destinations(options, places, one_may_be_here=True)
    if options.has("no-dereference") and len(sources) == 1 and targets and places.is_link(targets[0]):
        in_folder = False
    touches = []
    for position, source in enumerate(sources):
        if position >= len(targets):
            touches.append(Touch(_READ, places.through(source), places.may_be_tree(source, follow=True)))
            continue
        target = targets[position]
        name = inside(target, basename(source)) if in_folder else target
        written = places.entry(name)
        meant = source
        if symbolic and not options.has("relative") and not source.startswith("/"):
            meant = inside(written.rpartition("/")[0] or "/", source)
        touches.append(Touch(_READ, places.through(meant), places.may_be_tree(meant, follow=True)))
        touches.append(Touch(_WRITE, written))
        touches += _backup(options, name, places)
    return Effects(tuple(touches))


def _backup(options: Parsed, written: str, places: Places) -> list[Touch]:
    """Where a file in the way is moved to: `cp -b -S rc x .bash` renames `.bash` to `.bashrc`."""
    suffixes = options.values_of("suffix")
    if not suffixes and not options.has("backup") and not options.has("b"):
        return []
    return [Touch(_WRITE, places.entry(written.rstrip("/") + suffix), True) for suffix in suffixes or ["~"]]


def _disk_dump(argv: Sequence[str], places: Places) -> Effects:
    touches = []
    for argument in argv[1:]:
        name, equals, value = argument.partition("=")
        if equals and value and name in ("if", "of"):
            touches.append(Touch(_READ if name == "if" else _WRITE, places.through(value)))
    return Effects(tuple(touches))


def _truncate(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _TRUNCATE)
    touches = [Touch(_READ, places.through(value)) for value in _real(options.values_of("reference"))]
    touches += [Touch(_WRITE, places.through(operand)) for operand in _real(options.operands)]
    return Effects(tuple(touches))


def _shred(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _SHRED)
    touches = [Touch(_READ, places.through(value)) for value in _real(options.values_of("random-source"))]
    for operand in _real(options.operands):
        touches.append(Touch(_WRITE, places.through(operand)))
        if options.has("remove"):
            touches.append(Touch(_DELETE, places.entry(operand)))
    return Effects(tuple(touches))


def _tee(argv: Sequence[str], places: Places) -> Effects:
    operands = _real(parse(argv[1:], _TEE).operands)
    return Effects(tuple(Touch(_WRITE, places.through(operand)) for operand in operands if operand != "-"))


def _change_mode(argv: Sequence[str], places: Places) -> Effects:
    plain, mode_given = _without_modes(argv[1:])
    options = parse(plain, _ATTRIBUTES)
    skip = 0 if mode_given or options.has("reference") else 1
    return _attributes(options, options.operands[skip:], places)


def _without_modes(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without modes that look like options (`-w`, `-Rrwx`), and whether there was one."""
    kept: list[str] = []
    found = False
    for index, argument in enumerate(arguments):
        if argument == "--":
            return [*kept, *arguments[index:]], found
        mode = argument[1:].lstrip("Rcfv") if argument.startswith("-") else ""
        if mode[:1] not in _MODE_LETTERS:
            kept.append(argument)
            continue
        found = True
        flags = argument[: len(argument) - len(mode)]
        if flags != "-":
            kept.append(flags)
    return kept, found


def _change_owner(argv: Sequence[str], places: Places) -> Effects:
    options = parse(argv[1:], _ATTRIBUTES)
    return _attributes(options, options.operands[0 if options.has("reference") else 1 :], places)


def _attributes(options: Parsed, operands: Sequence[str], places: Places) -> Effects:
    recursive = options.has("recursive")
    touches = [Touch(_READ, places.through(value)) for value in _real(options.values_of("reference"))]
    for operand in _real(operands):
        touches.append(Touch(_WRITE, places.through(operand), recursive))
        if options.has("no-dereference") and places.is_link(operand):
            touches.append(Touch(_WRITE, places.entry(operand)))
    return Effects(tuple(touches))


def _real(operands: Sequence[str]) -> list[str]:
    """Without empty operands: no file has an empty path."""
    return [operand for operand in operands if operand]


PROGRAMS: dict[str, Analyse] = {
    "rm": _remove,
    "unlink": _remove,
    "rmdir": _remove_directory,
    "mv": _move,
    "cp": _copy,
    "ln": _link,
    "dd": _disk_dump,
    "truncate": _truncate,
    "shred": _shred,
    "tee": _tee,
    "chmod": _change_mode,
    "chown": _change_owner,
    "chgrp": _change_owner,
}

"""Programs that make, change or split files beyond rm, mv and cp: install, mkdir, touch, patch, editors."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import Program, analysers, program
from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, basename, inside
from vaultroom.shell.words import words

_INSTALL = Syntax(
    short={
        "d": "directory",
        "t": "target-directory",
        "T": "no-target-directory",
        "S": "suffix",
        "b": "backup",
        "D": "leading",
    },
    short_values="gmotSBlfh",
    flags=words(
        "backup compare directory preserve-timestamps strip verbose no-target-directory preserve-context"
        " context debug help version"
    ),
    values=words("group mode owner strip-program suffix target-directory"),
)


def _install(argv: Sequence[str], places: Places) -> Effects:
    """`install` unlinks what is in the way, so a final link is replaced, not written through."""
    found = Found(places)
    parsed = parse(argv[1:], _INSTALL)
    found.opaque |= parsed.has("strip-program")
    operands = [operand for operand in parsed.operands if operand]
    if parsed.has("directory"):
        for operand in operands:
            found.make_parents(operand)
            found.write(operand)
        return found.effects()
    folders = [folder for folder in parsed.values_of("target-directory") if folder]
    if folders:
        sources, target, in_folder = operands, folders[-1], True
    elif len(operands) > 1:
        *sources, target = operands
        plain = parsed.has("no-target-directory") and len(sources) == 1
        in_folder = not plain and (len(sources) > 1 or target.endswith("/") or places.is_directory(target))
    else:
        found.read_all(operands)
        return found.effects()
    for source in sources:
        found.read(source)
        written = inside(target, basename(source)) if in_folder else target
        found.replace(written)
        if parsed.has("leading"):
            found.make_parents(written)
        if parsed.has("backup", "suffix"):
            found.write(written + (parsed.last("suffix") or "~"))
    return found.effects()


_MKDIR = Syntax(
    short={"p": "parents", "m": "mode"},
    short_values="m",
    flags=words("parents verbose context help version"),
    values=words("mode"),
)


def _make_directory(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _MKDIR)
    for operand in parsed.operands:
        found.make(operand)
        if parsed.has("parents"):
            found.write(operand)
            found.make_parents(operand)
    return found.effects()


_PATCH = Syntax(
    short={"i": "input", "o": "output", "r": "reject-file", "d": "directory", "b": "backup", "p": "strip",
           "z": "suffix", "B": "prefix", "Y": "basename-prefix"},
    short_values="pFiorDVBYzgdx",
    flags=words(
        "ignore-whitespace context ed normal unified forward reverse merge remove-empty-files set-utc"
        " set-time backup backup-if-mismatch no-backup-if-mismatch batch force quiet silent verbose dry-run"
        " posix binary help version check follow-symlinks"),
    values=words(
        "strip fuzz input output reject-file ifdef quoting-style version-control prefix basename-prefix"
        " suffix get directory reject-format read-only debug"),
)  # fmt: skip


def _patch(argv: Sequence[str], places: Places) -> Effects:
    """`patch [file [patch]]`: without a file the patch names what it changes, below the directory."""
    found = Found(places)
    parsed = parse(argv[1:], _PATCH)
    folder = parsed.last("directory")

    def at(name: str) -> str:
        return inside(folder, name) if folder and name and not name.startswith("/") else name

    found.read_all(
        at(name) for name in parsed.values_of("input") + parsed.operands[1:] if name != STANDARD_STREAM
    )
    if parsed.has("dry-run", "check", "C"):
        return found.effects()
    outputs = [name for name in parsed.values_of("output") if name != STANDARD_STREAM]
    for name in outputs:
        found.replace(at(name))
    for name in parsed.values_of("reject-file"):
        if name != STANDARD_STREAM:
            found.replace(at(name))
    for name in parsed.values_of("prefix"):
        found.write(at(name), True)
    for name in parsed.operands[:1]:
        found.read(at(name))
        if not parsed.has("output"):
            found.replace(at(name))
            found.replace(at(name) + (parsed.last("suffix") or ".orig"))
            found.replace(at(name) + ".rej")
            found.delete(at(name), False)
    if not parsed.operands and not parsed.has("output"):
        found.write(folder or ".", True)
        found.delete_below(folder or ".")
    found.opaque |= parsed.has("ed", "e", "get", "g")
    return found.effects()


def _split(argv: Sequence[str], places: Places) -> Effects:
    """The pieces are named after a prefix, so everything in its folder may be written."""
    found = Found(places)
    csplit = argv[0].endswith("csplit")
    syntax = Syntax(
        short={"f": "prefix"},
        short_values="fbn" if csplit else "ablnCt",
        flags=words("elide-empty-files verbose numeric-suffixes hex-suffixes unbuffered keep-files quiet"),
        values=words("suffix-length bytes line-bytes lines number filter separator additional-suffix prefix"
                     " suffix-format digits"),
    )  # fmt: skip
    parsed = parse(argv[1:], syntax)
    found.opaque |= parsed.has("filter")
    found.read_all(parsed.operands[:1])
    prefix = parsed.last("prefix") if csplit else "".join(parsed.operands[1:2])
    found.write(prefix.rpartition("/")[0] or ("/" if prefix.startswith("/") else "."), True)
    return found.effects()


def _change_attributes(argv: Sequence[str], places: Places) -> Effects:
    """`chattr [-RVf] +-=mode files`."""
    found = Found(places)
    deep: bool | None = False
    operands: list[str] = []
    moded = False
    rest = iter(argv[1:])
    for word in rest:
        if word == "--":
            operands += rest
        elif word in ("-v", "-p"):
            next(rest, "")
        elif word.startswith(("-", "+", "=")) and len(word) > 1 and not operands:
            deep = True if word.startswith("-") and "R" in word else deep
            moded = True
        else:
            operands.append(word)
    for operand in operands if moded else operands[1:]:
        found.write(operand, deep)
    return found.effects()


def _access_lists(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(
        argv[1:],
        Syntax(
            short={
                "m": "modify",
                "x": "remove",
                "M": "modify-file",
                "X": "remove-file",
                "s": "set",
                "S": "set-file",
                "R": "recursive",
                "t": "test",
            },
            short_values="mxMXsS",
            flags=words(
                "remove-all remove-default no-mask mask default recursive logical physical test version help"
            ),
            values=words("modify remove modify-file remove-file set set-file restore"),
        ),
    )
    for option in ("modify-file", "remove-file", "set-file", "restore"):
        found.read_all(parsed.values_of(option))
    if parsed.has("restore"):
        found.doubt()
    if not parsed.has("test"):
        for operand in parsed.operands:
            found.write(operand, parsed.has("recursive"))
    return found.effects()


def _rename(argv: Sequence[str], places: Places) -> Effects:
    """Both programs of that name move files to names that an expression makes up."""
    found = Found(places)
    parsed = parse(argv[1:], Syntax(short={"n": "no-act", "e": "expression"}, short_values="e",
                                    flags=words("no-act nono dry-run verbose force")))  # fmt: skip
    if parsed.has("no-act", "nono", "dry-run"):
        return found.effects()
    found.doubt()
    for operand in parsed.operands if parsed.has("expression") else parsed.operands[1:]:
        found.delete(operand)
    return found.effects()


_TABLE: dict[str, Program] = {
    "touch gtouch": program(
        "w",
        short={"r": "reference", "d": "date", "h": "no-dereference"},
        short_values="rdtA",
        flags="no-create no-dereference help version",
        other_values="date time",
        values={"reference": "r"},
    ),
    "mkfifo": program("n", short_values="m", other_values="mode"),
    "sponge": program("w"),
    "script": program(
        "w",
        short={"c": "command", "O": "log-out", "I": "log-in", "B": "log-io", "T": "log-timing"},
        short_values="cEoOIBTm",
        values={"command": "!", "log-out": "w", "log-in": "w", "log-io": "w", "log-timing": "w"},
    ),
    "link": program("r", last="n"),
    "ed ex vi vim nvim view nano pico emacs micro joe": program(
        "rw",
        short={"S": "source", "c": "command"},
        short_values="ScuwWT",
        values={"source": "r!", "command": "!"},
    ),
    "dos2unix unix2dos mac2dos": program("rw", short={"n": "newfile"}, short_values="i"),
    "fallocate": program("w", short_values="lo", other_values="length offset"),
    "setfattr": program("w", short_values="nvx", values={"restore": "r!"}),
    "strip": program("rw", short={"o": "output"}, short_values="oRKNF", values={"output": "w"}),
    "objcopy": program("rw", last="w", short_values="IOBFRKjN"),
    "chflags": program("w", skip=1, short={"R": "recursive"}, recursive="recursive"),
    "chcon restorecon": program(
        "w", short={"R": "recursive", "r": "recursive"}, short_values="utl", recursive="recursive"
    ),
    "trash trash-put gio-trash rmtrash srm": program("D"),
    "sqlite3": program("rw"),
}


def _make_node(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    for operand in parse(argv[1:], Syntax(short_values="m", values=words("mode"))).operands[:1]:
        found.make(operand)
    return found.effects()


PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {
    "install": _install,
    "ginstall": _install,
    "mkdir": _make_directory,
    "gmkdir": _make_directory,
    "mknod": _make_node,
    "patch": _patch,
    "gpatch": _patch,
    "split": _split,
    "gsplit": _split,
    "csplit": _split,
    "chattr": _change_attributes,
    "setfacl": _access_lists,
    "rename": _rename,
    "prename": _rename,
    "perl-rename": _rename,
    "file-rename": _rename,
}

"""tar, in all its spellings, both ways: what goes into an archive is read, what comes out is written.

Where an extracted member lands is up to the archive, so extracting writes everything below the directory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import remote_spec
from vaultroom.shell.effects.options import OPERAND, Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

_SHORT = {
    "A": "concatenate",
    "c": "create",
    "d": "diff",
    "r": "append",
    "t": "list",
    "u": "update",
    "x": "extract",
    "C": "directory",
    "f": "file",
    "T": "files-from",
    "X": "exclude-from",
    "O": "to-stdout",
    "I": "use-compress",
    "P": "absolute-names",
    "F": "info-script",
    "g": "listed-incremental",
    "U": "unlink-first",
    "N": "newer",
    "K": "starting-file",
    "V": "label",
    "H": "format",
    "b": "blocking-factor",
    "L": "tape-length",
    "W": "verify",
    "h": "dereference",
    "n": "seek",
    "G": "incremental",
}
_TAR = Syntax(
    short=_SHORT,
    short_values="bCfFgHIKLNTVX",
    flags=words(
        "catenate concatenate create delete diff compare append test-label list update extract get"
        " check-device incremental ignore-failed-read no-check-device no-seek seek sparse"
        " exclude-backups exclude-caches exclude-caches-all exclude-caches-under exclude-vcs"
        " exclude-vcs-ignores no-null no-recursion no-unquote no-verbatim-files-from null"
        " verbatim-files-from recursion unquote anchored ignore-case no-anchored no-ignore-case"
        " no-wildcards no-wildcards-match-slash wildcards wildcards-match-slash keep-directory-symlink"
        " keep-newer-files keep-old-files no-overwrite-dir one-top-level overwrite overwrite-dir"
        " recursive-unlink remove-files skip-old-files unlink-first verify ignore-command-error"
        " no-ignore-command-error to-stdout atime-preserve clamp-mtime delay-directory-restore touch"
        " no-delay-directory-restore no-same-owner no-same-permissions numeric-owner"
        " preserve-permissions same-permissions same-owner preserve-order same-order acls no-acls"
        " no-selinux no-xattrs selinux xattrs force-local multi-volume read-full-records ignore-zeros"
        " old-archive portability posix auto-compress bzip2 xz lzip lzma lzop no-auto-compress zstd"
        " gzip gunzip ungzip compress uncompress backup hard-dereference dereference absolute-names"
        " one-file-system checkpoint full-time check-links block-number show-defaults show-omitted-dirs"
        " show-snapshot-field-ranges show-transformed-names show-stored-names totals utc verbose"
        " interactive confirmation help restrict usage version occurrence"
    ),
    values=words(
        "listed-incremental hole-detection level sparse-version add-file directory exclude exclude-ignore"
        " exclude-ignore-recursive exclude-tag exclude-tag-all exclude-tag-under files-from exclude-from"
        " to-command group group-map mode mtime owner owner-map sort xattrs-exclude xattrs-include file"
        " info-script new-volume-script tape-length rmt-command rsh-command volno-file blocking-factor"
        " record-size format pax-option label use-compress-program starting-file newer-mtime newer"
        " after-date suffix strip-components transform xform checkpoint-action index-file no-quote-chars"
        " quote-chars quoting-style warning use-compress"
    ),
)
_COMPRESSORS = words(
    "gzip bzip2 xz zstd lz4 lzip lzma lzop pigz pbzip2 pixz pxz compress gunzip bunzip2 unxz unzstd zstdmt"
)
_RUNS = ("to-command", "info-script", "new-volume-script", "rmt-command", "rsh-command")
_PEACEFUL_ACTIONS = ("dot", ".", "echo", "ttyout", "bell", "totals", "sleep", "wait")
_PACKS = ("create", "append", "update", "concatenate", "catenate")


def _tar(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(_with_dashes(argv[1:]), _TAR)
    _side_files(parsed, found)
    packs = parsed.has(*_PACKS)
    for name in parsed.values_of("file"):
        _archive(name, parsed, found, written=packs or parsed.has("delete"))
    folder = ""
    folders = []
    members = []
    for name, value in parsed.ordered:
        if name == "directory" and value:
            folder = posixpath.join(folder, value)
            folders.append(folder)
        elif name == "add-file" or (name == OPERAND and not value.startswith("@")):
            members.append(posixpath.join(folder, value) if value else "")
        elif name == OPERAND:
            found.read(posixpath.join(folder, value[1:]))
    if packs:
        concatenates = parsed.has("concatenate", "catenate")
        for member in members:
            found.read(member, False if concatenates or parsed.has("no-recursion") else None)
            if parsed.has("remove-files"):
                found.delete(member)
    if parsed.has("extract", "get") and not parsed.has("to-stdout"):
        _extract(parsed, folders or ["."], found)
    if parsed.has("diff", "compare"):
        for place in folders or ["."]:
            found.read(place, True)
    return found.effects()


def _with_dashes(arguments: Sequence[str]) -> list[str]:
    """`cvfC a.tar d x` → `-c -v -f a.tar -C d x`: in the old spelling values follow in the letters' order."""
    if not arguments or arguments[0].startswith("-"):
        return list(arguments)
    spelled: list[str] = []
    rest = iter(arguments[1:])
    for letter in arguments[0]:
        spelled.append(f"-{letter}")
        if letter in _TAR.short_values:
            spelled.append(next(rest, ""))
    return [*spelled, *rest]


def _archive(name: str, parsed: Parsed, found: Found, *, written: bool) -> None:
    if name == STANDARD_STREAM:
        return
    remote = None if parsed.has("force-local") else remote_spec(name)
    if remote is not None:
        found.connect(remote.at)
    elif written:
        found.write(name)
        if not parsed.has("create"):
            found.read(name)
    else:
        found.read(name)


def _extract(parsed: Parsed, folders: Sequence[str], found: Found) -> None:
    tops = [value for value in parsed.values_of("one-top-level") if value]
    for folder in folders:
        for place in [posixpath.join(folder, top) for top in tops] or [folder]:
            found.write(place, True)
            if parsed.has("recursive-unlink", "unlink-first"):
                found.delete_below(place)
    if parsed.has("absolute-names") or parsed.has("transform", "xform"):
        found.doubt()


def _side_files(parsed: Parsed, found: Found) -> None:
    """Files and programs that options name."""
    for option in ("files-from", "exclude-from", "owner-map", "group-map"):
        found.read_all(parsed.values_of(option))
    if parsed.has("files-from") and (parsed.has(*_PACKS)):
        found.doubt()
    for option in ("index-file", "volno-file", "listed-incremental"):
        for name in parsed.values_of(option):
            found.write(name)
    found.opaque |= parsed.has(*_RUNS)
    for action in parsed.values_of("checkpoint-action"):
        found.opaque |= not action.startswith(_PEACEFUL_ACTIONS)
    for command in parsed.values_of("use-compress") + parsed.values_of("use-compress-program"):
        program, *arguments = command.split() or [""]
        harmless = all(word.startswith("-") and word[1:].lstrip("-").isalnum() for word in arguments)
        found.opaque |= program not in _COMPRESSORS or not harmless


PROGRAMS: dict[str, Analyse] = {"tar": _tar, "gtar": _tar, "bsdtar": _tar}

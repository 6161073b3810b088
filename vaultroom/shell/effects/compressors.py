"""zip, gzip, 7z, cpio and their kin: archives and compressed files other than tar's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vaultroom.shell.effects.declared import Program, analysers, program
from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import remote_spec
from vaultroom.shell.effects.options import Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

_SQUEEZE = Syntax(
    short={
        "d": "decompress", "c": "stdout", "k": "keep", "l": "list", "t": "test", "r": "recursive",
        "S": "suffix",
        "n": "no-name", "N": "name", "z": "compress", "f": "force", "T": "threads", "D": "dictionary",
        "o": "output", "C": "check", "F": "format",
    },
    short_values="STDoCFM",
    flags=words(

            "stdout to-stdout decompress uncompress keep list test recursive name no-name force quiet"
            " verbose fast best rm compress extreme synchronous rsyncable license single-stream no-sparse"
            " ignore-check"
    ),
    values=words(
        "suffix threads format check memlimit memlimit-compress memlimit-decompress block-size block-list"
        " output-dir-flat output-dir-mirror filelist trace dictionary output lzma1 lzma2"
    ),
)  # fmt: skip
_SUFFIXES = (
    ".gz", ".bz2", ".xz", ".lzma", ".zst", ".Z", ".z", ".lz4", ".lz", ".lzo", ".br", "-gz", "-z", "_z", ".bz",
)  # fmt: skip
_TAR_SUFFIXES = (".tgz", ".tbz", ".tbz2", ".txz", ".tlz", ".tzst", ".taz")


def _squeezer(suffix: str, *, unpacks: bool = False, keeps: bool = False) -> Analyse:
    """gzip-like: `suffix` is what it appends; `keeps` says that the original stays unless `--rm`."""

    def effects(argv: Sequence[str], places: Places) -> Effects:
        found = Found(places)
        parsed = parse(argv[1:], _SQUEEZE)
        unpacking = (unpacks or parsed.has("decompress", "uncompress")) and not parsed.has("compress")
        reads = parsed.has("stdout", "to-stdout", "list", "test")
        stays = parsed.has("rm") is False if keeps else parsed.has("keep")
        suffixes = [value for value in parsed.values_of("suffix") if value] or [suffix]
        for option in ("files", "files0", "filelist"):
            if parsed.has(option):
                found.read_all(parsed.values_of(option))
                found.doubt()
        found.read_all(parsed.values_of("dictionary"))
        for name in parsed.values_of("output"):
            found.replace(name)
        for option in ("output-dir-flat", "output-dir-mirror"):
            for name in parsed.values_of(option):
                found.write(name, True)
        if unpacking and parsed.has("name"):
            found.doubt()
        operands = parsed.operands
        if suffix == ".lz4" and len(operands) > 1 and not parsed.has("m", "multiple"):
            found.replace(operands[1])  # lz4 alone takes its output as a second operand
            operands = operands[:1]
        for operand in operands:
            if operand == STANDARD_STREAM or not operand:
                continue
            packed = [operand]
            if unpacking and not operand.endswith((*suffixes, *_SUFFIXES, *_TAR_SUFFIXES)):
                packed += [operand + ending for ending in suffixes]
            deep = None if parsed.has("recursive") else False
            for name in packed:
                found.read(name, deep)
            if reads:
                continue
            if not parsed.has("output"):
                for name in _unpacked(packed, suffixes) if unpacking else [operand + end for end in suffixes]:
                    found.replace(name)
            if deep is None:
                found.write(operand, deep)
            if not stays:
                for name in packed:
                    found.delete(name, deep)
        return found.effects()

    return effects


def _unpacked(packed: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    made = []
    for name in packed:
        for ending in (*suffixes, *_SUFFIXES):
            if name.endswith(ending) and len(name) > len(ending):
                made.append(name[: -len(ending)])
                break
        for ending in _TAR_SUFFIXES:
            if name.endswith(ending):
                made.append(name[: -len(ending)] + ".tar")
    return made


_ZIP_PAIRS = words(
    "lf la li lu DF DD db dc dd dg ds du dv df fd FF FI FS ic ll ld mm nw RE sb sc SC sf so sp sv su sU"
    " sV TT tt UN UT wl ws X- D- h2 AC AS"
)
_ZIP_VALUES = words("b t tt n P s sp ds lf O TT UN Z ic i- x-")
_ZIP_LONG_VALUES = words(
    "temp-path from-date before-date suffixes password split-size dot-size logfile-path output-file out"
    " unzip-command unicode compression-method"
)
_ZIP_SHORT_OF = {
    "temp-path": "b", "logfile-path": "lf", "output-file": "O", "out": "O", "unzip-command": "TT",
    "recurse-paths": "r", "recurse-patterns": "R", "move": "m", "delete": "d", "names-stdin": "@",
    "filesync": "FS", "copy-entries": "U", "include": "i", "exclude": "x",
}  # fmt: skip


def _zip(argv: Sequence[str], places: Places) -> Effects:
    """zip's options are its own: some have two letters, and `-x` and `-i` take a list up to `@`."""
    found = Found(places)
    given: dict[str, list[str]] = {}
    operands: list[str] = []
    rest = iter(argv[1:])

    def following() -> str:
        return next(rest, "")

    listing = False
    for word in rest:
        if word == "--":
            operands += rest
        elif word.startswith("-") and len(word) > 1:
            listing = _zip_options(word, given, following)
        elif listing:
            listing = word != "@"
        elif word == "@":
            continue
        else:
            operands.append(word)
    _zip_touches(given, operands, found)
    return found.effects()


def _zip_options(word: str, given: dict[str, list[str]], following: Callable[[], str]) -> bool:
    """Read one word of options; whether a list of patterns follows."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        long = _zip_long_name(name)
        if long in _ZIP_LONG_VALUES and not equals:
            value = following()
        short = _ZIP_SHORT_OF.get(long, long)
        given.setdefault(short, []).append(value)
        return short in ("i", "x") and not equals
    index = 1
    while index < len(word):
        size = 2 if word[index : index + 2] in _ZIP_PAIRS else 1
        name = word[index : index + size]
        index += size
        if name in ("i", "x"):
            return index == len(word)
        if name in _ZIP_VALUES:
            given.setdefault(name, []).append(word[index:].removeprefix("=") or following())
            return False
        given.setdefault(name, [""])
    return False


def _zip_long_name(typed: str) -> str:
    known = [name for name in (*_ZIP_LONG_VALUES, *_ZIP_SHORT_OF) if name.startswith(typed)]
    return typed if typed in known or len(set(known)) != 1 else known[0]


def _zip_touches(given: dict[str, list[str]], operands: Sequence[str], found: Found) -> None:
    found.opaque |= "TT" in given or "@" in given
    for name in given.get("lf", []):
        found.write(_with_ending(name, ".log"))
    for name in given.get("b", []):
        found.write(name, True)
    if not operands:
        return
    archive, *members = operands
    outputs = given.get("O", [])
    if archive != STANDARD_STREAM:
        (found.read if outputs else found.replace)(_with_ending(archive, ".zip"))
        if not outputs:
            found.replace(archive)
    for name in outputs:
        found.replace(_with_ending(name, ".zip"))
        found.replace(name)
    if "d" in given or "U" in given:
        return
    deep = None if "r" in given or "R" in given else False
    if "R" in given:
        found.read(".", True)
    for member in members:
        if member == STANDARD_STREAM:
            continue
        found.read(member, deep)
        if "m" in given:
            found.delete(member, deep)


def _with_ending(name: str, ending: str) -> str:
    return name if "." in name.rpartition("/")[2] else name + ending


def _unzip(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    folders: list[str] = []
    operands: list[str] = []
    letters = ""
    rest = iter(argv[1:])
    for word in rest:
        if not word.startswith("-") or word == STANDARD_STREAM:
            operands.append(word)
            continue
        for position, letter in enumerate(word[1:], 1):
            if letter == "d":
                folders.append(word[position + 1 :] or next(rest, ""))
                break
            if letter in "PI":
                if not word[position + 1 :]:
                    next(rest, "")
                break
            letters += letter
    for name in operands[:1]:
        found.read(name)
        if not name.endswith((".zip", ".ZIP")):
            found.read(f"{name}.zip")
    if not any(letter in "lptcvzZ" for letter in letters):
        for folder in folders or ["."]:
            found.write(folder, True)
    found.opaque |= ":" in letters
    return found.effects()


def _seven_zip(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    words_: list[str] = []
    switches: list[str] = []
    plain = False
    for word in argv[1:]:
        if word == "--":
            plain = True
        elif word.startswith("-") and len(word) > 1 and not plain:
            switches.append(word[1:])
        else:
            words_.append(word)
    command = words_[0].lower() if words_ else ""
    archive, members = (words_[1], words_[2:]) if len(words_) > 1 else ("", [])
    folders = [switch[1:] for switch in switches if switch[:1] == "o" and switch[1:]]
    for switch in switches:
        lower = switch.lower()
        if lower.startswith(("i", "x")) and "@" in switch:
            found.read(switch.partition("@")[2])
            found.doubt()
        elif lower.startswith("i") and "!" in switch:
            members.append(switch.partition("!")[2])
        elif lower.startswith("w") and switch[1:]:
            found.write(switch[1:], True)
    if command in ("a", "u", "d", "rn"):
        found.replace(archive)
        found.replace(_with_ending(archive, ".7z") if archive else "")
        for member in members if command in ("a", "u") else []:
            if member.startswith("@"):
                found.read(member[1:])
                found.doubt()
                continue
            found.read(member, None)
            if "sdel" in (switch.lower() for switch in switches):
                found.delete(member)
    else:
        found.read(archive)
    if command in ("x", "e") and not any(switch.lower().startswith("so") for switch in switches):
        for folder in folders or ["."]:
            found.write(folder, True)
        found.opaque |= any(switch.lower().startswith("spf") for switch in switches)
    return found.effects()


_CPIO = Syntax(
    short={
        "i": "extract", "o": "create", "p": "pass-through", "t": "list", "F": "file", "O": "output-file",
        "I": "input-file", "D": "directory", "E": "pattern-file",
    },
    short_values="FOIDECHMR",
    flags=words(
        "extract create pass-through list to-stdout no-absolute-filenames absolute-filenames make-directories"
        " preserve-modification-time unconditional verbose quiet null force-local append link dereference"
        " reset-access-time no-preserve-owner numeric-uid-gid only-verify-crc rename sparse help version"
    ),
    values=words(
        "file output-file input-file directory pattern-file rsh-command format owner io-size block-size"
        " message rename-batch-file"),
)  # fmt: skip


def _cpio(argv: Sequence[str], places: Places) -> Effects:
    """cpio gets the names of what it packs from standard input: those cannot be told."""
    found = Found(places)
    parsed = parse(argv[1:], _CPIO)
    creates = parsed.has("create")
    found.opaque |= parsed.has("rsh-command")
    found.read_all(parsed.values_of("pattern-file"))
    for option in ("file", "output-file", "input-file"):
        for name in parsed.values_of(option):
            _cpio_archive(
                name, parsed, found, written=option == "output-file" or (creates and option == "file")
            )
    if creates or parsed.has("pass-through"):
        found.doubt()
    for folder in parsed.values_of("directory") or ["."]:
        if parsed.has("pass-through"):
            for target in parsed.operands:
                found.write(target if target.startswith("/") else f"{folder}/{target}", True)
        elif parsed.has("extract") and not parsed.has("list", "to-stdout"):
            found.write(folder, True)
            found.opaque |= not parsed.has("no-absolute-filenames")
    return found.effects()


def _cpio_archive(name: str, parsed: Parsed, found: Found, *, written: bool) -> None:
    remote = None if parsed.has("force-local") else remote_spec(name)
    if remote is not None:
        found.connect(remote.at)
    elif written:
        found.write(name)
    else:
        found.read(name)


def _ar(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    operands = [word for word in argv[1:] if not word.startswith("--")]
    keys = operands[0].lstrip("-") if operands else ""
    names = operands[1:]
    if any(letter in keys for letter in "abi") and len(names) > 1 and any(key in keys for key in "mr"):
        names = names[1:]
    if not names:
        return found.effects()
    archive, *members = names
    if any(letter in keys for letter in "rqmds"):
        found.replace(archive)
        found.read_all(members)
    found.read(archive)
    if "x" in keys:
        found.write(".", True)
    return found.effects()


_TABLE: dict[str, Program] = {
    "zipinfo funzip zipgrep": program("r"),
    "unrar": program("r", last="r!"),
    "lsar": program("r"),
    "unar": program(
        "r!", short={"o": "output-directory"}, short_values="oepk", values={"output-directory": "W"}
    ),
}

PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {
    "gzip": _squeezer(".gz"),
    "pigz": _squeezer(".gz"),
    "gunzip": _squeezer(".gz", unpacks=True),
    "unpigz": _squeezer(".gz", unpacks=True),
    "compress": _squeezer(".Z"),
    "uncompress": _squeezer(".Z", unpacks=True),
    "bzip2": _squeezer(".bz2"),
    "pbzip2": _squeezer(".bz2"),
    "bunzip2": _squeezer(".bz2", unpacks=True),
    "xz": _squeezer(".xz"),
    "unxz": _squeezer(".xz", unpacks=True),
    "lzma": _squeezer(".lzma"),
    "unlzma": _squeezer(".lzma", unpacks=True),
    "lzip": _squeezer(".lz"),
    "lz4": _squeezer(".lz4", keeps=True),
    "unlz4": _squeezer(".lz4", unpacks=True, keeps=True),
    "zstd": _squeezer(".zst", keeps=True),
    "unzstd": _squeezer(".zst", unpacks=True, keeps=True),
    "brotli": _squeezer(".br", keeps=True),
    "zip": _zip,
    "unzip": _unzip,
    "7z": _seven_zip,
    "7za": _seven_zip,
    "7zr": _seven_zip,
    "7zz": _seven_zip,
    "cpio": _cpio,
    "ar": _ar,
}

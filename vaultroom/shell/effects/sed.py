"""sed: what it reads, what `-i` changes, and the files and programs that its script names.

A script is read just far enough to find those. What cannot be read is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

LONGEST_SCRIPT = 64 * 1024
"""Characters of a script that are read; a longer one is a doubt."""

_SED = Syntax(
    short={"e": "expression", "f": "file", "i": "in-place", "I": "in-place", "n": "quiet"},
    short_values="efl",
    short_attached="iI",
    flags=words(
        "quiet silent debug in-place follow-symlinks posix regexp-extended separate sandbox unbuffered"
        " null-data zero-terminated help version"
    ),
    values=words("expression file line-length"),
)


def _sed(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _SED)
    operands = parsed.operands
    if parsed.has("in-place") and operands[:1] == [""]:
        operands = operands[1:]  # `sed -i '' script file`: the BSD spelling of no backup
    scripts = parsed.values_of("expression")
    for name in parsed.values_of("file"):
        found.read_all([name])
        found.doubt()
    if not scripts and not parsed.has("file"):
        scripts, operands = operands[:1], operands[1:]
    for name in operands:
        if name == STANDARD_STREAM:
            continue
        found.read(name)
        if parsed.has("in-place"):
            found.replace(name)
            for suffix in filter(None, parsed.values_of("in-place")):
                found.replace(_backup(name, suffix))
    _sed_script("\n".join(scripts), found)
    return found.effects()


def _backup(name: str, suffix: str) -> str:
    """`-i.bak` appends; with a star or a slash the suffix is a pattern for the name."""
    folder, slash, base = name.rpartition("/")
    if "*" not in suffix:
        return name + suffix
    made = suffix.replace("*", base)
    return made if "/" in made else folder + slash + made


class _Unreadable(Exception):
    """A script that is not what its reader expects."""


def _sed_script(script: str, found: Found) -> None:
    if len(script) > LONGEST_SCRIPT:
        found.doubt()
        return
    try:
        for use, name in _sed_files(script):
            if use == "r":
                found.read(name)
            elif use == "w" and name not in ("/dev/stdout", "/dev/stderr"):
                found.write(name)
            elif use == "!":
                found.doubt()
    except _Unreadable:
        found.doubt()


def _sed_files(script: str) -> Iterator[tuple[str, str]]:
    """("r" or "w", name) for each file that the script names, ("!", "") for a command that it runs."""
    index = 0
    while index < len(script):
        if script[index] in " \t\n;{}!":
            index += 1
            continue
        index = _after_address(script, index)
        index = _skip(script, index, " \t!")
        command = script[index : index + 1]
        index += 1
        if command in ("", "{", "}", "\n", ";"):
            continue
        if command in "sy":
            index = _after_section(script, index - 1, both=True)
            end = next((at for at in range(index, len(script)) if script[at] in ";\n}w"), len(script))
            if command == "s" and "e" in script[index:end]:
                yield "!", ""
            if command == "s" and script[end : end + 1] == "w":
                index, name = _line(script, end + 1)
                yield "w", name
            else:
                index = end
        elif command in "rRwW":
            index, name = _line(script, index)
            yield command.lower(), name
        elif command == "e":
            yield "!", ""
            index = _line(script, index)[0]
        elif command in "aic":
            index = _after_text(script, index)
        elif command in ":btT":
            while index < len(script) and script[index] not in "\n;}":
                index += 1
        elif command == "#":
            index = _line(script, index)[0]
        elif command in "dDgGhHnNpPqQlxzF=v":
            index = _skip(script, index, " \t0123456789")
        else:
            raise _Unreadable


def _after_address(script: str, index: int) -> int:
    while index < len(script):
        char = script[index]
        if char in "/\\":
            start = index + 1 if char == "\\" else index
            index = _skip(script, _after_section(script, start, both=False), "IM")
        elif char in "0123456789$,~+- \t":
            index += 1
        else:
            return index
    return index


def _after_section(script: str, index: int, *, both: bool) -> int:
    """Past `/regex/`, or `s/regex/replacement/`, whatever the delimiter; `index` is before the first."""
    if both:
        index += 1
    delimiter = script[index : index + 1]
    if delimiter in ("", "\n", "\\"):
        raise _Unreadable
    index += 1
    command = script[index - 2 : index - 1] if both else "s"
    for section in range(2 if both else 1):
        while script[index : index + 1] != delimiter:
            if index >= len(script):
                raise _Unreadable
            if script[index] == "[" and section == 0 and command == "s":
                index = _after_bracket(script, index + 1)
            else:
                index += 2 if script[index] == "\\" else 1
        index += 1
    return index


def _after_bracket(script: str, index: int) -> int:
    """Past `[...]`, in which neither a delimiter nor a backslash is special."""
    index = _skip(script, index, "^")
    index += script[index : index + 1] == "]"
    while script[index : index + 1] != "]":
        if index >= len(script):
            raise _Unreadable
        if script[index : index + 2] in ("[:", "[.", "[="):
            end = script.find(script[index + 1] + "]", index + 2)
            if end < 0:
                raise _Unreadable
            index = end + 2
        else:
            index += 1
    return index + 1


def _after_text(script: str, index: int) -> int:
    """Past the text of `a`, `i` or `c`, which goes on after a line that ends with a backslash."""
    while index < len(script):
        if script[index] == "\\":
            index += 2
        elif script[index] == "\n":
            return index
        else:
            index += 1
    return index


def _line(script: str, index: int) -> tuple[int, str]:
    """The rest of the line: file names go that far, semicolons included."""
    end = script.find("\n", index)
    end = len(script) if end < 0 else end
    return end, script[index:end].lstrip(" \t")


def _skip(script: str, index: int, chars: str) -> int:
    while index < len(script) and script[index] in chars:
        index += 1
    return index


PROGRAMS: dict[str, Analyse] = dict.fromkeys(("sed", "gsed"), _sed)

"""awk: what it reads, and the files that its program prints to.

A program is read just far enough to find redirections. Pipes and computed names are doubts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

LONGEST_SCRIPT = 64 * 1024
"""Characters of a script that are read; a longer one is a doubt."""

_AWK = Syntax(
    short={
        "f": "file", "F": "field-separator", "v": "assign", "e": "source", "E": "exec", "i": "include",
        "l": "load", "o": "pretty-print", "p": "profile", "d": "dump-variables", "D": "debug",
    },
    short_values="fFveEilW",
    short_attached="opdD",
    flags=words(
        "characters-as-bytes traditional dump-variables debug gen-pot help lint bignum non-decimal-data"
        " optimize pretty-print profile posix re-interval sandbox no-optimize version csv"
    ),
    values=words("file field-separator assign source exec include load"),
)  # fmt: skip
_AWK_DOUBTS = frozenset({"system", "getline", "@", "|&", "|"})
_AWK_WORDS = frozenset({"print", "printf", "return", "in", "case", "else", "do"})
_BEFORE_REGEX = frozenset("(,{;}!~&|?:=<>+-*%^\n")


def _awk(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _AWK)
    operands = parsed.operands
    programs = parsed.values_of("source")
    files = parsed.values_of("file") + parsed.values_of("exec")
    for name in files + parsed.values_of("include") + parsed.values_of("load"):
        found.read_all([name])
        found.doubt()
    for option in ("pretty-print", "profile", "dump-variables"):
        for name in parsed.values_of(option):
            found.write(name or "awkprof.out")
    if not programs and not files:
        programs, operands = operands[:1], operands[1:]
    in_place = any(name.startswith("inplace") for name in parsed.values_of("include"))
    for name in operands:
        head, equals, _ = name.partition("=")
        if name == STANDARD_STREAM or (equals and head.isidentifier()):
            continue
        found.read(name)
        if in_place:
            found.replace(name)
    for program in programs:
        _awk_program(program, found)
    return found.effects()


def _awk_program(program: str, found: Found) -> None:
    """Files after `print >`; pipes, `system`, `getline <`, inclusions and computed names are doubts."""
    if len(program) > LONGEST_SCRIPT:
        found.doubt()
        return
    printing = False
    depth = 0
    tokens = list(_awk_tokens(program))
    for position, token in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token in _AWK_DOUBTS:
            found.doubt()
        elif token in ("print", "printf"):
            printing, depth = True, 0
        elif token in ("\n", ";", "{", "}"):
            printing = False
        elif token in ("(", ")"):
            depth += 1 if token == "(" else -1
        elif token in (">", ">>") and printing and depth <= 0:
            after = tokens[position + 2] if position + 2 < len(tokens) else "\n"
            if following.startswith('"') and "\\" not in following and after in ("\n", ";", "}"):
                name = following[1:-1]
                if name not in ("/dev/stdout", "/dev/stderr", "-"):
                    found.write(name)
                    if name.startswith("/inet"):
                        found.doubt()
            else:
                found.doubt()


def _awk_tokens(program: str) -> Iterator[str]:
    """Words, strings with their quotes, and operators; comments and regular expressions are left out."""
    index = 0
    previous = "\n"
    while index < len(program):
        char = program[index]
        if char in " \t\r":
            index += 1
            continue
        if char == "\\" and program[index + 1 : index + 2] == "\n":
            index += 2
            continue
        start = index
        if char == "#":
            end = program.find("\n", index)
            index = len(program) if end < 0 else end
            continue
        if char == '"' or (char == "/" and (previous in _BEFORE_REGEX or previous in _AWK_WORDS)):
            index = _after_quoted(program, index + 1, char)
            if char == "/":
                previous = "/regex/"
                continue
        elif char.isalnum() or char == "_":
            while index < len(program) and (program[index].isalnum() or program[index] == "_"):
                index += 1
        elif program[index : index + 2] in ("||", "&&", ">=", "<=", "==", "!=", ">>", "|&"):
            index += 2
        else:
            index += 1
        token = program[start:index]
        previous = token if len(token) > 1 and token[0].isalpha() else token[-1]
        yield token


def _after_quoted(program: str, index: int, quote: str) -> int:
    while index < len(program) and program[index] != quote:
        index += 2 if program[index] == "\\" else 1
    return index + 1


PROGRAMS: dict[str, Analyse] = dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk)

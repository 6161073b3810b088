"""Command-line options the way GNU getopt reads them.

Exact long names win, then unambiguous prefixes; short options cluster; options may follow operands until
`--`. An option that a table does not know is a flag: it never swallows an operand, so that an unknown
spelling can only add touches, not hide them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

OPERAND = ""
"""The name under which an operand stands in `Parsed.ordered`."""


@dataclass(frozen=True)
class Syntax:
    """The options of one program.

    `short` maps a letter to its option's name where that differs from the letter; `short_values` are the
    letters that take a value, `short_attached` those whose value can only follow in the same word (`-i.bak`).
    `flags` are long options without a value (or with one only after `=`), `values` those that need one.
    `one_dash`: long names may be written with a single dash (`-out`), as openssl and go do.
    `leading`: options end at the first operand (ssh, docker run). An unknown option lifts that, since the
    operand may be its value; `short_flags` are the letters that are known not to take one.
    """

    short: Mapping[str, str] = field(default_factory=dict)
    short_values: str = ""
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset({"--"})
    short_attached: str = ""
    short_flags: str = ""
    one_dash: bool = False
    leading: bool = False


@dataclass(frozen=True)
class Parsed:
    """`given`: each option's name with its values in order ("" for a flag). `operands` in order.

    `ordered` has both as (name, value) in the order of the command, operands under the name "".
    """

    given: Mapping[str, list[str]]
    operands: list[str]
    ordered: list[tuple[str, str]]

    def has(self, *names: str) -> bool:
        """Whether any of the options was given."""
        return any(name in self.given for name in names)

    def values_of(self, name: str) -> list[str]:
        return self.given.get(name, [])

    def last(self, name: str) -> str:
        """The last value of an option; "" where it was not given."""
        values = self.given.get(name)
        return values[-1] if values else ""


def parse(arguments: Sequence[str], syntax: Syntax) -> Parsed:
    """Read `arguments` (without argv[0])."""
    ordered: list[tuple[str, str]] = []
    rest = iter(arguments)
    known = True
    for argument in rest:
        if argument in syntax.ends:
            ordered.extend((OPERAND, operand) for operand in rest)
        elif argument.startswith("--"):
            known &= _long(argument[2:], rest, syntax, ordered)
        elif argument.startswith("-") and argument != "-":
            if syntax.one_dash and _is_long(argument[1:], syntax):
                _long(argument[1:], rest, syntax, ordered)
            else:
                known &= _cluster(argument[1:], rest, syntax, ordered)
        else:
            ordered.append((OPERAND, argument))
            if syntax.leading and known:
                ordered.extend((OPERAND, operand) for operand in rest)
    given: dict[str, list[str]] = {}
    operands: list[str] = []
    for name, value in ordered:
        if name == OPERAND:
            operands.append(value)
        else:
            given.setdefault(name, []).append(value)
    return Parsed(given=given, operands=operands, ordered=ordered)


def _is_long(text: str, syntax: Syntax) -> bool:
    name = text.partition("=")[0]
    return name in syntax.values or name in syntax.flags


def _long(text: str, rest: Iterator[str], syntax: Syntax, ordered: list[tuple[str, str]]) -> bool:
    """Read one long option; whether the table knows it."""
    typed, equals, value = text.partition("=")
    name = _complete(typed, syntax)
    if name in syntax.values and not equals:
        value = next(rest, "")
    ordered.append((name or "-", value))
    return name in syntax.values or name in syntax.flags


def _complete(typed: str, syntax: Syntax) -> str:
    if typed in syntax.flags or typed in syntax.values:
        return typed
    candidates = [name for name in (*syntax.flags, *syntax.values) if name.startswith(typed)]
    return candidates[0] if len(candidates) == 1 else typed


def _cluster(letters: str, rest: Iterator[str], syntax: Syntax, ordered: list[tuple[str, str]]) -> bool:
    """Read short options that share a dash; whether the table knows all of them."""
    known = True
    seen: set[str] = set()
    for index, letter in enumerate(letters):
        if letter in seen:
            continue
        seen.add(letter)
        name = syntax.short.get(letter, letter)
        if letter in syntax.short_values:
            ordered.append((name, letters[index + 1 :] or next(rest, "")))
            return known
        if letter in syntax.short_attached:
            ordered.append((name, letters[index + 1 :]))
            return known
        ordered.append((name, ""))
        known &= letter in syntax.short_flags or letter in syntax.short
    return known

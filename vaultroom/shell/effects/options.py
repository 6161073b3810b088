"""Command-line options the way GNU getopt reads them.

Exact long names win, then unambiguous prefixes; short options cluster; options may follow operands until
`--`. An option that a table does not know is a flag: it never swallows an operand, so that an unknown
spelling can only add touches, not hide them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Syntax:
    """The options of one program.

    `short` maps a letter to its option's name where that differs from the letter; `short_values` are the
    letters that take a value. `flags` are long options without a value (or with one only after `=`),
    `values` those that need one.
    """

    short: Mapping[str, str] = field(default_factory=dict)
    short_values: str = ""
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset({"--"})


@dataclass(frozen=True)
class Parsed:
    """`given`: each option's name with its values in order ("" for a flag). `operands` in order."""

    given: Mapping[str, list[str]]
    operands: list[str]

    def has(self, name: str) -> bool:
        return name in self.given

    def values_of(self, name: str) -> list[str]:
        return self.given.get(name, [])


def parse(arguments: Sequence[str], syntax: Syntax) -> Parsed:
    """Read `arguments` (without argv[0])."""
    given: dict[str, list[str]] = {}
    operands: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in syntax.ends:
            operands.extend(rest)
        elif argument.startswith("--"):
            _long(argument[2:], rest, syntax, given)
        elif argument.startswith("-") and argument != "-":
            _cluster(argument[1:], rest, syntax, given)
        else:
            operands.append(argument)
    return Parsed(given=given, operands=operands)


def _long(text: str, rest: Iterable[str], syntax: Syntax, given: dict[str, list[str]]) -> None:
    typed, equals, value = text.partition("=")
    name = _complete(typed, syntax)
    if name in syntax.values and not equals:
        value = next(iter(rest), "")
    given.setdefault(name, []).append(value)


def _complete(typed: str, syntax: Syntax) -> str:
    if typed in syntax.flags or typed in syntax.values:
        return typed
    candidates = [name for name in (*syntax.flags, *syntax.values) if name.startswith(typed)]
    return candidates[0] if len(candidates) == 1 else typed


def _cluster(letters: str, rest: Iterable[str], syntax: Syntax, given: dict[str, list[str]]) -> None:
    for index, letter in enumerate(letters):
        name = syntax.short.get(letter, letter)
        if letter in syntax.short_values:
            value = letters[index + 1 :] or next(iter(rest), "")
            given.setdefault(name, []).append(value)
            return
        given.setdefault(name, []).append("")

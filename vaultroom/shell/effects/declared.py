"""Programs whose grammar is only options and operands: each is one entry of a table.

What happens to a value or an operand is written as letters, in order:

- `r` read, `R` read with everything below;
- `w` written, `W` written with everything below, `n` a new entry made;
- `d` the entry deleted, `D` deleted with everything below;
- `h` a connection to `host` or `host:port`, `u` to a URL (its scheme may be missing);
- `U` a connection when it is a URL, read otherwise;
- `!` more may be touched than the arguments tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import is_url
from vaultroom.shell.effects.options import Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

PLAIN = Syntax()


@dataclass(frozen=True)
class Program:
    """One program.

    `operands` is what happens to each operand, `last` to the last one where there are at least two. The
    first `skip` operands are no files, unless one of the options `instead` was given (`grep -e`).
    `values` is what happens to options' values. With one of `recursive` operands are meant with everything
    below them (`here`: without operands that is the working directory); one of `doubts` makes the command
    opaque; with one of `only_reads` nothing is written or deleted. `port` is the one of hosts.
    """

    syntax: Syntax = PLAIN
    operands: str = ""
    last: str = ""
    skip: int = 0
    instead: frozenset[str] = frozenset()
    values: Mapping[str, str] = field(default_factory=dict)
    recursive: frozenset[str] = frozenset()
    doubts: frozenset[str] = frozenset()
    only_reads: frozenset[str] = frozenset()
    here: bool = False
    port: int = 0


def program(
    operands: str = "",
    *,
    short: Mapping[str, str] | None = None,
    short_values: str = "",
    attached: str = "",
    flags: str = "",
    values: Mapping[str, str] | None = None,
    other_values: str = "",
    last: str = "",
    skip: int = 0,
    instead: str = "",
    recursive: str = "",
    doubts: str = "",
    only_reads: str = "",
    here: bool = False,
    port: int = 0,
    one_dash: bool = False,
    leading: bool = False,
) -> Program:
    """An entry; lists are blank-separated. `other_values` are long options whose value does not matter."""
    uses = dict(values or {})
    syntax = Syntax(
        short=dict(short or {}),
        short_values=short_values,
        short_attached=attached,
        flags=words(flags),
        values=words(other_values) | {name for name in uses if len(name) > 1},
        one_dash=one_dash,
        leading=leading,
    )
    return Program(
        syntax=syntax,
        operands=operands,
        last=last,
        skip=skip,
        instead=words(instead),
        values=uses,
        recursive=words(recursive),
        doubts=words(doubts),
        only_reads=words(only_reads),
        here=here,
        port=port,
    )


def analyse(entry: Program) -> Analyse:
    """The function of one entry."""

    def effects(argv: Sequence[str], places: Places) -> Effects:
        found = Found(places)
        declared_touches(entry, parse(argv[1:], entry.syntax), found)
        return found.effects()

    return effects


def declared_touches(entry: Program, parsed: Parsed, found: Found) -> None:
    """What the options and operands of one command touch according to its entry."""
    reads_only = parsed.has(*entry.only_reads)
    deep = parsed.has(*entry.recursive)
    for name, uses in entry.values.items():
        for value in parsed.values_of(name):
            apply(uses, value, found, port=entry.port, reads_only=reads_only)
    if parsed.has(*entry.doubts):
        found.doubt()
    operands = parsed.operands if parsed.has(*entry.instead) else parsed.operands[entry.skip :]
    if entry.here and deep and not operands:
        operands = ["."]
    final = len(operands) - 1 if entry.last and len(operands) > 1 else -1
    for position, operand in enumerate(operands):
        uses = entry.last if position == final else entry.operands
        apply(uses, operand, found, deep=deep, port=entry.port, reads_only=reads_only)


def apply(
    uses: str, operand: str, found: Found, *, deep: bool = False, port: int = 0, reads_only: bool = False
) -> None:
    """Do to one operand what the letters say."""
    if operand == STANDARD_STREAM:
        return
    for use in uses:
        if use == "!":
            found.doubt()
        elif use == "h":
            found.host(operand, port)
        elif use == "u" or (use == "U" and is_url(operand)):
            found.url(operand, port)
        elif use in "rRU":
            found.read(operand, None if use == "R" or deep else False)
        elif reads_only:
            continue
        elif use in "wW":
            found.write(operand, None if use == "W" or deep else False)
        elif use == "n":
            found.make(operand)
        else:
            found.delete(operand, None if use == "D" or deep else False)


def analysers(table: Mapping[str, Program]) -> dict[str, Analyse]:
    """One function for each name of a table; names that share an entry stand together, blank-separated."""
    return {name: analyse(entry) for names, entry in table.items() for name in names.split()}

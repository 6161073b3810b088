"""Options the way getopt reads them."""

from __future__ import annotations

import pytest

from vaultroom.shell.effects.options import Syntax, parse

SYNTAX = Syntax(
    short={"o": "output", "v": "verbose"},
    short_values="o",
    short_attached="i",
    flags=frozenset({"verbose", "version", "force"}),
    values=frozenset({"output"}),
)
LEADING = Syntax(short_values="p", short_flags="q", leading=True)
ONE_DASH = Syntax(flags=frozenset({"x509"}), values=frozenset({"out"}), one_dash=True)


@pytest.mark.parametrize(
    ("line", "given", "operands"),
    [
        ("-vo f a", {"verbose": [""], "output": ["f"]}, ["a"]),
        ("-of a", {"output": ["f"]}, ["a"]),
        ("a -o", {"output": [""]}, ["a"]),
        ("-i.bak a", {"i": [".bak"]}, ["a"]),
        ("-i a", {"i": [""]}, ["a"]),
        ("--out=f --outp g", {"output": ["f", "g"]}, []),
        ("--ver a", {"ver": [""]}, ["a"]),
        ("--unknown a", {"unknown": [""]}, ["a"]),
        ("a -- -o b", {}, ["a", "-o", "b"]),
        ("- --", {}, ["-"]),
        ("--=x", {"-": ["x"]}, []),
    ],
)
def test_parse(line: str, given: dict[str, list[str]], operands: list[str]) -> None:
    parsed = parse(line.split(), SYNTAX)
    assert (dict(parsed.given), parsed.operands) == (given, operands)


def test_order_is_kept() -> None:
    ordered = parse(["a", "-o", "f", "b"], SYNTAX).ordered
    assert ordered == [("", "a"), ("output", "f"), ("", "b")]


def test_options_end_at_the_first_operand_unless_one_was_unknown() -> None:
    assert parse(["-q", "-p", "1", "host", "-p", "2"], LEADING).values_of("p") == ["1"]
    assert parse(["-Z", "value", "-p", "2", "host"], LEADING).values_of("p") == ["2"]


def test_long_names_with_one_dash() -> None:
    parsed = parse(["-x509", "-out", "f", "a", "-out=g"], ONE_DASH)
    assert parsed.values_of("out") == ["f", "g"] and parsed.operands == ["a"]

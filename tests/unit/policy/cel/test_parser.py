"""Where errors point, and what they say; positions and equality of the tree."""

import pytest

from vaultroom.policy.cel import CelCompileError, CelEvalError, compile_program, zero_view
from vaultroom.policy.cel.ast import And, Compare, Field, Has, Literal, Macro, Node, Or, walk
from vaultroom.policy.cel.parser import parse
from vaultroom.policy.cel.types import Type

MISTAKES = [
    ('event.cmd = "x"', 1, 11, "write == to compare"),
    ('event.cmd === "x"', 1, 11, "expected ==, found ==="),
    ('event.cmd == "x" and true', 1, 18, "write && for 'and'"),
    ('event.cmd == "x" or true', 1, 18, "write || for 'or'"),
    ('event.cmd == "x" & true', 1, 18, "write && for 'and'"),
    ('event.cmd == "x" | true', 1, 18, "write || for 'or'"),
    ("not event.opaque", 1, 1, "write ! for 'not'"),
    ("event.cmd == “x”", 1, 14, "use straight quotes"),
    ('cmd == "x"', 1, 1, "did you mean event.cmd?"),
    ('cmdd == "x"', 1, 1, "did you mean event.cmd?"),
    ('agent == "x"', 1, 1, "did you mean event.agent?"),
    ('evnt.cmd == "x"', 1, 1, "did you mean 'event'?"),
    ('event.cmdd == "x"', 1, 7, "the event has no field 'cmdd'; did you mean 'cmd'?"),
    ('event["cmd"] == "x"', 1, 1, "write event.NAME instead of event[…]"),
    ("event.opaque == True", 1, 17, "write true"),
    ("event.tool_args.x == None", 1, 22, "write null"),
    ('event.cmd.startswith("x")', 1, 11, "did you mean 'startsWith'?"),
    ("event.argv.len() > 1", 1, 12, "did you mean 'size'?"),
    ("len(event.argv) > 1", 1, 1, "did you mean 'size'?"),
    ('startsWith(event.cmd, "x")', 1, 1, "write value.startsWith(…)"),
    ('event.argv.any(a, a == "x")', 1, 12, "did you mean 'exists'?"),
    ("event.argv.exists(a)", 1, 19, "needs a variable and a condition"),
    ("event.argv.exists(event, true)", 1, 19, "cannot be the name of a variable"),
    ("size(1, 2) == 1", 1, 1, "size() takes 1 argument, found 2"),
    ('event.cmd.matches("a", "b")', 1, 11, "matches() takes 1 argument, found 2"),
    ("(event.opaque", 1, 14, "expected ')', found the end of the expression"),
    ("event.opaque)", 1, 13, "found ')'"),
    ("event.opaque &&", 1, 16, "expected a value, found the end of the expression"),
    ("", 1, 1, "expected a value, found the end of the expression"),
    ("event.opaque &&\n  event.cmdd", 2, 9, "has no field 'cmdd'"),
    ('event.cmd == "abc', 1, 14, "this string is not closed"),
    ('event.cmd == "a\nb"', 1, 14, "this string is not closed"),
    (r'event.cmd == "a\zb"', 1, 16, r"write \\z, or r"),
    (r'event.cmd == "\ud800"', 1, 15, "not a Unicode character"),
    (r'event.cmd == "\x4"', 1, 15, "expected 2 hexadecimal digits"),
    ("event.port == 007", 1, 15, "write 7"),
    ("event.port == 9223372036854775808", 1, 15, "too large for an int"),
    ("1u == 18446744073709551616u", 1, 7, "too large for a uint"),
    ("event.cmd.matches('(')", 1, 19, "missing )"),
    ("event.cmd == 1", 1, 11, "comparing a string with an int is always false"),
    ('"x" in event.cmd', 1, 5, "write text.contains(part)"),
    ("event.argv.contains('x')", 1, 12, "write 'x in list'"),
    ("event.argv.size > 1", 1, 12, "write size()"),
    ("event.argv[-1] == 'x'", 1, 12, "x[x.size() - 1]"),
    ("event.tool_args.in == 1", 1, 17, '["in"]'),
    ("event.cmd", 1, 7, "expected a condition (a bool), found a string"),
    ("event.opaque; true", 1, 13, "without a semicolon"),
    ("event.opaque\u00a0&& true", 1, 13, "no-break space"),
    ("for == 1", 1, 1, "reserved word"),
]


@pytest.mark.parametrize(("source", "line", "column", "says"), MISTAKES)
def test_an_error_points_at_the_mistake_and_helps(source: str, line: int, column: int, says: str) -> None:
    with pytest.raises(CelCompileError) as caught:
        compile_program(source)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("source", "line", "column", "says"),
    [
        ("event.tool_args.x == 1", 1, 17, "no key 'x'; guard it with has()"),
        ("true &&\n event.argv[7] == 'x'", 2, 12, "index 7 is out of range for a list of 0"),
        ("event.port + 1 < event.tool_args.x", 1, 34, "no key 'x'"),
        ("event.argv.size() / event.port == 1", 1, 19, "division by zero"),
        ("event.argv == [] && event.tool_args.size() / 0 == 1", 1, 44, "division by zero"),
    ],
)
def test_an_evaluation_error_points_at_the_operation(source: str, line: int, column: int, says: str) -> None:
    with pytest.raises(CelEvalError) as caught:
        compile_program(source).evaluate(zero_view())
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in caught.value.message


def test_an_error_shows_its_position() -> None:
    assert str(CelCompileError("no", 2, 3)) == "2:3: no"


def test_equal_meaning_is_an_equal_tree() -> None:
    spread = ' event.argv . exists( a,\n  (a == "x") ) // comment'
    assert parse(spread) == parse("event.argv.exists(a, a == 'x')")
    assert hash(parse(spread)) == hash(parse("event.argv.exists(a, a == 'x')"))
    assert parse("size(event.argv) == 1") == parse("event.argv.size() == 1")
    assert parse("event.port == 0x10") == parse("event.port == 16")


@pytest.mark.parametrize(
    "other", ["event.port == 1u", "event.port == 1.0", "event.port == true", "event.port == -1"]
)
def test_literals_of_another_type_are_another_tree(other: str) -> None:
    assert parse("event.port == 1") != parse(other)


def test_chains_of_logic_are_flat() -> None:
    tree = parse("event.opaque || (event.derived || has(event.cmd)) || true && false")
    assert isinstance(tree, Or)
    assert [type(term) for term in tree.terms[:2]] == [Field, Field]
    assert len(tree.terms) == 4
    assert isinstance(tree.terms[3], And)


def test_extents_give_the_text_of_a_node() -> None:
    source = 'has(event.tool_args.a.b) && (event.argv.exists(x, x == "y") || -1 < event.port)'

    def text(kind: type[Node]) -> str:
        node = next(node for node in walk(parse(source)) if type(node) is kind)
        return source[node.start : node.end]

    assert text(Has) == "has(event.tool_args.a.b)"
    assert text(Macro) == 'event.argv.exists(x, x == "y")'
    assert text(Compare) == 'x == "y"'
    assert text(Literal) == '"y"'


def test_a_minus_belongs_to_the_number() -> None:
    assert parse("-1 == -1.5").children == (Literal(-1, Type.INT), Literal(-1.5, Type.DOUBLE))

"""Bounds: what is too much is refused or fails, quickly, in both evaluators alike."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultroom.policy.cel import CelCompileError, CelError, CelEvalError, Program, compile_program, zero_view
from vaultroom.policy.cel.limits import CHAINED_LOGIC, CHAINED_OPERATORS, DEPTH, ITERATIONS, SOURCE_CHARACTERS


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < seconds


def event(**fields: Any) -> dict[str, Any]:
    return {**zero_view(), **fields}


def both(program: Program, view: dict[str, Any]) -> bool | str:
    """The outcome, having made sure that the evaluators agree on it."""
    outcomes = []
    for evaluate in (program.evaluate, program.exact.evaluate):
        try:
            outcomes.append(evaluate(dict(view)))
        except CelEvalError as error:
            outcomes.append(error.message)
    assert outcomes[0] == outcomes[1]
    return outcomes[0]


def refused(source: str) -> str:
    with pytest.raises(CelCompileError) as caught:
        compile_program(source)
    return caught.value.message


def test_the_length_of_an_expression() -> None:
    longest = "true" + " " * (SOURCE_CHARACTERS - 4)
    assert compile_program(longest).evaluate(zero_view())
    assert "8192 characters" in refused(longest + " ")


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("(", "true", ")"),
        ("!(", "true", ")"),
        ("[", "1", "] == [[]]"),
        ("(true ? ", "true", " : false)"),
        ("(true && (false || ", "true", "))"),
        ("size([", "1", "]) == 1"),
        ("{'a': ", "1", "} == {}"),
        ("(1 + ", "1", ") == 2"),
        ("dyn(", "true", ")"),
        ("[true].exists(a, ", "true", ")"),
    ],
)
def test_nesting(opening: str, middle: str, closing: str) -> None:
    """Whatever is nested, it either compiles and evaluates or is refused; the depths in between do not
    crash.
    """
    tail = closing.partition(" == ")
    for depth in (1, 10, 30, 60, 63, 64, 65, 100, 500, 1000):
        source = opening * depth + middle + tail[0] * depth + tail[1] + tail[2]
        try:
            program = compile_program(source)
        except CelCompileError as error:
            assert depth > 1 or "always" in error.message
            continue
        assert depth <= DEPTH
        both(program, zero_view())
    assert refused(opening * 70 + middle + tail[0] * 70 + tail[1] + tail[2])


def test_a_chain_of_operators() -> None:
    def chain(count: int) -> str:
        return " + ".join(["1"] * (count + 1)) + " > 0"

    assert both(compile_program(chain(DEPTH - 2)), zero_view()) is True
    assert f"{CHAINED_OPERATORS} operators in a row" in refused(chain(CHAINED_OPERATORS + 1))
    assert refused("-" * 65 + "1 == 1")
    assert refused("!" * 65 + "true")
    assert refused("event.tool_args" + ".a" * 65 + " == 1")


def test_a_chain_of_logic_may_be_longer_since_it_is_flat() -> None:
    alternatives = " || ".join(["false"] * CHAINED_LOGIC)
    assert both(compile_program(alternatives), zero_view()) is False
    assert str(CHAINED_LOGIC) in refused(alternatives + " || true")


def test_deep_trees_hidden_in_chains() -> None:
    """Sixty operators on every one of many levels would be thousands of levels of tree."""
    source = "1"
    for _ in range(60):
        source = f"({source}{' + 1' * 30})"
    assert "levels" in refused(f"{source} == 1")


def test_two_macros_nest_and_a_third_does_not() -> None:
    two = "event.argv.exists(a, event.argv.exists(b, {}))"
    assert both(compile_program(two.format("a == b")), event(argv=["x"])) is True
    assert "2 macros" in refused(two.format("event.argv.exists(c, a == c)"))


@pytest.mark.parametrize(
    ("source", "cost"),
    [
        ("event.argv.all(a, a == 'x')", lambda n: n),
        ("event.argv.all(a, a == 'x') && event.argv.all(a, a == 'x')", lambda n: 2 * n),
        ("event.argv.all(a, event.argv.all(b, a == b))", lambda n: n + n * n),
        ("event.argv.all(a, a in event.argv)", lambda n: n + n * n),
        ("event.argv.filter(a, true).all(a, a == 'x')", lambda n: 2 * n),
    ],
)
def test_the_number_of_iterations(source: str, cost: Any) -> None:
    program = compile_program(source)
    largest = max(n for n in range(ITERATIONS + 1) if cost(n) <= ITERATIONS)
    for count in {1, 10, largest - 1, largest}:
        assert both(program, event(argv=["x"] * count)) is True
    with within(2):
        assert f"more than {ITERATIONS}" in str(both(program, event(argv=["x"] * (largest + 1))))
        assert f"more than {ITERATIONS}" in str(both(program, event(argv=["x"] * 100_000)))


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        (
            "event.argv.exists(a, a in event.tool_args.l)",
            {"argv": ["a"] * 10, "tool_args": {"l": ["x"] * 6000}},
        ),
        (
            "event.tool_args.l.exists(a, event.cmd in event.argv)",
            {"argv": ["a"] * 6000, "tool_args": {"l": [1]}},
        ),
        (
            "event.argv.exists(a, event.tool_args.l.exists(x, x == a))",
            {"argv": ["a"], "tool_args": {"l": [1] * 5000}},
        ),
    ],
)
def test_an_inner_loop_over_another_list_counts_too(source: str, fields: dict[str, Any]) -> None:
    assert f"more than {ITERATIONS}" in str(both(compile_program(source), event(**fields)))


def test_a_shorter_way_still_decides_when_a_loop_is_too_long() -> None:
    program = compile_program("event.argv.all(a, a == 'x') || event.opaque")
    assert both(program, event(argv=["x"] * 100_000, opaque=True)) is True


@pytest.mark.parametrize(
    ("source", "small", "large"),
    [
        ("(event.raw + event.raw).size() > 0", {"raw": "x" * 100}, {"raw": "x" * 600_000}),
        ("(event.argv + event.argv).size() > 0", {"argv": ["a"] * 100}, {"argv": ["a"] * 600_000}),
        ("event.argv.map(a, a + a).size() > 0", {"argv": ["a"] * 100}, {"argv": ["a" * 10_000] * 100}),
    ],
)
def test_the_size_of_values(source: str, small: dict[str, Any], large: dict[str, Any]) -> None:
    program = compile_program(source)
    assert both(program, event(**small)) is True
    with within(2):
        assert both(program, event(**large)) == "concatenation makes the value too large"


def test_all_concatenations_share_one_bound() -> None:
    program = compile_program("event.argv.map(a, a + event.raw).size() == 3")
    assert both(program, event(raw="x" * 300_000, argv=["a"] * 3)) is True
    program = compile_program("event.argv.map(a, a + event.raw).size() == 4")
    assert (
        both(program, event(raw="x" * 300_000, argv=["a"] * 4)) == "concatenation makes the value too large"
    )


@pytest.mark.parametrize(
    "bomb",
    [
        '"' + r"\\" * 4000,
        '"' + r"\"" * 4000,
        "'''" + "''" * 4000,
        'r"' + "\\" * 8000,
        '"""' + '"\\"' * 2600,
        'b"' + r"\x41" * 2000,
        "(" * 8000,
        "[" * 8000,
        "{" * 8000,
        "!" * 8000,
        "-" * 8000,
        "a." * 4000,
        "1" * 8000,
        "1." * 4000,
        "1e" * 4000,
        "0x" + "f" * 8000,
        "true ? " * 1100,
        "event.argv.exists(a, " * 380,
        "/" * 8000,
        "// " * 2700,
        "a" * 8000,
        "_" * 8000 + "(",
        "event." + "a" * 8000,
        "\n" * 8000 + "=",
    ],
)
def test_bombs_end_at_once(bomb: str) -> None:
    with within(0.5), pytest.raises(CelCompileError):
        compile_program(bomb)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "a*a*a*a*a*b", "(.*)*x"])
def test_regular_expressions_cannot_hang(pattern: str) -> None:
    text = "a" * 200_000 + "!"
    pooled = compile_program(f'event.raw.matches("{pattern}")')
    computed = compile_program("event.raw.matches(event.tool_args.p)")
    with within(3):
        assert both(pooled, event(raw=text)) is False
        assert both(computed, event(raw=text, tool_args={"p": pattern})) is False


@pytest.mark.parametrize("pattern", ["(", "a{1001}", "((a{100}){100}){100}", "a" * 2000, "\ud800"])
def test_a_bad_computed_pattern_is_an_evaluation_error(pattern: str) -> None:
    program = compile_program("event.raw.matches(event.tool_args.p)")
    assert "regular expression" in str(both(program, event(raw="x", tool_args={"p": pattern})))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ev.cmdargs[](){}\"'\\rb0x1u=!<>&|?:,+-*/% \n\ud800é", max_size=60))
def test_any_text_compiles_or_is_refused_with_a_position(source: str) -> None:
    try:
        program = compile_program(source)
    except CelError as error:
        assert 1 <= error.line <= source.count("\n") + 1
        assert 1 <= error.column <= len(source) + 1
    else:
        both(program, zero_view())

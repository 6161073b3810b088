"""cel-python as second opinion and as judge. Each documented deviation is shown by one expression."""

import sys
import time
from typing import Any

import pytest

from vaultroom.policy.cel import CelCompileError, CelEvalError, Program, compile_program, zero_view
from vaultroom.policy.cel import second_opinion as module
from vaultroom.policy.cel.deviations import DEVIATIONS, deviations
from vaultroom.policy.cel.second_opinion import Disagreement, SecondOpinion, compare, outcome

pytest.importorskip("celpy")

SHOWN = {
    "negative-index": "event.argv[event.tool_args.minus] == 'push'",
    "double-index": "event.argv[dyn(1.0)] == 'push'",
    "string-index": "event.tool_args.s[0] == 't'",
    "has-without-map": "!has(event.tool_args.nope.x)",
    "mixed-comparison": "event.tool_args.n == 'x'",
    "mixed-membership": "event.tool_args.n in event.argv",
    "in-text": "'t' in event.tool_args.s",
    "contains-not-text": "event.tool_args.l.contains(event.cmd)",
    "macro-over-text": "event.tool_args.s.exists(c, c == 't')",
    "size-of-null": "size(event.tool_args.nul) == 0",
    "condition-not-bool": "[dyn(1)].filter(x, x) == [1]",
    "map-with-condition": "[1, 2].map(a, a > 1, a) == [2]",
    "failure-in-macro": "event.argv.exists_one(a, event.tool_args.nope == a) || true",
    "last-comma": "[1,] == [1]",
    "large-integer": "event.tool_args.large > 1",
    "bool-of": "bool(event.tool_args.n)",
    "number-of": "int('0x10') == 16",
    "text-of": "string(true) == 'true'",
    "joined-text": "(event.cmd + event.tool).contains('git')",
}
EVENT = {
    **zero_view(),
    "cmd": "git",
    "argv": ["git", "push"],
    "tool_args": {"n": 3, "minus": -1, "s": "text", "nul": None, "l": ["a"]},
}


def event_for(name: str) -> dict[str, Any]:
    extra = {"large": 2**63} if name == "large-integer" else {}
    return {**EVENT, "tool_args": {**EVENT["tool_args"], **extra}}


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=[deviation.name for deviation in DEVIATIONS])
def test_a_documented_deviation_exists_and_is_recognised(deviation: Any) -> None:
    source, view = SHOWN[deviation.name], event_for(deviation.name)
    program = compile_program(source)
    assert outcome(program, view) != outcome(SecondOpinion(source), view), (
        "cel-python was corrected: remove the entry"
    )
    assert deviation.name in deviations(program, view)
    assert compare(program, view) is None


@pytest.mark.parametrize(
    "source",
    [
        'event.cmd == "git" && event.argv.exists(a, a == "push")',
        "event.tool_args.nope == 1 || true",
        "event.tool_args.nope == 1",
        'event.argv.filter(a, a.startsWith("p")).size() == 1',
        "has(event.cmd) && !has(event.host) && has(event.argv) && !has(event.port) && !has(event.opaque)",
        "!has(event.derived) && has(event.tool_args) && has(event.tool_args.n) && !has(event.tool_args.z)",
        r'event.raw.matches("^\\d*$") && r"\d" == "\\d"',
        "event.tool_args.n > 2 ? event.cmd == 'git' : false",
    ],
)
def test_the_engines_agree_without_any_excuse(source: str) -> None:
    program = compile_program(source)
    assert outcome(program, dict(EVENT)) == outcome(SecondOpinion(source), dict(EVENT))
    assert not deviations(program, dict(EVENT))


def test_an_undocumented_disagreement_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Liar(SecondOpinion):
        def evaluate(self, view: Any) -> bool:
            return not super().evaluate(view)

    monkeypatch.setattr(module, "SecondOpinion", Liar)
    program = compile_program("event.cmd == 'git'")
    assert compare(program, dict(EVENT)) == Disagreement("event.cmd == 'git'", True, False)
    assert str(compare(program, dict(EVENT))) == "the engines disagree: true here, false in cel-python"


def test_a_deviation_elsewhere_in_the_expression_excuses_nothing_for_an_event_that_misses_it() -> None:
    program = compile_program("event.argv[event.tool_args.i] == 'push'")
    assert "negative-index" not in deviations(program, {**EVENT, "tool_args": {"i": 1}})
    assert "negative-index" in deviations(program, {**EVENT, "tool_args": {"i": -1}})


def test_a_deviation_in_a_part_that_the_verdict_does_not_need_is_recognised() -> None:
    source = "event.tool_args.nope < event.argv.filter(a, event.tool_args.nope == a).size() || true"
    program = compile_program(source)
    assert outcome(program, dict(EVENT)) is True
    assert outcome(SecondOpinion(source), dict(EVENT)) == "error"
    assert "failure-in-macro" in deviations(program, dict(EVENT))


def test_as_judge_it_raises_only_evaluation_errors_with_a_position() -> None:
    judge = SecondOpinion("true &&\n event.tool_args.nope == 1")
    with pytest.raises(CelEvalError) as caught:
        judge.evaluate(dict(EVENT))
    assert (caught.value.line, caught.value.column) == (1, 6)
    with pytest.raises(CelEvalError, match="expected the expression to be a bool, found int"):
        SecondOpinion("event.tool_args.n").evaluate(dict(EVENT))
    with pytest.raises(CelEvalError):
        SecondOpinion("event.cmd == 'git'").evaluate({})


def test_as_judge_it_takes_the_place_of_a_program() -> None:
    judge = SecondOpinion("event.cmd == 'git'")
    assert judge.evaluate(dict(EVENT)) is True
    assert isinstance(judge.program, Program)
    assert judge.program.necessary("cmd") == {"git"}


def test_a_text_that_our_compiler_refuses_never_reaches_its_exponential_lexer() -> None:
    start = time.perf_counter()
    with pytest.raises(CelCompileError):
        SecondOpinion('event.cmd == "' + r"\n" * 40)
    for source in ('event.cmd == "' + r"\n" * 2000 + '"', "event.cmd == '" + r"\\" * 2000 + "'"):
        assert SecondOpinion(source).evaluate(dict(EVENT)) is False
    assert time.perf_counter() - start < 5


def test_deep_expressions_are_an_error_and_not_a_crash() -> None:
    assert outcome(SecondOpinion("(" * 60 + "true" + ")" * 60), dict(EVENT)) in (True, "error")


def test_the_recursion_limit_of_the_process_stays_as_it_was() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1234)
    try:
        module._environment.cache_clear()
        SecondOpinion("event.opaque").evaluate(dict(EVENT))
        assert sys.getrecursionlimit() == 1234
    finally:
        sys.setrecursionlimit(before)


def test_tuples_of_a_frozen_event_are_lists() -> None:
    view = {**EVENT, "argv": ("git", "push")}
    assert SecondOpinion("event.argv == ['git', 'push'] && event.argv[1] == 'push'").evaluate(view)

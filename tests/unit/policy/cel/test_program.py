"""The public face: pooling, threads, and what a program says about itself."""

import subprocess
import sys
import threading
from typing import Any

import pytest

from vaultroom.policy.cel import (
    FIELDS,
    CelCompileError,
    CelEvalError,
    Program,
    compile_all,
    compile_program,
    zero_view,
)
from vaultroom.policy.re2 import PatternSet


def event(**fields: Any) -> dict[str, Any]:
    return {**zero_view(), **fields}


# -- compiling -----------------------------------------------------------------------------------------------


def test_the_failing_source_of_a_policy_is_named() -> None:
    with pytest.raises(CelCompileError) as caught:
        compile_all(["true", 'event.cmd == "x"', "event.cmdd == 'x'", "also wrong"])
    assert caught.value.index == 2
    assert caught.value.column == 7


def test_a_policy_without_expressions() -> None:
    assert compile_all([]) == []


def test_zero_views_are_fresh_and_complete() -> None:
    view = zero_view()
    view["argv"].append("x")
    assert zero_view()["argv"] == []
    assert view.keys() == FIELDS.keys()
    assert all(not value for value in zero_view().values())


def test_every_field_can_be_asked_for() -> None:
    for name in FIELDS:
        program = compile_program(f"has(event.{name})")
        assert program.evaluate(zero_view()) is False
        assert program.fields == {name}


# -- the pool of regular expressions -------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that sets of patterns are matched with from now on."""
    texts: list[str] = []
    match = PatternSet.matches

    def matches(self: PatternSet, text: str) -> list[int]:
        texts.append(text)
        return match(self, text)

    monkeypatch.setattr(PatternSet, "matches", matches)
    return texts


def test_a_policy_matches_each_field_once_per_event(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = counted(monkeypatch)
    programs = compile_all([f'event.raw.matches("x{i}") || event.path.matches("^/{i}")' for i in range(50)])
    view = event(raw="x7", path="/3")
    assert [i for i, program in enumerate(programs) if program.evaluate(view)] == [3, 7, *range(30, 0)]
    assert sorted(texts) == ["/3", "x7"]


def test_a_field_that_nobody_asks_for_is_not_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = counted(monkeypatch)
    assert not compile_program('event.opaque && event.raw.matches("x")').evaluate(event(raw="x"))
    assert texts == []


def test_a_copied_or_changed_view_is_matched_anew() -> None:
    program = compile_program('event.raw.matches("^rm")')
    view = event(raw="ls")
    assert program.evaluate(view) is False
    assert program.evaluate({**view, "raw": "rm x"}) is True
    view["raw"] = "rm y"
    assert program.evaluate(view) is True


def test_two_policies_may_judge_one_view() -> None:
    one, other = compile_program('event.raw.matches("a")'), compile_program('event.raw.matches("b")')
    view = event(raw="a")
    assert (one.evaluate(view), other.evaluate(view), one.evaluate(view)) == (True, False, True)


def test_when_a_set_fails_the_exact_evaluator_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: PatternSet, text: str) -> list[int]:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(PatternSet, "matches", failing)
    yes, no = compile_all(['event.raw.matches("rm")', 'event.raw.matches("ls")'])
    assert yes.evaluate(event(raw="rm x")) is True
    assert no.evaluate(event(raw="rm x")) is False


def test_an_undecodable_text_is_judged() -> None:
    view = event(raw=b"rm \xff".decode(errors="surrogateescape"))
    assert compile_program('event.raw.matches("^rm .$") && event.raw.size() == 4').evaluate(view)
    assert not compile_program('event.raw.matches("^rm [ -~]*$")').evaluate(view)


# -- threads -------------------------------------------------------------------------------------------------


def test_threads_share_programs() -> None:
    sources = [
        'event.cmd == "c3" || event.raw.matches("r5$")',
        'event.argv.exists(a, a == event.cmd) && event.raw.matches("r[0-4]$")',
        'event.tool_args.n == 1 || event.cmd == "c2"',
        "event.argv.map(a, a + event.cmd).exists(b, b.matches('c[0-5]$'))",
    ]
    programs = compile_all(sources)
    views = [
        event(cmd=f"c{i}", raw=f"r{i}", argv=["x", f"c{i}"], tool_args={"n": i} if i % 2 else {})
        for i in range(8)
    ]

    def judged(program: Program, view: dict[str, Any]) -> bool | str:
        try:
            return program.evaluate(view)
        except CelEvalError as error:
            return str(error)

    expected = [[judged(program, dict(view)) for program in programs] for view in views]
    wrong: list[object] = []
    start = threading.Barrier(8)

    def work(offset: int) -> None:
        start.wait()
        for turn in range(1500):
            number = (turn + offset) % len(views)
            view = dict(views[number])
            if [judged(program, view) for program in programs] != expected[number]:
                wrong.append(number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.00001)
    try:
        threads = [threading.Thread(target=work, args=(offset,)) for offset in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


# -- what a program says about itself ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ('event.cmd == "git"', {"git"}),
        ('"git" == event.cmd', {"git"}),
        ('event.cmd in ["rm", "dd"]', {"rm", "dd"}),
        ("event.cmd in []", set()),
        ('event.cmd == "git" && event.tool_args.x == 1', {"git"}),
        ('event.tool_args.x == 1 && event.cmd == "git"', {"git"}),
        ('event.cmd == "git" && event.cmd in ["git", "rm"]', {"git"}),
        ('event.cmd == "git" || event.cmd == "rm"', {"git", "rm"}),
        ('event.cmd == "git" || event.opaque', None),
        ('event.cmd != "git"', None),
        ('!(event.cmd != "git")', {"git"}),
        ('!(event.cmd != "git" || event.opaque)', {"git"}),
        ('!(event.cmd == "git")', None),
        ("!has(event.cmd)", {""}),
        ("has(event.cmd)", None),
        ("false", set()),
        ("true", None),
        ('true && event.cmd == "a"', {"a"}),
        ('event.opaque ? event.cmd == "a" : event.cmd == "b"', None),
        ("event.cmd == event.tool", None),
        ('event.cmd in ["a", event.tool]', None),
        ('event.tool == "x"', None),
    ],
)
def test_necessary_values(source: str, values: set[str] | None) -> None:
    assert compile_program(source).necessary("cmd") == values


def test_only_string_fields_have_necessary_values() -> None:
    program = compile_program('event.port == 1 && event.server == "s" && event.subcommand == "push"')
    assert program.necessary("server") == {"s"}
    assert program.necessary("subcommand") == {"push"}
    assert program.necessary("port") is None
    assert program.necessary("nonsense") is None


@pytest.mark.parametrize(
    "source",
    [
        'event.cmd == "git"',
        'event.argv.exists(a, a.startsWith("-"))',
        'event.raw.matches("x") && event.port > 80 && size(event.argv) < 3',
        "has(event.tool_args.x)",
        'has(event.tool_args.x) && event.tool_args.x == "y"',
        'event.tool_args.x == "y" && has(event.tool_args.x)',
        '!has(event.tool_args.x) || event.tool_args.x == "y"',
        'has(event.tool_args.x) ? event.tool_args.x == "y" : false',
        '"x" in event.tool_args && event.tool_args["x"] == 1',
        'event.cmd == "git" && event.argv.size() > 1 && event.argv[1] == "push"',
        'size(event.argv) >= 2 && event.argv[1] == "push"',
        '2 < event.argv.size() && event.argv[2] == "push"',
        'event.argv.size() == 2 && event.argv[1] == "push"',
        'event.argv.size() < 2 || event.argv[1] == "push"',
        'event.argv.size() != 0 && event.argv[0] == "x"',
        'has(event.argv) && event.argv[0] == "x"',
        'event.argv.size() > 3 && (event.opaque || event.argv[3] == "x")',
        'event.argv.filter(a, a != "-v").exists(a, a == "x")',
        '{"a": 1}.a == 1',
        "type(event.port) == int",
    ],
)
def test_an_expression_that_cannot_fail(source: str) -> None:
    assert not compile_program(source).can_fail


@pytest.mark.parametrize(
    "source",
    [
        'event.tool_args.x == "y"',
        'has(event.tool_args.z) && event.tool_args.x == "y"',
        '!has(event.tool_args.x) && event.tool_args.x == "y"',
        'has(event.tool_args.x) || event.tool_args.x == "y"',
        "has(event.tool_args.x.y)",
        'has(event.tool_args.x) && event.tool_args.x.startsWith("y")',
        "has(event.tool_args.x) && event.tool_args.x",
        "has(event.tool_args.x) && event.tool_args.x > 1",
        'event.argv[1] == "push"',
        'event.argv.size() > 1 && event.argv[2] == "push"',
        'event.argv.size() > 0 || event.argv[0] == "push"',
        'event.argv.size() <= 1 && event.argv[1] == "push"',
        'event.argv.exists(a, event.argv[0] == "x")',
        "event.port / event.pid == 1",
        "event.port + event.pid == 1",
        "int(event.cmd) == 1",
        "event.raw.matches(event.cmd)",
        "event.tool_args.l.exists(x, x == 1)",
        "event.tool_args.x in event.argv && has(event.tool_args)",
        "has(event.tool_args.l) && event.tool_args.l.size() > 0 && event.tool_args.l[0] == 1",
        "event.tool_args.size() > 0 && event.tool_args[0] == 1",
        "event.argv.exists(a, a.size() > 3 && [event.argv].exists(a, a[0] == 'x'))",
        "[event.tool_args].exists(m, has(m.x)) && [event.tool_args].exists(m, m.x == 1)",
    ],
)
def test_an_expression_that_can_fail(source: str) -> None:
    assert compile_program(source).can_fail


def test_the_fields_of_an_expression() -> None:
    program = compile_program("has(event.tool_args.host) && event.argv.exists(cmd, cmd == event.tool)")
    assert program.fields == {"tool_args", "argv", "tool"}


# -- what it needs -------------------------------------------------------------------------------------------


def test_the_compiler_is_light_and_does_not_act() -> None:
    script = (
        "import sys, vaultroom.policy.cel\n"
        "print(*sorted({'celpy', 'lark', 'asyncio', 'socket', 'sqlite3', 'subprocess'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""

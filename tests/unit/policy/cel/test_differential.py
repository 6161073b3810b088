"""Random expressions on random events: the two evaluators, and Google's C++ implementation, must always
agree. cel-python may differ from them only where `deviations.DEVIATIONS` says so.

The generator knows both spellings of `has(event.x)`: on our typed event it means "not the zero value", on
Google's map it would mean "there is a key". Static type errors are a difference of design and are not
compared.

VAULTROOM_FUZZ_SEED and VAULTROOM_FUZZ_COUNT (expressions, default 2000) change the run.
"""

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
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
from vaultroom.policy.cel.second_opinion import SecondOpinion, compare_with

SEED = int(os.environ.get("VAULTROOM_FUZZ_SEED", "1"))
COUNT = int(os.environ.get("VAULTROOM_FUZZ_COUNT", "2000"))
EVENTS_PER_EXPRESSION = 3
POLICY_SIZE = 20
TEXTS = ["rm", "git", "-rf", "", "a/b", "x", "été", "push", "*.py"]
PATTERNS = ["^r", "sh$", "[a-z]+/", "a|b", "(?i)GIT", "é", "^$", r"\\bpush\\b"]
ERROR = "error"


@dataclass
class Generator:
    """Makes expressions and events. Expressions come as a pair: ours, and the one for an untyped event."""

    random: random.Random

    def event(self) -> dict[str, Any]:
        pick = self.random.choice
        arguments = {
            "n": pick([0, 1, 3, -2, 9223372036854775807]),
            "s": pick(TEXTS),
            "l": pick([[], ["a", {"x": 1}], [1, 2, "rm"], ["rm", {"x": "rm"}, None], [["rm"], [1.0]]]),
            "d": pick([{"k": ["rm", 1]}, {"k": {"0": 1}}, {}, {"k": "str"}]),
            "t": pick([True, False, "true", "1.5", "12"]),
            "nul": None,
            "f": pick([1.5, 3.0, 0.0, -0.5]),
        }
        return {
            **zero_view(),
            "cmd": pick(TEXTS),
            "argv": [pick(TEXTS) for _ in range(self.random.randint(0, 3))],
            "raw": pick(TEXTS) + " | sh",
            "path": pick(["", "/home/été"]),
            "host": "h.io",
            "port": pick([0, 443]),
            "tool": pick(TEXTS),
            "action": "exec",
            "opaque": pick([True, False]),
            "tool_args": {key: value for key, value in arguments.items() if self.random.random() > 0.12},
        }

    def literal(self) -> str:
        pick = self.random.choice
        kind = self.random.randrange(7)
        if kind < 2:
            return f'"{pick(TEXTS)}"'
        if kind == 2:
            return pick(["0", "1", "2", "3", "443", "-1", "0x10", "2u", "0u"])
        if kind == 3:
            return pick(["true", "false", "null", "string", "int", "list", "null_type"])
        if kind == 4:
            return pick(["1.5", "2.0", "3.0", "-0.5", "1e3"])
        if kind == 5:
            return pick(["{'k': 1, 'x': 'rm'}", "{1: 'a', 2: 'b'}", "b'ab'", "{}", "r'a/b'"])
        return "[" + ", ".join(f'"{pick(TEXTS)}"' for _ in range(self.random.randint(0, 3))) + "]"

    def value(self, depth: int, names: list[str]) -> str:
        pick, roll = self.random.choice, self.random.random()
        if names and roll < 0.3:
            return pick(names) + pick(["", "", "", ".x", ".k[0]", "[0]"])
        if roll < 0.48:
            return "event." + pick(["cmd", "raw", "path", "host", "tool"])
        if roll < 0.56:
            return "event.argv" + pick(["", "[0]", "[1]", "[9]", ".size()", "[event.tool_args.n]"])
        if roll < 0.78:
            parts = [
                ".n",
                ".s",
                ".l",
                ".l[0]",
                ".l[1].x",
                ".d.k",
                ".d.k[0]",
                ".nope",
                ".t",
                ".nul",
                ".f",
                ".d",
            ]
            return "event.tool_args" + pick([*parts, '["s"]', "[event.cmd]", ""])
        if roll < 0.82:
            return pick(["event.port", "event.opaque"])
        if depth > 0 and roll < 0.85:
            return f"({self.value(depth - 1, names)} {pick('+-*/%')} {self.value(depth - 1, names)})"
        if depth > 0 and roll < 0.88:
            then, otherwise = self.value(depth - 1, names), self.value(depth - 1, names)
            return f"({self.condition(depth - 1, names)} ? {then} : {otherwise})"
        if depth > 0 and roll < 0.9:
            function = pick(["size", "string", "int", "double", "bool", "type", "dyn"])
            return f"{function}({self.value(depth - 1, names)})"
        if depth > 0 and len(names) < 2 and roll < 0.93:
            name, inner = "ab"[len(names)], [*names, "ab"[len(names)]]
            body = pick(
                [
                    f"filter({name}, {self.condition(depth - 1, inner)})",
                    f"map({name}, {self.value(depth - 1, inner)})",
                ]
            )
            return f"{self.source()}.{body}" + pick(["", ".size()", "[0]"])
        if depth > 0 and roll < 0.94:
            return f"-{self.value(0, names)}"
        return self.literal()

    def source(self) -> str:
        return self.random.choice(
            [
                "event.argv",
                "event.tool_args.l",
                "event.tool_args.d",
                "event.tool_args.nope",
                "event.tool_args.d.k",
                "['rm', 'x']",
            ]
        )

    def condition(self, depth: int, names: list[str]) -> str:
        pick, roll = self.random.choice, self.random.random()
        if depth <= 0 or roll < 0.25:
            operator = pick(["==", "!=", "==", "<", "<=", ">=", ">"])
            return f"{self.value(depth, names)} {operator} {self.value(depth, names)}"
        if roll < 0.33:
            return f"{self.value(depth, names)} in {self.value(depth, names)}"
        if roll < 0.41:
            method = pick(["startsWith", "endsWith", "contains"])
            return f"{self.value(depth, names)}.{method}({self.value(depth, names)})"
        if roll < 0.47:
            return f'{self.value(depth, names)}.matches("{pick(PATTERNS)}")'
        if roll < 0.6:
            return f"({self.condition(depth - 1, names)} && {self.condition(depth - 1, names)})"
        if roll < 0.73:
            return f"({self.condition(depth - 1, names)} || {self.condition(depth - 1, names)})"
        if roll < 0.79:
            return f"!({self.condition(depth - 1, names)})"
        if roll < 0.86:
            paths = ["tool_args.n", "tool_args.nope", "tool_args.d.k", "tool_args.nope.x", "tool_args.s.x"]
            return f"has(event.{pick([*paths, 'cmd', 'argv', 'port', 'path', 'opaque', 'tool_args'])})"
        if roll < 0.95 and len(names) < 2:
            name = "ab"[len(names)]
            macro = pick(["exists", "all", "exists_one"])
            return f"{self.source()}.{macro}({name}, {self.condition(depth - 1, [*names, name])})"
        return self.value(depth, names)

    def bounded_condition(self, depth: int) -> str:
        """A condition that may need certain values of `cmd`."""
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.3:
            one, other = pick(TEXTS), pick(TEXTS)
            return pick(
                [
                    f'event.cmd == "{one}"',
                    f'"{one}" != event.cmd',
                    f'event.cmd in ["{one}", "{other}"]',
                    "has(event.cmd)",
                    self.condition(1, []),
                ]
            )
        one, other = self.bounded_condition(depth - 1), self.bounded_condition(depth - 1)
        return pick([f"({one} && {other})", f"({one} && {other})", f"({one} || {other})", f"!({one})"])


def for_untyped_event(source: str) -> str:
    """The same condition on a map in which every declared field is a key."""
    nonzero = {"cmd": '(event.cmd != "")', "path": '(event.path != "")', "argv": "(size(event.argv) > 0)"}
    nonzero |= {
        "port": "(event.port != 0)",
        "opaque": "event.opaque",
        "tool_args": "(size(event.tool_args) > 0)",
    }
    for name, replacement in nonzero.items():
        source = source.replace(f"has(event.{name})", replacement)
    return source


def outcome(evaluate: Any, view: dict[str, Any]) -> bool | str:
    try:
        result = evaluate(view)
    except CelEvalError:
        return ERROR
    assert result is True or result is False
    return result


def google_outcome(program: Any, view: dict[str, Any]) -> bool | str:
    event = {name: view[name] for name in FIELDS}
    try:
        result = program.eval(data={"event": event})
    except RuntimeError:
        return ERROR
    if "ERROR" in str(result.type()).upper():
        return ERROR
    value = result.plain_value()
    return value if isinstance(value, bool) else ERROR


def programs(condition: Callable[[], str], count: int) -> list[tuple[str, Program]]:
    """`count` random expressions that compile, in policies of twenty, so that their patterns share pools."""
    sources: list[str] = []
    while len(sources) < count:
        source = condition()
        try:
            compile_program(source)
        except CelCompileError:
            continue
        sources.append(source)
    policies = [sources[start : start + POLICY_SIZE] for start in range(0, count, POLICY_SIZE)]
    return [pair for policy in policies for pair in zip(policy, compile_all(policy), strict=True)]


@pytest.mark.fuzz
def test_the_fast_path_equals_the_exact_evaluator() -> None:
    generator = Generator(random.Random(SEED))
    for source, program in programs(lambda: generator.condition(3, []), COUNT):
        for _ in range(EVENTS_PER_EXPRESSION):
            view = generator.event()
            assert outcome(program.evaluate, view) == outcome(program.exact.evaluate, view), source


@pytest.mark.fuzz
def test_googles_implementation_agrees() -> None:
    cel = pytest.importorskip("cel_expr_python.cel")
    environment = cel.NewEnv(variables={"event": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)})
    generator = Generator(random.Random(SEED + 1))
    tally: Counter[str] = Counter()
    differences = []
    for source, program in programs(lambda: generator.condition(3, []), COUNT):
        try:
            theirs = environment.compile(for_untyped_event(source))
        except RuntimeError:
            tally["static error of theirs"] += 1
            continue
        for _ in range(EVENTS_PER_EXPRESSION):
            view = generator.event()
            ours, google = outcome(program.evaluate, view), google_outcome(theirs, view)
            tally[f"both {ours}" if ours == google else "different"] += 1
            if ours != google:
                differences.append((source, ours, google, view["argv"], view["tool_args"]))
    print(dict(tally))
    assert not differences, differences[:5]
    assert tally["both True"] and tally["both False"] and tally["both error"]


@pytest.mark.fuzz
def test_cel_python_differs_only_where_documented() -> None:
    pytest.importorskip("celpy")
    generator = Generator(random.Random(SEED + 2))
    for source, program in programs(lambda: generator.condition(3, []), max(1, COUNT // 10)):
        second = SecondOpinion(source)
        for _ in range(EVENTS_PER_EXPRESSION):
            view = generator.event()
            assert compare_with(second, program, view) is None, (source, view)


@pytest.mark.fuzz
def test_what_is_said_about_an_expression_is_true() -> None:
    """Outside of its necessary values an expression is exactly false, and one that cannot fail does not."""
    generator = Generator(random.Random(SEED + 3))
    checked: Counter[str] = Counter()
    for source, program in programs(lambda: generator.bounded_condition(3), COUNT):
        needed = {name: program.necessary(name) for name in ("cmd", "tool")}
        for _ in range(EVENTS_PER_EXPRESSION):
            view = generator.event()
            result = outcome(program.evaluate, view)
            if not program.can_fail:
                assert result != ERROR, (source, view)
                checked["cannot fail"] += 1
            for name, values in needed.items():
                if values is not None and view[name] not in values:
                    assert result is False, (source, name, view)
                    checked["necessary"] += 1
    assert checked["cannot fail"] and checked["necessary"]

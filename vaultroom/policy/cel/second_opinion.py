"""cel-python as an independent second opinion, and as judge for those who ask for it (`engine: cel-python`).

Used by `policy check`, the editor's lint worker and tests; never on the hot path. cel-python is imported on
first use, which takes about half a second. Only its InterpretedRunner is used: the other one returns other
threads' verdicts.

Its parser never sees a text that ours refused: it takes exponential time on an unterminated string. It has no
typed messages either, so `has(event.NAME)` is handed over as the comparison with the zero value that it means
here; the rest of the text reaches it unchanged.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from vaultroom.policy.cel.ast import HasField, Node, walk
from vaultroom.policy.cel.deviations import deviations
from vaultroom.policy.cel.errors import CelEvalError, line_and_column
from vaultroom.policy.cel.fields import FIELDS
from vaultroom.policy.cel.program import Program, compile_program
from vaultroom.policy.cel.types import Type

Outcome = bool | Literal["error"]
"""What came of an evaluation."""

_LONGEST_REASON: Final = 120
_IS_SET: Final = {
    Type.STRING: '(event.{} != "")',
    Type.INT: "(event.{} != 0)",
    Type.BOOL: "event.{}",
    Type.STRINGS: "(size(event.{}) > 0)",
    Type.MAP: "(size(event.{}) > 0)",
}
"""`has(event.NAME)` for an engine without typed messages."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two engines judged one event differently, and no documented deviation of cel-python explains it."""

    source: str
    ours: Outcome
    theirs: Outcome

    def __str__(self) -> str:
        return f"the engines disagree: {_shown(self.ours)} here, {_shown(self.theirs)} in cel-python"


class SecondOpinion:
    """One expression, judged by cel-python. Stands in for a `Program` where the policy asks for that."""

    def __init__(self, source: str) -> None:
        """Raises CelCompileError where our own compiler does; cel-python checks hardly anything."""
        self.source: Final = source
        self._program: Final = compile_program(source)
        self._position: Final = line_and_column(source, self._program.ast.at)
        self._theirs: Any = None
        self._refusal = ""
        try:
            environment = _environment()
            self._theirs = environment.program(
                environment.compile(_for_untyped_event(source, self._program.ast))
            )
        except Exception as problem:  # cel-python raises more than its own errors; not understood is a deny
            self._refusal = f"cel-python cannot compile this ({_reason(problem)})"

    @property
    def program(self) -> Program:
        """Our own compilation of the same expression: its fields and necessary values hold for both."""
        return self._program

    def evaluate(self, view: Mapping[str, Any]) -> bool:
        """Whether the expression holds for an event, by cel-python.

        Raises only CelEvalError, at the position of the whole, since cel-python's own are unreliable.
        """
        if self._refusal:
            raise CelEvalError(self._refusal, *self._position)
        try:
            result = self._theirs.evaluate({"event": _celpy_event(view, self._program.fields)})
        except Exception as problem:  # ValueError, RecursionError and others escape from it
            raise CelEvalError(f"cel-python: {_reason(problem)}", *self._position) from None
        if type(result).__name__ not in ("BoolType", "bool"):
            found = type(result).__name__.removesuffix("Type").lower()
            raise CelEvalError(
                f"cel-python: expected the expression to be a bool, found {found}", *self._position
            )
        return bool(result)


def compare(program: Program, view: dict[str, Any]) -> Disagreement | None:
    """What the engines disagree about on one event, unless `deviations.DEVIATIONS` documents it.

    For several events, make one `SecondOpinion` and call `compare_with`.
    """
    return compare_with(SecondOpinion(program.source), program, view)


def compare_with(second: SecondOpinion, program: Program, view: dict[str, Any]) -> Disagreement | None:
    """`compare`, with the second opinion already made."""
    ours, theirs = outcome(program, view), outcome(second, view)
    if ours == theirs or deviations(program, view):
        return None
    return Disagreement(program.source, ours, theirs)


def outcome(engine: Program | SecondOpinion, view: dict[str, Any]) -> Outcome:
    """What the engine makes of the event."""
    try:
        return engine.evaluate(view)
    except CelEvalError:
        return "error"


def _shown(result: Outcome) -> str:
    return "an error" if result == "error" else str(result).lower()


def _reason(problem: Exception) -> str:
    text = str(problem.args[0]) if problem.args else ""
    first_line = text.partition("\n")[0][:_LONGEST_REASON]
    return f"{type(problem).__name__}: {first_line}" if first_line else type(problem).__name__


@cache
def _environment() -> Any:
    """The one environment of the process. Making it raises everybody's recursion limit: that is undone."""
    limit = sys.getrecursionlimit()
    try:
        import celpy

        return celpy.Environment(runner_class=celpy.InterpretedRunner)
    finally:
        sys.setrecursionlimit(limit)


def _celpy_event(view: Mapping[str, Any], fields: Iterable[str]) -> Any:
    from celpy.adapter import json_to_cel

    return json_to_cel({name: view[name] for name in fields if name in view})


def _for_untyped_event(source: str, tree: Node) -> str:
    """`source` with every `has(event.NAME)` spelled out, last one first so that offsets stay right."""
    found = {node.start: node for node in walk(tree) if isinstance(node, HasField)}
    for start in sorted(found, reverse=True):
        node = found[start]
        replacement = _IS_SET[FIELDS[node.name]].format(node.name)
        source = source[:start] + replacement + source[node.end :]
    return source

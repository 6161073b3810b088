"""Compiled expressions: what the policy engine holds, one per rule.

Called by `policy.loader` and `policy.evaluate`. Loading is `compile_all`, so that the regular expressions of
a policy share one pool; judging is `Program.evaluate`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vaultroom.policy.cel.ast import Field, HasField, Node, walk
from vaultroom.policy.cel.checker import check
from vaultroom.policy.cel.codegen import GeneratedCode, generate
from vaultroom.policy.cel.errors import CelCompileError, compile_error
from vaultroom.policy.cel.failing import can_fail
from vaultroom.policy.cel.interpreter import Interpreter
from vaultroom.policy.cel.necessary import necessary_values
from vaultroom.policy.cel.parser import parse
from vaultroom.policy.cel.pool import Hits, RegexPool


@dataclass(frozen=True, slots=True)
class Program:
    """One expression, ready to judge. Immutable; threads may share it, each evaluating its own views."""

    source: str
    ast: Node
    exact: Interpreter = field(repr=False, compare=False)
    _fast: Callable[[dict[str, Any]], bool] = field(repr=False, compare=False)

    def evaluate(self, view: dict[str, Any]) -> bool:
        """Whether the expression holds for an event (see `fields.zero_view`).

        Raises CelEvalError, and nothing else, when it has no value for this event: a deny.
        """
        try:
            return self._fast(view)
        except Exception:  # whatever it was: the exact evaluator decides, and knows the position
            return self.exact.evaluate(view)

    def necessary(self, name: str) -> frozenset[str] | None:
        """The values of the string field `name` outside of which the expression is exactly false, never an
        error.

        None means that there is no such bound. An engine may skip the expression for any other value.
        """
        return necessary_values(self.ast, name)

    @property
    def can_fail(self) -> bool:
        """Whether some event can make the evaluation fail: an unguarded part of `tool_args`, an index,
        arithmetic.
        """
        return can_fail(self.ast)

    @property
    def fields(self) -> frozenset[str]:
        """The event fields that the expression mentions."""
        return frozenset(node.name for node in walk(self.ast) if isinstance(node, Field | HasField))


def compile_program(source: str) -> Program:
    """Compile one expression. Raises CelCompileError."""
    return compile_all([source])[0]


def compile_all(sources: Sequence[str]) -> list[Program]:
    """Compile the expressions of a policy; literal regular expressions on event fields are pooled.

    Raises the CelCompileError of the first bad one, with its position in `sources` as `index`.
    """
    pool = RegexPool()
    compiled: list[tuple[str, Node, GeneratedCode]] = []
    for index, source in enumerate(sources):
        try:
            tree = parse(source)
            compiled.append((source, tree, generate(tree, check(source, tree), pool)))
        except CelCompileError as problem:
            problem.index = index
            raise
    hits = pool.build()
    return [_load(index, *parts, hits) for index, parts in enumerate(compiled)]


def _load(index: int, source: str, tree: Node, code: GeneratedCode, hits: dict[str, Hits]) -> Program:
    try:
        fast = code.load(hits)
    except (SyntaxError, RecursionError, MemoryError):
        problem = compile_error(source, tree.at, "the expression is too complex")
        problem.index = index
        raise problem from None
    return Program(source, tree, Interpreter(source, tree), fast)

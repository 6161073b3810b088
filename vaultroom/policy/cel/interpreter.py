"""The exact evaluator: walks the tree, absorbs errors as CEL does, and knows where an expression failed.

The generated code (`codegen.py`) is tried first; whenever it raises, whatever the reason, this one decides.
It is also the definition the generated code is tested against. An evaluation either returns a bool or raises
CelEvalError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from vaultroom.policy.cel import operators
from vaultroom.policy.cel.ast import (
    And,
    Arithmetic,
    Call,
    Compare,
    Conditional,
    Field,
    Has,
    HasField,
    In,
    Index,
    ListLiteral,
    Literal,
    Macro,
    MapLiteral,
    Negate,
    Node,
    Not,
    Or,
    Select,
    TypeName,
    Variable,
)
from vaultroom.policy.cel.conversions import CONVERSIONS
from vaultroom.policy.cel.errors import CelEvalError, line_and_column
from vaultroom.policy.cel.limits import ITERATIONS, VALUE_BYTES
from vaultroom.policy.cel.values import NoValue, TypeValue, described, equal, is_list, is_map_key

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "size": operators.size,
    "startsWith": operators.starts_with,
    "endsWith": operators.ends_with,
    "contains": operators.contains,
    "matches": operators.matches,
    **CONVERSIONS,
}
Scope = Mapping[str, Any]
"""The variables of the enclosing macros."""
Conditions = list[tuple[Node, Scope]]
"""Conditions, each with the scope to evaluate it in."""


class Failed(Exception):
    """An operation had no value; `node` is where."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Evaluates the tree of one source. Immutable; any number of threads may use it at once."""

    source: str
    tree: Node

    def evaluate(self, view: Mapping[str, Any]) -> bool:
        """The verdict of the expression on an event. Raises only CelEvalError."""
        try:
            value = Evaluation(view).value(self.tree, {})
        except Failed as failure:
            raise CelEvalError(str(failure), *line_and_column(self.source, failure.node.at)) from None
        except Exception as problem:  # a value no event should contain: doubt, hence an error
            raise CelEvalError(
                f"the event cannot be evaluated ({type(problem).__name__})",
                *line_and_column(self.source, self.tree.at),
            ) from problem
        if value is True or value is False:
            return bool(value)
        raise CelEvalError(
            f"expected the expression to be a bool, found {described(value)}",
            *line_and_column(self.source, self.tree.at),
        )


class Evaluation:
    """One evaluation, with what is left of its budgets."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        self._view = view
        self._iterations = ITERATIONS
        self._room = VALUE_BYTES

    def value(self, node: Node, scope: Scope) -> Any:
        rule = cast("Callable[[Evaluation, Any, Scope], Any]", _RULES[type(node)])
        try:
            return rule(self, node, scope)
        except NoValue as problem:
            raise Failed(node, str(problem)) from None

    def _condition(self, node: Node, scope: Scope) -> bool:
        found = self.value(node, scope)
        if found is True or found is False:
            return bool(found)
        raise Failed(node, f"expected a bool, found {described(found)}")

    def decide(self, conditions: Conditions, decisive: bool) -> bool:
        """`decisive` as soon as one condition is that, even if others fail; else the first failure; else the
        other.
        """
        failure: Failed | None = None
        for node, scope in conditions:
            try:
                if self._condition(node, scope) is decisive:
                    return decisive
            except Failed as problem:
                failure = failure or problem
        if failure is not None:
            raise failure
        return not decisive

    # -- values ----------------------------------------------------------------------------------------------

    def _literal(self, node: Literal, scope: Scope) -> Any:
        return node.value

    def _list(self, node: ListLiteral, scope: Scope) -> list[Any]:
        return [self.value(item, scope) for item in node.items]

    def _map(self, node: MapLiteral, scope: Scope) -> dict[Any, Any]:
        return make_map(*(self.value(part, scope) for part in node.children))

    def _field(self, node: Field, scope: Scope) -> Any:
        if node.name not in self._view:
            raise NoValue(f"the event carries no {node.name!r}")
        return self._view[node.name]

    def _has_field(self, node: HasField, scope: Scope) -> bool:
        if node.name not in self._view:
            raise NoValue(f"the event carries no {node.name!r}")
        return bool(self._view[node.name])

    def _variable(self, node: Variable, scope: Scope) -> Any:
        return scope[node.name]

    def _type_name(self, node: TypeName, scope: Scope) -> TypeValue:
        return TypeValue(node.name)

    # -- operators -------------------------------------------------------------------------------------------

    def _select(self, node: Select, scope: Scope) -> Any:
        return operators.select(self.value(node.operand, scope), node.key)

    def _has(self, node: Has, scope: Scope) -> bool:
        return operators.has(self.value(node.operand, scope), node.key)

    def _index(self, node: Index, scope: Scope) -> Any:
        return operators.index(self.value(node.operand, scope), self.value(node.index, scope))

    def _not(self, node: Not, scope: Scope) -> bool:
        return not self._condition(node.operand, scope)

    def _negate(self, node: Negate, scope: Scope) -> Any:
        return operators.negate(self.value(node.operand, scope))

    def _and(self, node: And, scope: Scope) -> bool:
        return self.decide([(term, scope) for term in node.terms], decisive=False)

    def _or(self, node: Or, scope: Scope) -> bool:
        return self.decide([(term, scope) for term in node.terms], decisive=True)

    def _conditional(self, node: Conditional, scope: Scope) -> Any:
        return self.value(node.then if self._condition(node.condition, scope) else node.otherwise, scope)

    def _compare(self, node: Compare, scope: Scope) -> bool:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if node.operator == "==":
            return equal(left, right)
        if node.operator == "!=":
            return not equal(left, right)
        return operators.compare(node.operator, left, right)

    def _in(self, node: In, scope: Scope) -> bool:
        item, container = self.value(node.item, scope), self.value(node.container, scope)
        if scope and is_list(container) and not isinstance(node.container, ListLiteral):
            self._spend(len(container))
        return operators.contained(item, container)

    def _arithmetic(self, node: Arithmetic, scope: Scope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if node.operator != "+":
            return operators.arithmetic(node.operator, left, right)
        result = operators.add(left, right, self._room)
        if is_list(result) or isinstance(result, str | bytes):
            self._room -= len(result)
        return result

    def _call(self, node: Call, scope: Scope) -> Any:
        return FUNCTIONS[node.function](*(self.value(argument, scope) for argument in node.arguments))

    # -- macros ----------------------------------------------------------------------------------------------

    def _spend(self, iterations: int) -> None:
        self._iterations -= iterations
        if self._iterations < 0:
            raise NoValue(f"more than {ITERATIONS} elements to look at")

    def _scopes(self, node: Macro, scope: Scope) -> list[Scope]:
        """One scope per element. All elements are paid for first, so that the bound does not depend on their
        order.
        """
        elements = iterable(self.value(node.source, scope))
        self._spend(len(elements))
        return [{**scope, node.variable: element} for element in elements]

    def _macro(self, node: Macro, scope: Scope) -> Any:
        scopes = self._scopes(node, scope)
        predicate = node.predicate
        if predicate is None:
            return [self.value(cast(Node, node.transform), inner) for inner in scopes]
        if node.name in ("exists", "all"):
            return self.decide([(predicate, inner) for inner in scopes], decisive=node.name == "exists")
        chosen = [inner for inner in scopes if self._condition(predicate, inner)]
        if node.name == "exists_one":
            return len(chosen) == 1
        if node.transform is None:
            return [inner[node.variable] for inner in chosen]
        return [self.value(node.transform, inner) for inner in chosen]


def iterable(value: Any) -> Any:
    """`value` when a macro can go over it: a list, or a map whose keys are visited."""
    if is_list(value) or type(value) is dict:
        return value
    raise NoValue(f"expected a list or a map, found {described(value)}")


def make_map(*parts: Any) -> dict[Any, Any]:
    """The map of alternating keys and values."""
    result: dict[Any, Any] = {}
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        if not is_map_key(key):
            raise NoValue(f"expected a string or an int as key of a map, found {described(key)}")
        if key in result:
            raise NoValue(f"the key {key!r} occurs twice in this map")
        result[key] = value
    return result


_RULES: Final[dict[type[Node], Any]] = {
    Literal: Evaluation._literal,
    ListLiteral: Evaluation._list,
    MapLiteral: Evaluation._map,
    Field: Evaluation._field,
    HasField: Evaluation._has_field,
    Variable: Evaluation._variable,
    TypeName: Evaluation._type_name,
    Select: Evaluation._select,
    Has: Evaluation._has,
    Index: Evaluation._index,
    Not: Evaluation._not,
    Negate: Evaluation._negate,
    And: Evaluation._and,
    Or: Evaluation._or,
    Conditional: Evaluation._conditional,
    Compare: Evaluation._compare,
    In: Evaluation._in,
    Arithmetic: Evaluation._arithmetic,
    Call: Evaluation._call,
    Macro: Evaluation._macro,
}

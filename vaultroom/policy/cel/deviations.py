"""Where cel-python is known to differ from CEL: a table, and what notices that an evaluation came across an
entry.

Found by comparing it with the specification and with Google's implementation; each entry has a test that
shows it. `second_opinion.compare` reports a disagreement only when none of these occurred while *this* event
was evaluated, so that an entry excuses nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from vaultroom.policy.cel.ast import (
    Arithmetic,
    Call,
    Compare,
    Conditional,
    Has,
    In,
    Index,
    Logic,
    Macro,
    Node,
)
from vaultroom.policy.cel.interpreter import Conditions, Evaluation, Failed, Scope
from vaultroom.policy.cel.program import Program
from vaultroom.policy.cel.tokens import tokenize
from vaultroom.policy.cel.values import INT_LIMIT, INT_MIN, described, is_list, is_map_key

FAILED: Final = object()
"""Stands for the value of an operand that has none."""

Operands = list[Any]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One documented difference. `occurs` tells it from a node and the values its operands came out with;
    `deviations` knows those that are no matter of a single node.
    """

    name: str
    says: str
    occurs: Callable[[Node, Operands], bool] = lambda node, operands: False


def deviations(program: Program, view: Mapping[str, Any]) -> frozenset[str]:
    """The names of the deviations that evaluating `program` on the event comes across."""
    watch = _Watch(view)
    try:
        watch.value(program.ast, {})
    except Failed:
        pass
    if any(_has_large_integer(view.get(name)) for name in program.fields):
        watch.seen.add("large-integer")
    tokens = tokenize(program.source)
    if any(one.text == "," and other.text in ("]", "}") for one, other in pairwise(tokens)):
        watch.seen.add("last-comma")
    return frozenset(watch.seen)


def _has_large_integer(value: Any) -> bool:
    if is_list(value):
        return any(map(_has_large_integer, value))
    if type(value) is dict:
        return any(map(_has_large_integer, value.values()))
    return type(value) is int and not INT_MIN <= value < INT_LIMIT


class _Watch(Evaluation):
    """The exact evaluation, looking at every operation with its operands.

    It evaluates also what the verdict does not need (the other side of `||`, the other branch of `?:`, the
    operand after one that failed), since cel-python may do so, and not every error of it is absorbed.
    """

    def __init__(self, view: Mapping[str, Any]) -> None:
        super().__init__(view)
        self.seen: set[str] = set()
        self._operands: list[Operands] = [[]]

    def value(self, node: Node, scope: Scope) -> Any:
        self._operands.append([])
        result: Any = FAILED
        try:
            if isinstance(node, Conditional):
                result = self._both_branches(node, scope)
            else:
                result = super().value(node, scope)
        finally:
            if not isinstance(node, Macro):
                for skipped in node.children[len(self._operands[-1]) :]:
                    self._attempt(skipped, scope)
            operands = self._operands.pop()
            self.seen.update(entry.name for entry in DEVIATIONS if entry.occurs(node, operands))
            self._operands[-1].append(result)
        return result

    def decide(self, conditions: Conditions, decisive: bool) -> bool:
        values = [self._attempt(node, scope) for node, scope in conditions]
        if any(value is decisive for value in values):
            return decisive
        for value, (node, _) in zip(values, conditions, strict=True):
            if not isinstance(value, bool):
                raise Failed(node, "not a bool")
        return not decisive

    def _both_branches(self, node: Conditional, scope: Scope) -> Any:
        condition, then, otherwise = (self._attempt(part, scope) for part in node.children)
        chosen = then if condition else otherwise
        if not isinstance(condition, bool) or chosen is FAILED:
            raise Failed(node, "no value")
        return chosen

    def _attempt(self, node: Node, scope: Scope) -> Any:
        try:
            return self.value(node, scope)
        except Failed:
            return FAILED


def _negative_index(node: Node, operands: Operands) -> bool:
    return (
        isinstance(node, Index)
        and len(operands) == 2
        and is_list(operands[0])
        and isinstance(operands[1], int | float)
        and operands[1] < 0
    )


def _double_index(node: Node, operands: Operands) -> bool:
    return isinstance(node, Index) and len(operands) == 2 and type(operands[1]) is float


def _has_without_map(node: Node, operands: Operands) -> bool:
    return isinstance(node, Has) and type(operands[0]) is not dict


def _mixed_comparison(node: Node, operands: Operands) -> bool:
    return isinstance(node, Compare) and len(operands) == 2 and _mixed(*operands)


def _mixed_membership(node: Node, operands: Operands) -> bool:
    if not isinstance(node, In) or len(operands) != 2 or FAILED in operands:
        return False
    item, container = operands
    if is_list(container):
        return any(_mixed(item, element) for element in container)
    return type(container) is dict and (not is_map_key(item) or any(_mixed(item, key) for key in container))


def _in_string(node: Node, operands: Operands) -> bool:
    return isinstance(node, In) and len(operands) == 2 and isinstance(operands[1], str | bytes)


def _size_of_null(node: Node, operands: Operands) -> bool:
    return isinstance(node, Call) and node.function == "size" and operands == [None]


def _condition_not_bool(node: Node, operands: Operands) -> bool:
    if isinstance(node, Logic):
        conditions = operands
    elif isinstance(node, Macro) and node.predicate is not None:
        conditions = operands[1:] if node.transform is None else []
    else:
        return False
    return any(value is not FAILED and not isinstance(value, bool) for value in conditions)


def _map_with_condition(node: Node, operands: Operands) -> bool:
    return isinstance(node, Macro) and node.transform is not None and node.predicate is not None


def _bool_of(node: Node, operands: Operands) -> bool:
    return isinstance(node, Call) and node.function == "bool" and not isinstance(operands[0], str | bool)


def _number_of(node: Node, operands: Operands) -> bool:
    """Whether text other than plain decimal digits, or another strange value, is made a number."""
    if not isinstance(node, Call) or node.function not in ("int", "double"):
        return False
    value = operands[0]
    return not (type(value) in (int, float) or (type(value) is str and value.isascii() and value.isdigit()))


def _text_of(node: Node, operands: Operands) -> bool:
    return isinstance(node, Call) and node.function == "string" and type(operands[0]) not in (str, int, bytes)


def _joined_text(node: Node, operands: Operands) -> bool:
    return (
        isinstance(node, Call)
        and node.function in ("contains", "startsWith", "endsWith", "matches")
        and any(isinstance(argument, Arithmetic) for argument in node.arguments)
    )


def _mixed(left: Any, right: Any) -> bool:
    """Whether a comparison of the two compares values of different types somewhere inside."""
    if left is FAILED or right is FAILED:
        return False
    if described(left) != described(right):
        return True
    if is_list(left):
        return any(_mixed(one, other) for one, other in zip(left, right, strict=False))
    if type(left) is dict:
        return any(_mixed(left[key], right[key]) for key in left if key in right)
    return False


def _method_on_list(node: Node, operands: Operands) -> bool:
    return (
        isinstance(node, Call)
        and node.function == "contains"
        and len(operands) == 2
        and not isinstance(operands[0], str)
    )


def _part_of_string(node: Node, operands: Operands) -> bool:
    return isinstance(node, Index) and len(operands) == 2 and isinstance(operands[0], str | bytes)


def _macro_over_text(node: Node, operands: Operands) -> bool:
    return isinstance(node, Macro) and isinstance(operands[0], str | bytes)


def _failure_in_macro(node: Node, operands: Operands) -> bool:
    return isinstance(node, Macro) and node.name in ("map", "filter", "exists_one") and FAILED in operands[1:]


DEVIATIONS: Final = (
    Deviation("negative-index", "x[-1] is the last element instead of an error", _negative_index),
    Deviation("double-index", "x[1.0] is an error, also where the double is a whole number", _double_index),
    Deviation(
        "string-index", "on a string, x[0] is its first character instead of an error", _part_of_string
    ),
    Deviation(
        "has-without-map",
        "has(x.a.b) is false instead of an error when x has no a, or a is no map",
        _has_without_map,
    ),
    Deviation("mixed-comparison", "comparing values of different types is an error", _mixed_comparison),
    Deviation(
        "mixed-membership",
        "x in [...] is an error as soon as an element has another type than x",
        _mixed_membership,
    ),
    Deviation("in-text", "x in a string or bytes looks for a part instead of failing", _in_string),
    Deviation(
        "contains-not-text", "x.contains(y) works on lists and maps instead of failing", _method_on_list
    ),
    Deviation(
        "macro-over-text", "macros go over the characters of a string instead of failing", _macro_over_text
    ),
    Deviation("size-of-null", "size(null) is 0 instead of an error", _size_of_null),
    Deviation(
        "condition-not-bool", "&& and || and macros accept values that are not bool", _condition_not_bool
    ),
    Deviation("map-with-condition", "x.map(a, condition, value) is not supported", _map_with_condition),
    Deviation(
        "failure-in-macro",
        "&& and || do not absorb an error inside map, filter or exists_one",
        _failure_in_macro,
    ),
    Deviation("large-integer", "an event with an integer beyond 64 bits cannot be judged"),
    Deviation("last-comma", "a comma after the last element of a list or map is a syntax error"),
    Deviation("bool-of", "bool() takes numbers and other values", _bool_of),
    Deviation("number-of", "int() and double() read more, or less, than decimal numbers", _number_of),
    Deviation(
        "text-of", "string() takes any value, and writes True and 1.0 where others write true and 1", _text_of
    ),
    Deviation("joined-text", "a method on a + b does not find its overload", _joined_text),
)

"""Which values of a field an expression needs, read from its tree: the index of the policy engine.

Sound, not complete: outside of the returned set the expression is exactly false, not an error, since `&&`
absorbs errors. Called by `Program.necessary`; pure.
"""

from vaultroom.policy.cel.ast import (
    And,
    Compare,
    Field,
    HasField,
    In,
    ListLiteral,
    Literal,
    Logic,
    Node,
    Not,
    Or,
)
from vaultroom.policy.cel.fields import FIELDS
from vaultroom.policy.cel.types import Type

Values = frozenset[str] | None
"""A finite set of values, or None for "any value"."""


def necessary_values(tree: Node, field: str) -> Values:
    """The values of the string `field` outside of which `tree` is exactly false; None without a bound."""
    if FIELDS.get(field) is not Type.STRING:
        return None
    return _needed(tree, field, outcome=True)


def _needed(node: Node, field: str, *, outcome: bool) -> Values:
    """The values outside of which `node` is exactly `not outcome`."""
    if isinstance(node, Literal):
        return None if node.value is outcome else frozenset()
    if isinstance(node, Not):
        return _needed(node.operand, field, outcome=not outcome)
    if isinstance(node, Logic):
        bounds = [_needed(term, field, outcome=outcome) for term in node.terms]
        return _intersection(bounds) if isinstance(node, And if outcome else Or) else _union(bounds)
    if isinstance(node, HasField):
        return frozenset({""}) if node.name == field and not outcome else None
    if isinstance(node, Compare) and node.operator == ("==" if outcome else "!="):
        return _compared(node, field)
    if isinstance(node, In) and outcome:
        return _listed(node, field)
    return None


def _compared(node: Compare, field: str) -> Values:
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, Field) and one.name == field and isinstance(other, Literal):
            return frozenset({other.value})
    return None


def _listed(node: In, field: str) -> Values:
    if (
        not isinstance(node.item, Field)
        or node.item.name != field
        or not isinstance(node.container, ListLiteral)
    ):
        return None
    if not all(isinstance(item, Literal) for item in node.container.items):
        return None
    values = (item.value for item in node.container.items if isinstance(item, Literal))
    return frozenset(value for value in values if isinstance(value, str))


def _intersection(bounds: list[Values]) -> Values:
    """The values that every known bound allows."""
    known = [bound for bound in bounds if bound is not None]
    return frozenset.intersection(*known) if known else None


def _union(bounds: list[Values]) -> Values:
    """The values that some bound allows; one term without a bound allows all."""
    known = [bound for bound in bounds if bound is not None]
    return frozenset().union(*known) if len(known) == len(bounds) else None

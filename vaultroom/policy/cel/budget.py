"""How much each loop and each concatenation of an expression may do, so that generated code need not count.

`limits.py` bounds one evaluation as a whole. The exact evaluator keeps count. The generated code instead gets
a share per loop, small enough that all shares together stay within the bound: as long as no loop exceeds its
share the bound holds, and one that does raises, which lets the exact evaluator count and decide.
"""

from dataclasses import dataclass
from itertools import zip_longest

from vaultroom.policy.cel.ast import Arithmetic, In, ListLiteral, Macro, Node
from vaultroom.policy.cel.limits import ITERATIONS, VALUE_BYTES


@dataclass(frozen=True, slots=True)
class Shares:
    """`elements` per loop, and `characters` (or elements) per concatenation."""

    elements: int
    characters: int


def shares(tree: Node) -> Shares:
    """The largest shares with which any evaluation of `tree` stays within the limits."""
    cost = _iterations(tree, inside=False)
    enough, too_many = 0, ITERATIONS + 1
    while too_many - enough > 1:
        middle = (enough + too_many) // 2
        if sum(loops * middle**power for power, loops in enumerate(cost)) <= ITERATIONS:
            enough = middle
        else:
            too_many = middle
    return Shares(enough, VALUE_BYTES // max(1, _concatenations(tree, inside=False)))


def _iterations(node: Node, *, inside: bool) -> list[int]:
    """The most elements an evaluation looks at when every loop goes over n: the factors of 1, n, n², …

    Inside a macro, `in` on a list is a loop too: it would make the work quadratic.
    """
    if isinstance(node, Macro):
        body = _sum([_iterations(part, inside=True) for part in node.body])
        return _sum([_iterations(node.source, inside=inside), [0, 1], [0, *body]])
    own = [0, 1] if inside and isinstance(node, In) and not isinstance(node.container, ListLiteral) else []
    return _sum([own, *(_iterations(child, inside=inside) for child in node.children)])


def _sum(costs: list[list[int]]) -> list[int]:
    return [sum(factors) for factors in zip_longest(*costs, fillvalue=0)]


def _concatenations(node: Node, *, inside: bool) -> int:
    """The most often that `+` is evaluated: once each, in a macro up to once per possible iteration."""
    if isinstance(node, Macro):
        body = sum(_concatenations(part, inside=True) for part in node.body)
        return _concatenations(node.source, inside=inside) + body
    own = isinstance(node, Arithmetic) and node.operator == "+"
    weight = ITERATIONS if inside else 1
    return weight * own + sum(_concatenations(child, inside=inside) for child in node.children)

"""The syntax tree of an expression: frozen dataclasses, fit for analysis (lint, shadowing, necessary values).

Two nodes are equal, and hash equal, when they mean the same text up to white space, comments, parentheses and
the way a literal is written; positions do not count. Child nodes come in source order from `children`.

Node kinds:

=================  ========================================================================================
`Literal`          a constant; `type` tells 1 from 1u, 1.0 and true
`ListLiteral`      `[a, b]`
`MapLiteral`       `{k: v}`
`Field`            `event.NAME`, always a declared field. `event` never occurs by itself
`HasField`         `has(event.NAME)`: not the zero value
`Variable`         the variable of an enclosing macro
`TypeName`         `string`, `int`, … as a value, to compare with `type(x)`
`Select`           `operand.key` on a map; fails when the key is missing
`Has`              `has(operand.key)` on a map
`Index`            `operand[index]`; fails out of range, or when the key is missing
`Not` `Negate`     `!a`, `-a`
`And` `Or`         two or more terms; nested ones of the same kind are flattened
`Conditional`      `condition ? then : otherwise`
`Compare`          `==` `!=` `<` `<=` `>` `>=`
`In`               `item in container`
`Arithmetic`       `+` `-` `*` `/` `%`
`Call`             a function or method; a receiver is the first argument, so `size(x)` and `x.size()` are
                   the same node
`Macro`            `source.exists(variable, predicate)` and its relatives
=================  ========================================================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from vaultroom.policy.cel.types import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An expression. `at` is the offset errors point at (an operator, a name); `start`, `end` its extent."""

    at: int = field(compare=False, default=0)
    start: int = field(compare=False, default=0)
    end: int = field(compare=False, default=0)

    @property
    def children(self) -> tuple["Node", ...]:
        """The direct sub-expressions, in source order."""
        return ()


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """`value` is a str, int, `UInt`, float, bool, bytes or None; `spelling` makes 0.0 and -0.0 differ."""

    value: Any = field(compare=False)
    type: Type
    spelling: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spelling", repr(self.value))


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    items: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.items


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    entries: tuple[tuple[Node, Node], ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(part for entry in self.entries for part in entry)


@dataclass(frozen=True, slots=True)
class Field(Node):
    name: str


@dataclass(frozen=True, slots=True)
class HasField(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Variable(Node):
    name: str


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    operand: Node
    key: str

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Has(Node):
    operand: Node
    key: str

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Index(Node):
    operand: Node
    index: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.index)


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Negate(Node):
    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """What `And` and `Or` share."""

    terms: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.terms


@dataclass(frozen=True, slots=True)
class And(Logic):
    """True when all terms are; false when one is, even if another fails."""


@dataclass(frozen=True, slots=True)
class Or(Logic):
    """True when one term is, even if another fails."""


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    condition: Node
    then: Node
    otherwise: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.condition, self.then, self.otherwise)


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """What `Compare` and `Arithmetic` share."""

    operator: str
    left: Node
    right: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Compare(Binary):
    """`operator` is one of == != < <= > >=."""


@dataclass(frozen=True, slots=True)
class Arithmetic(Binary):
    """`operator` is one of + - * / %."""


@dataclass(frozen=True, slots=True)
class In(Node):
    item: Node
    container: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.item, self.container)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`function` is size, startsWith, endsWith, contains, matches, string, int, double, bool, type or dyn."""

    function: str
    arguments: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True)
class Macro(Node):
    """`name` is exists, all, exists_one, filter or map.

    `predicate` is None only for `map(x, transform)`; `transform` is None for all but `map`.
    """

    name: str
    source: Node
    variable: str
    predicate: Node | None
    transform: Node | None = None

    @property
    def body(self) -> tuple[Node, ...]:
        """The sub-expressions that see the variable."""
        return tuple(part for part in (self.predicate, self.transform) if part is not None)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.source, *self.body)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, outer first."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))

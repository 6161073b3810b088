"""Whether an evaluation can fail, read from the tree: what a lint rule warns about.

Only `tool_args`, indexes, arithmetic, conversions and computed patterns can fail, and the usual guards make
them safe: `has(event.tool_args.x) && event.tool_args.x == "y"`, `event.argv.size() > 1 && event.argv[1] ==
"push"`, with `||` and `!`, and `?:`. Sound but for the bounds of `limits.py`: an event with more than 5,000
arguments can still make a macro fail.
"""

from dataclasses import dataclass

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
    Logic,
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
from vaultroom.policy.cel.fields import FIELDS
from vaultroom.policy.cel.types import LISTS, Type

_TEXT_FUNCTIONS = frozenset({"startsWith", "endsWith", "contains", "matches"})
_BOOL_FUNCTIONS = _TEXT_FUNCTIONS | {"bool"}


@dataclass(frozen=True, slots=True)
class Fact:
    """`node` (a list) has more than `size` elements; or, with size -1, `node` (a selection) is there."""

    node: Node
    size: int = -1


Facts = frozenset[Fact]


def can_fail(tree: Node) -> bool:
    """Whether some event makes `tree` fail rather than be true or false."""
    return _condition_fails(tree, frozenset(), {})


Scope = dict[str, Type]


def _fails(node: Node, facts: Facts, scope: Scope) -> bool:
    """Whether `node`, wherever `facts` hold, can fail."""
    match node:
        case Literal() | Field() | HasField() | Variable() | TypeName():
            return False
        case Logic():
            return _logic_fails(node, facts, scope)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (
                _condition_fails(condition, facts, scope)
                or _fails(then, facts | _facts(condition, holds=True), scope)
                or _fails(otherwise, facts | _facts(condition, holds=False), scope)
            )
        case Macro():
            return _macro_fails(node, facts, scope)
        case Not(operand=operand):
            return _condition_fails(operand, facts, scope)
        case _:
            return _fails_itself(node, facts, scope) or any(
                _fails(part, facts, scope) for part in node.children
            )


def _fails_itself(node: Node, facts: Facts, scope: Scope) -> bool:
    """Whether the operation of `node` can fail on operands that did not."""
    match node:
        case ListLiteral():
            return False
        case MapLiteral(entries=entries):
            return not all(isinstance(key, Literal) for key, _ in entries)
        case Select(operand=operand):
            return Fact(node) not in facts and not _literal_key(operand, node.key)
        case Has(operand=operand):
            return _type(operand, scope) is not Type.MAP
        case Index(operand=operand, index=Literal(value=int(position))):
            long_enough = any(fact.node == operand and fact.size >= position for fact in facts)
            return not long_enough or _type(operand, scope) not in LISTS
        case Index(operand=operand, index=Literal(value=str(key))):
            return Fact(Select(operand, key)) not in facts and not _literal_key(operand, key)
        case Compare(operator=operator, left=left, right=right):
            return operator not in ("==", "!=") and Type.DYN in (_type(left, scope), _type(right, scope))
        case In(item=item, container=container):
            kinds = _type(item, scope), _type(container, scope)
            return kinds[1] is Type.DYN or (kinds[1] is Type.MAP and kinds[0] is Type.DYN)
        case Call(function=function, arguments=arguments):
            return _call_fails(function, arguments, scope)
        case Negate() | Arithmetic() | Index():
            return True
        case _:
            return True


def _call_fails(function: str, arguments: tuple[Node, ...], scope: Scope) -> bool:
    types = {_type(argument, scope) for argument in arguments}
    if function in _TEXT_FUNCTIONS:
        computed = function == "matches" and not isinstance(arguments[1], Literal)
        return types != {Type.STRING} or computed
    if function == "size":
        return Type.DYN in types
    if function in ("type", "dyn"):
        return False
    return function != "string" or not types <= {Type.STRING, Type.INT, Type.BOOL, Type.DOUBLE}


def _condition_fails(node: Node, facts: Facts, scope: Scope) -> bool:
    """Whether `node`, where a bool is needed, can fail or be something else."""
    return _fails(node, facts, scope) or _type(node, scope) is not Type.BOOL


def _logic_fails(node: Logic, facts: Facts, scope: Scope) -> bool:
    """What a term that cannot fail implies is a fact for the others: where it is not so, it decides."""
    holds = isinstance(node, And)
    uncertain = list(node.terms)
    while True:
        certain = [term for term in uncertain if not _condition_fails(term, facts, scope)]
        if not certain:
            return bool(uncertain)
        facts = facts.union(*(_facts(term, holds=holds) for term in certain))
        uncertain = [term for term in uncertain if term not in certain]


def _macro_fails(node: Macro, facts: Facts, scope: Scope) -> bool:
    """No fact speaks of a variable in a way that matters: what one holds is a string or untyped."""
    source = _type(node.source, scope)
    if source is Type.DYN or _fails(node.source, facts, scope):
        return True
    inner_scope = {**scope, node.variable: Type.STRING if source is Type.STRINGS else Type.DYN}
    if node.predicate is not None:
        if _condition_fails(node.predicate, facts, inner_scope):
            return True
        facts |= _facts(node.predicate, holds=True)
    return node.transform is not None and _fails(node.transform, facts, inner_scope)


def _literal_key(container: Node, key: str) -> bool:
    return isinstance(container, MapLiteral) and any(
        isinstance(name, Literal) and name.value == key for name, _ in container.entries
    )


# -- what a condition tells about later ones -----------------------------------------------------------------


def _facts(condition: Node, *, holds: bool) -> Facts:
    """What is known once `condition` came out as `holds`."""
    match condition:
        case Not(operand=operand):
            return _facts(operand, holds=not holds)
        case And(terms=terms) if holds:
            return frozenset().union(*(_facts(term, holds=True) for term in terms))
        case Or(terms=terms) if not holds:
            return frozenset().union(*(_facts(term, holds=False) for term in terms))
        case Has(operand=operand, key=key) if holds:
            return frozenset({Fact(Select(operand, key))})
        case In(item=Literal(value=str(key)), container=Field(name="tool_args") as container) if holds:
            return frozenset({Fact(Select(container, key))})
        case HasField(name=name) if holds:
            return frozenset({Fact(Field(name), 0)})
        case Compare():
            return _size_facts(condition, holds=holds)
        case _:
            return frozenset()


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _size_facts(node: Compare, *, holds: bool) -> Facts:
    """From `size(x) > 1` and its many spellings: x has more than one element."""
    operator, size, bound = node.operator, node.left, node.right
    if isinstance(size, Literal):
        operator, size, bound = _MIRRORED[operator], bound, size
    if not holds:
        operator = _OPPOSITE[operator]
    match size, bound:
        case Call(function="size", arguments=(counted,)), Literal(value=int(number)):
            more_than = {">": number, ">=": number - 1, "==": number - 1, "!=": 0 if number == 0 else -1}
            least = more_than.get(operator, -1)
            return frozenset({Fact(counted, least)}) if least >= 0 else frozenset()
    return frozenset()


# -- types, as far as they matter here -----------------------------------------------------------------------


def _type(node: Node, scope: Scope) -> Type:
    """The static type of a node of a checked tree; DYN where it does not matter."""
    match node:
        case Literal(type=type_):
            return type_
        case Field(name=name):
            return FIELDS[name]
        case Variable(name=name):
            return scope.get(name, Type.DYN)
        case HasField() | Has() | Not() | Logic() | Compare() | In():
            return Type.BOOL
        case ListLiteral(items=items):
            return Type.STRINGS if {_type(item, scope) for item in items} == {Type.STRING} else Type.LIST
        case MapLiteral():
            return Type.MAP
        case Index(operand=operand):
            return Type.STRING if _type(operand, scope) is Type.STRINGS else Type.DYN
        case Call(function=function):
            if function in _BOOL_FUNCTIONS:
                return Type.BOOL
            return {"size": Type.INT, "int": Type.INT, "string": Type.STRING, "double": Type.DOUBLE}.get(
                function, Type.DYN
            )
        case Macro(name="filter" | "map"):
            return Type.STRINGS if _strings_macro(node, scope) else Type.LIST
        case Macro():
            return Type.BOOL
        case Conditional(then=then, otherwise=otherwise):
            types = {_type(then, scope), _type(otherwise, scope)}
            return types.pop() if len(types) == 1 else Type.DYN
        case _:
            return Type.DYN


def _strings_macro(node: Macro, scope: Scope) -> bool:
    source = _type(node.source, scope)
    if node.transform is None:
        return source is Type.STRINGS
    inner = {**scope, node.variable: Type.STRING if source is Type.STRINGS else Type.DYN}
    return _type(node.transform, inner) is Type.STRING

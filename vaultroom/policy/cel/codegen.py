"""A checked tree to Python: the fast path.

The code evaluates left to right on native values, with plain Python operators wherever the static types make
them mean what CEL means, and the strict ones of `operators.py` elsewhere. It never absorbs an error. So it
either gives CEL's result or raises, and on any exception the exact evaluator decides (`program.py`).

The text contains no name or text of the author: strings go through `repr`, variables get new names, and there
are no builtins.
"""

from collections.abc import Callable
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
from vaultroom.policy.cel.budget import shares
from vaultroom.policy.cel.checker import Types
from vaultroom.policy.cel.interpreter import FUNCTIONS, make_map
from vaultroom.policy.cel.pool import Hits, RegexPool
from vaultroom.policy.cel.types import LISTS, NUMBERS, SIZED, Type
from vaultroom.policy.cel.values import NoValue, TypeValue, as_bool, equal
from vaultroom.policy.re2 import Pattern, compile_pattern

_FEW: Final = 4
"""Up to so many strings, comparing with each is faster than hashing."""
_ITERABLE: Final = frozenset({list, tuple, dict})


def _up_to(limit: int, source: Any) -> Any:
    if type(source) in _ITERABLE and len(source) <= limit:
        return source
    raise NoValue("not iterable, or too long for the fast path")


def _in_up_to(limit: int, item: Any, container: Any) -> bool:
    return operators.contained(item, _up_to(limit, container))


def _search(pattern: Pattern, text: Any) -> bool:
    if type(text) is not str:
        raise NoValue("matches() needs a string")
    return pattern.search(text)


_RUNTIME: Final[dict[str, Any]] = {
    "__builtins__": {},
    "len": len,
    "any": any,
    "all": all,
    "sum": sum,
    "as_bool": as_bool,
    "equal": equal,
    "make_map": make_map,
    "up_to": _up_to,
    "in_up_to": _in_up_to,
    "search": _search,
    "compare": operators.compare,
    "contained": operators.contained,
    "index": operators.index,
    "has": operators.has,
    "add": operators.add,
    "arithmetic": operators.arithmetic,
    "negate": operators.negate,
    **{f"call_{name}": function for name, function in FUNCTIONS.items()},
}


@dataclass(frozen=True, slots=True)
class GeneratedCode:
    """Python text over a view `e`, and the constants it names. `load` makes the function."""

    text: str
    constants: dict[str, Any]

    def load(self, hits: dict[str, Hits]) -> Callable[[dict[str, Any]], bool]:
        """The function of the expression, with the pooled regular expressions of its policy."""
        namespace = {
            **_RUNTIME,
            **self.constants,
            **{_hits_name(field): found for field, found in hits.items()},
        }
        return cast(
            Callable[[dict[str, Any]], bool],
            eval(compile(f"lambda e: {self.text}", "<cel>", "eval"), namespace),
        )


def generate(tree: Node, types: Types, pool: RegexPool) -> GeneratedCode:
    """The Python code of a checked tree; its literal patterns are reserved in `pool`."""
    generator = _Generator(types, pool, tree)
    return GeneratedCode(generator.condition(tree), generator.constants)


def _hits_name(field: str) -> str:
    return f"hits_{field}"


class _Generator:
    """Each method gives a Python expression that can be an operand: parenthesised, a call or a name."""

    def __init__(self, types: Types, pool: RegexPool, tree: Node) -> None:
        self.constants: dict[str, Any] = {}
        self._types = types
        self._pool = pool
        self._shares = shares(tree)
        self._scope: list[tuple[str, str]] = []
        self._variables = 0

    def code(self, node: Node) -> str:
        rule = cast("Callable[[_Generator, Any], str]", _RULES[type(node)])
        return rule(self, node)

    def condition(self, node: Node) -> str:
        """The code of `node` where a bool is needed."""
        text = self.code(node)
        return text if self._types.of(node) is Type.BOOL else f"as_bool({text})"

    def _constant(self, value: Any) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def _both(self, one: Node, other: Node) -> tuple[Type, Type]:
        return self._types.of(one), self._types.of(other)

    # -- values ----------------------------------------------------------------------------------------------

    def _literal(self, node: Literal) -> str:
        if node.type is Type.UINT:
            return self._constant(node.value)
        return f"({node.value!r})" if node.type in NUMBERS else repr(node.value)

    def _list(self, node: ListLiteral) -> str:
        return f"[{', '.join(map(self.code, node.items))}]"

    def _map(self, node: MapLiteral) -> str:
        return f"make_map({', '.join(map(self.code, node.children))})"

    def _field(self, node: Field) -> str:
        return f"e[{node.name!r}]"

    def _has_field(self, node: HasField) -> str:
        return f"(not not e[{node.name!r}])"

    def _variable(self, node: Variable) -> str:
        return next(local for name, local in reversed(self._scope) if name == node.name)

    def _type_name(self, node: TypeName) -> str:
        return self._constant(TypeValue(node.name))

    # -- parts of values: of native values, only a dict accepts a string as index ----------------------------

    def _select(self, node: Select) -> str:
        return f"{self.code(node.operand)}[{node.key!r}]"

    def _has(self, node: Has) -> str:
        operand = self.code(node.operand)
        if self._types.of(node.operand) is Type.MAP:
            return f"({node.key!r} in {operand})"
        return f"has({operand}, {node.key!r})"

    def _index(self, node: Index) -> str:
        container, key = self._both(node.operand, node.index)
        operand, index = self.code(node.operand), self.code(node.index)
        literal_position = container in LISTS and key is Type.INT and isinstance(node.index, Literal)
        if literal_position or key is Type.STRING:
            return f"{operand}[{index}]"
        return f"index({operand}, {index})"

    # -- operators -------------------------------------------------------------------------------------------

    def _not(self, node: Not) -> str:
        return f"(not {self.condition(node.operand)})"

    def _negate(self, node: Negate) -> str:
        return f"negate({self.code(node.operand)})"

    def _logic(self, node: Logic) -> str:
        word = " and " if isinstance(node, And) else " or "
        return f"({word.join(map(self.condition, node.terms))})"

    def _conditional(self, node: Conditional) -> str:
        then, otherwise = self.code(node.then), self.code(node.otherwise)
        return f"({then} if {self.condition(node.condition)} else {otherwise})"

    def _compare(self, node: Compare) -> str:
        types = self._both(node.left, node.right)
        left, right = self.code(node.left), self.code(node.right)
        if node.operator in ("==", "!="):
            if Type.STRING in types or set(types) <= NUMBERS:
                return f"({left} {node.operator} {right})"
            return f"({'not ' if node.operator == '!=' else ''}equal({left}, {right}))"
        if set(types) <= NUMBERS or set(types) == {Type.STRING}:
            return f"({left} {node.operator} {right})"
        return f"compare({node.operator!r}, {left}, {right})"

    def _in(self, node: In) -> str:
        item, container = self._both(node.item, node.container)
        text = self.code(node.item)
        if isinstance(node.container, ListLiteral) and item in (Type.STRING, Type.DYN):
            strings = [part.value for part in node.container.items if isinstance(part, Literal)]
            if len(strings) == len(node.container.items) and all(isinstance(value, str) for value in strings):
                if item is Type.STRING and len(strings) > _FEW:
                    return f"({text} in {self._constant(frozenset(strings))})"
                return f"({text} in {tuple(strings)!r})"
        target = self.code(node.container)
        if container is Type.MAP and item is Type.STRING:
            return f"({text} in {target})"
        if self._scope:
            return f"in_up_to({self._shares.elements}, {text}, {target})"
        if container is Type.STRINGS and item is Type.STRING:
            return f"({text} in {target})"
        return f"contained({text}, {target})"

    def _arithmetic(self, node: Arithmetic) -> str:
        left, right = self.code(node.left), self.code(node.right)
        if node.operator == "+":
            return f"add({left}, {right}, {self._shares.characters})"
        return f"arithmetic({node.operator!r}, {left}, {right})"

    # -- calls -----------------------------------------------------------------------------------------------

    def _call(self, node: Call) -> str:
        first = node.arguments[0]
        if node.function == "size":
            known = self._types.of(first) in SIZED - {Type.DYN}
            return f"{'len' if known else 'call_size'}({self.code(first)})"
        if node.function == "matches":
            return self._matches(node)
        if node.function == "dyn":
            return self.code(first)
        texts = [self.code(argument) for argument in node.arguments]
        if len(texts) == 2 and {self._types.of(argument) for argument in node.arguments} == {Type.STRING}:
            return _string_method(node.function, *texts)
        return f"call_{node.function}({', '.join(texts)})"

    def _matches(self, node: Call) -> str:
        text, pattern = node.arguments
        if not isinstance(pattern, Literal):
            return f"call_matches({self.code(text)}, {self.code(pattern)})"
        if isinstance(text, Field):
            position = self._pool.reserve(text.name, pattern.value)
            return f"({position} in {_hits_name(text.name)}(e))"
        return f"search({self._constant(compile_pattern(pattern.value))}, {self.code(text)})"

    def _macro(self, node: Macro) -> str:
        source = f"up_to({self._shares.elements}, {self.code(node.source)})"
        self._variables += 1
        variable = f"v{self._variables}"
        self._scope.append((node.variable, variable))
        loop = f"for {variable} in {source}"
        predicate = "" if node.predicate is None else self.condition(node.predicate)
        chosen = f"{loop} if {predicate}" if predicate else loop
        transform = variable if node.transform is None else self.code(node.transform)
        self._scope.pop()
        if node.name in ("exists", "all"):
            return f"{'any' if node.name == 'exists' else 'all'}({predicate} {loop})"
        if node.name == "exists_one":
            return f"(sum([1 {chosen}]) == 1)"
        return f"[{transform} {chosen}]"


def _string_method(function: str, text: str, argument: str) -> str:
    if function == "contains":
        return f"({argument} in {text})"
    return f"{text}.{'startswith' if function == 'startsWith' else 'endswith'}({argument})"


_RULES: Final[dict[type[Node], Any]] = {
    Literal: _Generator._literal,
    ListLiteral: _Generator._list,
    MapLiteral: _Generator._map,
    Field: _Generator._field,
    HasField: _Generator._has_field,
    Variable: _Generator._variable,
    TypeName: _Generator._type_name,
    Select: _Generator._select,
    Has: _Generator._has,
    Index: _Generator._index,
    Not: _Generator._not,
    Negate: _Generator._negate,
    And: _Generator._logic,
    Or: _Generator._logic,
    Conditional: _Generator._conditional,
    Compare: _Generator._compare,
    In: _Generator._in,
    Arithmetic: _Generator._arithmetic,
    Call: _Generator._call,
    Macro: _Generator._macro,
}

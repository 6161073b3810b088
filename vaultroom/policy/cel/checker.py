"""Static types of a syntax tree, and the mistakes they reveal before any event is judged.

The event is typed, so most mistakes are seen here: comparing a string with a number, `in` on a string, a bad
regular expression, an expression that is not a condition. Where only the event can tell (`dyn`), the
operators check at run time. Entry point: `check`.
"""

from collections.abc import Callable
from typing import Any, Final, cast

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
from vaultroom.policy.cel.conversions import RESULT_TYPES
from vaultroom.policy.cel.errors import CelCompileError, compile_error
from vaultroom.policy.cel.fields import FIELDS
from vaultroom.policy.cel.types import ITERABLE, LISTS, NUMBERS, SIZED, Type, common_type, may_be_equal
from vaultroom.policy.re2 import compile_pattern

_ORDERED: Final = NUMBERS | {Type.STRING, Type.BOOL, Type.BYTES}
_JOINABLE: Final = LISTS | {Type.STRING, Type.BYTES}
_KEYS: Final = frozenset({Type.STRING, Type.INT, Type.UINT})
_CONVERTIBLE: Final = {
    "string": NUMBERS | {Type.STRING, Type.BOOL, Type.BYTES},
    "int": NUMBERS | {Type.STRING},
    "double": NUMBERS | {Type.STRING},
    "bool": frozenset({Type.STRING, Type.BOOL}),
    "type": frozenset(Type),
    "dyn": frozenset(Type),
}


class Types:
    """The static type of every node of a tree, by identity: equal nodes may stand in different scopes."""

    def __init__(self) -> None:
        self._by_identity: dict[int, Type] = {}

    def of(self, node: Node) -> Type:
        """The type of `node`."""
        return self._by_identity[id(node)]

    def record(self, node: Node, type_: Type) -> Type:
        """Remember the type of `node`."""
        self._by_identity[id(node)] = type_
        return type_


def check(source: str, tree: Node) -> Types:
    """The types in the tree of `source`. Raises CelCompileError, also when the whole is no condition."""
    types = Types()
    _Checker(source, types).condition(tree)
    return types


class _Checker:
    def __init__(self, source: str, types: Types) -> None:
        self._source = source
        self._types = types
        self._scope: list[tuple[str, Type]] = []

    def type_of(self, node: Node) -> Type:
        """Check `node` and what is below it."""
        rule = cast("Callable[[_Checker, Any], Type]", _RULES[type(node)])
        return self._types.record(node, rule(self, node))

    def condition(self, node: Node) -> None:
        """Check `node` where only a bool makes sense."""
        found = self.type_of(node)
        if found not in (Type.BOOL, Type.DYN):
            raise self._error(node, f"expected a condition (a bool), found {found.with_article}")

    def _error(self, node: Node, message: str) -> CelCompileError:
        return compile_error(self._source, node.at, message)

    # -- values ----------------------------------------------------------------------------------------------

    def _literal(self, node: Literal) -> Type:
        return node.type

    def _list(self, node: ListLiteral) -> Type:
        types = {self.type_of(item) for item in node.items}
        return Type.STRINGS if types == {Type.STRING} else Type.LIST

    def _map(self, node: MapLiteral) -> Type:
        keys: set[Any] = set()
        for key, value in node.entries:
            found = self.type_of(key)
            if found not in _KEYS | {Type.DYN}:
                raise self._error(
                    key, f"expected a string or an int as key of a map, found {found.with_article}"
                )
            if isinstance(key, Literal):
                if key.value in keys:
                    raise self._error(key, f"the key {key.value!r} occurs twice in this map")
                keys.add(key.value)
            self.type_of(value)
        return Type.MAP

    def _field(self, node: Field) -> Type:
        return FIELDS[node.name]

    def _has_field(self, node: HasField) -> Type:
        return Type.BOOL

    def _variable(self, node: Variable) -> Type:
        return next(type_ for name, type_ in reversed(self._scope) if name == node.name)

    def _type_name(self, node: TypeName) -> Type:
        return Type.TYPE

    # -- parts of values -------------------------------------------------------------------------------------

    def _select(self, node: Select) -> Type:
        found = self.type_of(node.operand)
        if found not in (Type.MAP, Type.DYN):
            call = f"; for the number of elements write {node.key}()" if node.key == "size" else ""
            raise self._error(node, f"{found.with_article} has no field {node.key!r}{call}")
        return Type.DYN

    def _has(self, node: Has) -> Type:
        found = self.type_of(node.operand)
        if found not in (Type.MAP, Type.DYN):
            raise self._error(node, f"has() looks into a map, found {found.with_article}")
        return Type.BOOL

    def _index(self, node: Index) -> Type:
        container, key = self.type_of(node.operand), self.type_of(node.index)
        if container not in ITERABLE:
            raise self._error(node, f"cannot index {container.with_article}")
        if container in LISTS:
            if key not in NUMBERS | {Type.DYN}:
                raise self._error(node.index, f"expected an int as index of a list, found {key.with_article}")
            if isinstance(node.index, Literal) and node.index.value < 0:
                raise self._error(
                    node.index, "an index is never negative in CEL; the last element is x[x.size() - 1]"
                )
        elif container is Type.MAP and key not in NUMBERS | _KEYS | {Type.BOOL, Type.DYN}:
            raise self._error(node.index, f"{key.with_article} cannot be the key of a map")
        return Type.STRING if container is Type.STRINGS else Type.DYN

    # -- operators -------------------------------------------------------------------------------------------

    def _not(self, node: Not) -> Type:
        self.condition(node.operand)
        return Type.BOOL

    def _negate(self, node: Negate) -> Type:
        found = self.type_of(node.operand)
        if found not in (Type.INT, Type.DOUBLE, Type.DYN):
            raise self._error(
                node, f"cannot negate {found.with_article}" + ("; write !" if found is Type.BOOL else "")
            )
        return found

    def _logic(self, node: Logic) -> Type:
        for term in node.terms:
            self.condition(term)
        return Type.BOOL

    def _conditional(self, node: Conditional) -> Type:
        self.condition(node.condition)
        return common_type(self.type_of(node.then), self.type_of(node.otherwise))

    def _compare(self, node: Compare) -> Type:
        left, right = self.type_of(node.left), self.type_of(node.right)
        if node.operator in ("==", "!="):
            if not may_be_equal(left, right):
                outcome = "false" if node.operator == "==" else "true"
                raise self._error(
                    node, f"comparing {left.with_article} with {right.with_article} is always {outcome}"
                )
            return Type.BOOL
        comparable = Type.DYN in (left, right) or left is right or {left, right} <= NUMBERS
        if not comparable or not {left, right} <= _ORDERED | {Type.DYN}:
            raise self._error(
                node, f"cannot compare {left.with_article} with {right.with_article} using {node.operator}"
            )
        return Type.BOOL

    def _in(self, node: In) -> Type:
        item, container = self.type_of(node.item), self.type_of(node.container)
        if container not in ITERABLE:
            advice = "; write text.contains(part)" if container is Type.STRING else ""
            raise self._error(
                node, f"expected a list or a map after 'in', found {container.with_article}{advice}"
            )
        if container is Type.STRINGS and item not in (Type.STRING, Type.DYN):
            raise self._error(node, f"{item.with_article} is never in a list of strings")
        if container is Type.MAP and item not in NUMBERS | _KEYS | {Type.BOOL, Type.DYN}:
            raise self._error(node, f"{item.with_article} cannot be the key of a map")
        return Type.BOOL

    def _arithmetic(self, node: Arithmetic) -> Type:
        left, right = self.type_of(node.left), self.type_of(node.right)
        both = common_type(left, right)
        fits = Type.DYN in (left, right) or both is not Type.DYN
        allowed = NUMBERS | _JOINABLE if node.operator == "+" else NUMBERS
        if node.operator == "%":
            allowed = allowed - {Type.DOUBLE}
        if not fits or not {left, right} <= allowed | {Type.DYN}:
            raise self._error(
                node, f"there is no {node.operator} for {left.with_article} and {right.with_article}"
            )
        return both

    # -- calls -----------------------------------------------------------------------------------------------

    def _call(self, node: Call) -> Type:
        found = [self.type_of(argument) for argument in node.arguments]
        if node.function == "size":
            if found[0] not in SIZED:
                raise self._error(node, f"{found[0].with_article} has no size")
            return Type.INT
        if node.function in _CONVERTIBLE:
            if found[0] not in _CONVERTIBLE[node.function] | {Type.DYN}:
                raise self._error(node, f"{node.function}() does not take {found[0].with_article}")
            return RESULT_TYPES[node.function]
        for argument, type_ in zip(node.arguments, found, strict=True):
            if type_ not in (Type.STRING, Type.DYN):
                advice = "; write 'x in list'" if type_ in LISTS and node.function == "contains" else ""
                advice = advice or ("; write list.exists(a, …)" if type_ in LISTS else "")
                at = node if argument is node.arguments[0] else argument
                raise self._error(at, f"{node.function}() needs a string, found {type_.with_article}{advice}")
        if node.function == "matches":
            self._pattern(node.arguments[1])
        return Type.BOOL

    def _pattern(self, pattern: Node) -> None:
        if isinstance(pattern, Literal):
            try:
                compile_pattern(pattern.value)
            except ValueError as problem:
                raise self._error(pattern, str(problem)) from None

    def _macro(self, node: Macro) -> Type:
        source = self.type_of(node.source)
        if source not in ITERABLE:
            raise self._error(node, f"{node.name}() needs a list or a map, found {source.with_article}")
        self._scope.append((node.variable, Type.STRING if source is Type.STRINGS else Type.DYN))
        if node.predicate is not None:
            self.condition(node.predicate)
        mapped = Type.DYN if node.transform is None else self.type_of(node.transform)
        self._scope.pop()
        if node.name == "map":
            return Type.STRINGS if mapped is Type.STRING else Type.LIST
        if node.name == "filter":
            return Type.STRINGS if source is Type.STRINGS else Type.LIST
        return Type.BOOL


_RULES: Final[dict[type[Node], Any]] = {
    Literal: _Checker._literal,
    ListLiteral: _Checker._list,
    MapLiteral: _Checker._map,
    Field: _Checker._field,
    HasField: _Checker._has_field,
    Variable: _Checker._variable,
    TypeName: _Checker._type_name,
    Select: _Checker._select,
    Has: _Checker._has,
    Index: _Checker._index,
    Not: _Checker._not,
    Negate: _Checker._negate,
    And: _Checker._logic,
    Or: _Checker._logic,
    Conditional: _Checker._conditional,
    Compare: _Checker._compare,
    In: _Checker._in,
    Arithmetic: _Checker._arithmetic,
    Call: _Checker._call,
    Macro: _Checker._macro,
}

"""Values at run time, and what is true of them in CEL but not in Python.

A value is a native Python value, as it comes from the event: str, int, float, bool, None, bytes, list (or
tuple) and dict. Added are `UInt`, because 1 and 1u have different types, and `TypeValue`, what `type(x)`
gives. A map has string or integer keys; `true` and `1` would be one key in Python, so boolean keys do not
exist.

Everything here is strict: where CEL has no overload, `NoValue` is raised. The caller knows the position.
"""

from dataclasses import dataclass
from typing import Any, Final

INT_MIN: Final = -(2**63)
INT_LIMIT: Final = 2**63
UINT_LIMIT: Final = 2**64


class NoValue(Exception):
    """An operation failed. `str()` is the reason; the position is added by whoever walks the tree."""


class UInt(int):
    """An unsigned integer. Only literals like `80u` make one; the event has none."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: `type("x") == string`."""

    name: str


_TYPE_NAMES: Final[dict[type, str]] = {
    str: "string",
    int: "int",
    UInt: "uint",
    float: "double",
    bool: "bool",
    type(None): "null_type",
    bytes: "bytes",
    list: "list",
    tuple: "list",
    dict: "map",
    TypeValue: "type",
}
TYPE_NAMES: Final = frozenset(_TYPE_NAMES.values())
"""Names that stand for a type in an expression."""
_NUMBERS: Final = frozenset({int, float, UInt})
_LISTS: Final = frozenset({list, tuple})
_KEYS: Final = frozenset({str, int, UInt})


def type_name(value: Any) -> str:
    """CEL's name of the type of `value`."""
    name = _TYPE_NAMES.get(type(value))
    if name is None:
        raise NoValue(f"a {type(value).__name__} is not a CEL value")
    return name


def is_number(value: Any) -> bool:
    """Whether `value` is an int, uint or double; a bool is not."""
    return type(value) in _NUMBERS


def is_list(value: Any) -> bool:
    """Whether `value` is a list; a frozen event may hold tuples."""
    return type(value) in _LISTS


def is_map_key(value: Any) -> bool:
    """Whether a map can have `value` as a key."""
    return type(value) in _KEYS


def equal(left: Any, right: Any) -> bool:
    """`left == right`: numbers compare by value across their types, anything else of different types is
    unequal.
    """
    if is_number(left) and is_number(right):
        return bool(left == right)
    if is_list(left) and is_list(right):
        return len(left) == len(right) and all(
            equal(one, other) for one, other in zip(left, right, strict=True)
        )
    if type(left) is not type(right):
        return False
    if type(left) is dict:
        return len(left) == len(right) and all(key in right and equal(left[key], right[key]) for key in left)
    return bool(left == right)


def as_bool(value: Any) -> bool:
    """`value` itself when it is a bool."""
    if value is True or value is False:
        return bool(value)
    raise NoValue(f"expected a bool, found {described(value)}")


def described(value: Any) -> str:
    """`value` for an error message: its type only, since its content is the agent's."""
    name = _TYPE_NAMES.get(type(value), type(value).__name__)
    if value is None:
        return "null"
    return f"an {name}" if name == "int" else f"a {name}"

"""The static types of expressions. `dyn` is what only the event can tell: the content of `tool_args`.

A value is a `StrEnum` member whose text is what error messages call the type.
"""

from enum import StrEnum
from typing import Final


class Type(StrEnum):
    """The type of an expression, as far as it is known before there is an event."""

    STRING = "string"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    BOOL = "bool"
    NULL = "null"
    BYTES = "bytes"
    STRINGS = "list of strings"
    LIST = "list"
    MAP = "map"
    TYPE = "type"
    DYN = "dyn"

    @property
    def with_article(self) -> str:
        """For messages: `a string`, `an int`, `null`."""
        if self is Type.NULL:
            return "null"
        return f"an {self}" if self is Type.INT else f"a {self}"


NUMBERS: Final = frozenset({Type.INT, Type.UINT, Type.DOUBLE})
LISTS: Final = frozenset({Type.LIST, Type.STRINGS})
ITERABLE: Final = LISTS | {Type.MAP, Type.DYN}
SIZED: Final = ITERABLE | {Type.STRING, Type.BYTES}


def common_type(one: Type, other: Type) -> Type:
    """The type of a value that comes from either of two expressions."""
    if one is other:
        return one
    if one in LISTS and other in LISTS:
        return Type.LIST
    return Type.DYN


def may_be_equal(one: Type, other: Type) -> bool:
    """Whether values of the two types can be equal at all; numbers compare across their types."""
    if one is other or Type.DYN in (one, other):
        return True
    return {one, other} <= NUMBERS or {one, other} <= LISTS

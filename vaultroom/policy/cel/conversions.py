"""`string()`, `int()`, `double()`, `bool()`, `type()` and `dyn()`.

Text that comes from an agent is only handed to Python's own number readers after its length and characters
were checked. Stricter than Google's implementation in one point: a number may not be surrounded by spaces.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from vaultroom.policy.cel.types import Type
from vaultroom.policy.cel.values import (
    INT_LIMIT,
    INT_MIN,
    NoValue,
    TypeValue,
    UInt,
    described,
    is_number,
    type_name,
)

RESULT_TYPES: Final[dict[str, Type]] = {
    "string": Type.STRING,
    "int": Type.INT,
    "double": Type.DOUBLE,
    "bool": Type.BOOL,
    "type": Type.TYPE,
    "dyn": Type.DYN,
}
"""The static type of what each conversion returns."""

_TRUE: Final = frozenset({"true", "True", "TRUE", "t", "1"})
_FALSE: Final = frozenset({"false", "False", "FALSE", "f", "0"})
_SPECIAL_DOUBLES: Final = frozenset({"inf", "infinity", "nan"})
_NUMBER_CHARACTERS: Final = frozenset("0123456789+-.eE")
_LONGEST_NUMBER: Final = 400
_FIRST_SCIENTIFIC: Final = 6
_LAST_PLAIN: Final = -4


def to_string(value: Any) -> str:
    """`string(value)`."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (int, UInt):
        return str(int(value))
    if type(value) is float:
        return _double_text(value)
    if type(value) is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise NoValue("string() of bytes that are not UTF-8") from None
    raise NoValue(f"cannot make a string of {described(value)}")


def to_int(value: Any) -> int:
    """`int(value)`; a double is cut off towards zero."""
    if type(value) is str:
        digits = value[1:] if value[:1] in ("+", "-") else value
        number = (
            int(value)
            if len(value) < _LONGEST_NUMBER and digits.isascii() and digits.isdigit()
            else INT_LIMIT
        )
    elif type(value) is float:
        number = int(value) if INT_MIN < value < INT_LIMIT else INT_LIMIT
    elif type(value) in (int, UInt):
        number = int(value)
    else:
        raise NoValue(f"cannot make an int of {described(value)}")
    if not INT_MIN <= number < INT_LIMIT:
        raise NoValue(f"this {type_name(value)} is not an int")
    return number


def to_double(value: Any) -> float:
    """`double(value)`."""
    if is_number(value):
        try:
            return float(value)
        except OverflowError:
            raise NoValue("this number is too large for a double") from None
    if type(value) is not str:
        raise NoValue(f"cannot make a double of {described(value)}")
    plain = len(value) < _LONGEST_NUMBER and _NUMBER_CHARACTERS.issuperset(value)
    if not plain and value.lower().lstrip("+-") not in _SPECIAL_DOUBLES:
        raise NoValue("this string is not a double")
    try:
        return float(value)
    except ValueError:
        raise NoValue("this string is not a double") from None


def to_bool(value: Any) -> bool:
    """`bool(value)`."""
    if type(value) is bool:
        return value
    if type(value) is str:
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
    raise NoValue(f"cannot make a bool of {described(value)}")


def to_type(value: Any) -> TypeValue:
    """`type(value)`."""
    return TypeValue(type_name(value))


def to_dyn(value: Any) -> Any:
    """`dyn(value)`: the value, of a type that only the event tells."""
    return value


CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "string": to_string,
    "int": to_int,
    "double": to_double,
    "bool": to_bool,
    "type": to_type,
    "dyn": to_dyn,
}


def _double_text(number: float) -> str:
    """The shortest digits that read back as `number`; with an exponent below 1e-04 and from 1e+06."""
    if number != number or number in (float("inf"), float("-inf")):
        return str(number)
    shortest = Decimal(repr(number)).normalize()
    exponent = shortest.adjusted()
    if number == 0 or _LAST_PLAIN <= exponent < _FIRST_SCIENTIFIC:
        return format(shortest, "f")
    digits = "".join(map(str, shortest.as_tuple().digits))
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{'-' if number < 0 else ''}{mantissa}e{exponent:+03d}"

"""The operators and functions of CEL on run-time values: strict, bounded, without positions.

Both evaluators call these: the generated code where static types do not allow a plain Python operator, and
the exact evaluator always. Each raises `NoValue` where CEL has no overload or no result.
"""

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from vaultroom.policy.cel.limits import PATTERN_CHARACTERS
from vaultroom.policy.cel.values import (
    INT_LIMIT,
    INT_MIN,
    UINT_LIMIT,
    NoValue,
    UInt,
    described,
    equal,
    is_list,
    is_map_key,
    is_number,
)
from vaultroom.policy.re2 import Pattern, compile_pattern

_ORDERED: Final = frozenset({str, bool, bytes})
_SIZED: Final = frozenset({str, bytes, list, tuple, dict})
_JOINABLE: Final = frozenset({str, bytes})
_ORDERINGS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(symbol: str, left: Any, right: Any) -> bool:
    """`left symbol right` for < <= > >=: any two numbers, or two strings, bytes or bools."""
    if (is_number(left) and is_number(right)) or (type(left) is type(right) and type(left) in _ORDERED):
        return bool(_ORDERINGS[symbol](left, right))
    raise NoValue(f"cannot compare {described(left)} with {described(right)} using {symbol}")


def contained(item: Any, container: Any) -> bool:
    """`item in container`: an element of a list or a key of a map."""
    if is_list(container):
        return any(equal(item, element) for element in container)
    if type(container) is dict:
        if is_map_key(item):
            return item in container
        if type(item) is float:
            return item.is_integer() and item in container
        if type(item) is bool:
            return False
        raise NoValue(f"{described(item)} cannot be a key of a map")
    raise NoValue(f"expected a list or a map after 'in', found {described(container)}")


def index(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if is_list(container):
        if type(key) is float and key.is_integer():
            key = int(key)
        if not is_number(key) or type(key) is float:
            raise NoValue(f"expected an int as index of a list, found {described(key)}")
        if not 0 <= key < len(container):
            raise NoValue(f"index {key} is out of range for a list of {len(container)}")
        return container[key]
    if type(container) is dict:
        if not contained(key, container):
            raise NoValue(_no_such_key(key))
        return container[key]
    raise NoValue(f"cannot index {described(container)}")


def select(container: Any, key: str) -> Any:
    """`container.key` on a map."""
    if type(container) is not dict:
        raise NoValue(f"expected a map with the key {key!r}, found {described(container)}")
    if key not in container:
        raise NoValue(_no_such_key(key))
    return container[key]


def has(container: Any, key: str) -> bool:
    """`has(container.key)` on a map."""
    if type(container) is not dict:
        raise NoValue(f"has() needs a map, found {described(container)}")
    return key in container


def _no_such_key(key: Any) -> str:
    return f"there is no key {key!r}; guard it with has()" if type(key) is str else f"there is no key {key!r}"


def size(value: Any) -> int:
    """Characters of a string, bytes, or elements."""
    if type(value) in _SIZED:
        return len(value)
    raise NoValue(f"{described(value)} has no size")


def add(left: Any, right: Any, room: int) -> Any:
    """`left + right`; a concatenation of more than `room` characters or elements raises."""
    if (type(left) is type(right) and type(left) in _JOINABLE) or (is_list(left) and is_list(right)):
        if len(left) + len(right) > room:
            raise NoValue("concatenation makes the value too large")
        return [*left, *right] if is_list(left) else left + right
    return arithmetic("+", left, right)


def arithmetic(symbol: str, left: Any, right: Any) -> Any:
    """`left symbol right` on two numbers of the same type; integers do not wrap around."""
    if type(left) is not type(right) or not is_number(left):
        raise NoValue(f"there is no {symbol} for {described(left)} and {described(right)}")
    if type(left) is float:
        return _float_arithmetic(symbol, left, right)
    result = _integer_arithmetic(symbol, int(left), int(right))
    return _in_range(result, type(left))


def _integer_arithmetic(symbol: str, left: int, right: int) -> int:
    if symbol == "+":
        return left + right
    if symbol == "-":
        return left - right
    if symbol == "*":
        return left * right
    if right == 0:
        raise NoValue("division by zero")
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient if symbol == "/" else left - quotient * right


def _float_arithmetic(symbol: str, left: float, right: float) -> float:
    if symbol == "+":
        return left + right
    if symbol == "-":
        return left - right
    if symbol == "*":
        return left * right
    if symbol == "%":
        raise NoValue("there is no % for doubles")
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _in_range(number: int, kind: type) -> int:
    if kind is UInt:
        if 0 <= number < UINT_LIMIT:
            return UInt(number)
    elif INT_MIN <= number < INT_LIMIT:
        return number
    raise NoValue("integer overflow")


def negate(value: Any) -> Any:
    """`-value` of an int or a double."""
    if type(value) is float:
        return -value
    if type(value) is int:
        return _in_range(-value, int)
    raise NoValue(f"cannot negate {described(value)}")


def starts_with(text: Any, start: Any) -> bool:
    """`text.startsWith(start)`."""
    _need_strings("startsWith", text, start)
    return bool(text.startswith(start))


def ends_with(text: Any, end: Any) -> bool:
    """`text.endsWith(end)`."""
    _need_strings("endsWith", text, end)
    return bool(text.endswith(end))


def contains(text: Any, part: Any) -> bool:
    """`text.contains(part)`."""
    _need_strings("contains", text, part)
    return part in text


def matches(text: Any, pattern: Any) -> bool:
    """`text.matches(pattern)`: whether the RE2 pattern is found anywhere in the text."""
    _need_strings("matches", text, pattern)
    return _cached_pattern(pattern).search(text)


def _need_strings(function: str, *values: Any) -> None:
    for value in values:
        if type(value) is not str:
            raise NoValue(f"{function}() needs strings, found {described(value)}")


@lru_cache(maxsize=128)
def _cached_pattern(pattern: str) -> Pattern:
    if len(pattern) > PATTERN_CHARACTERS:
        raise NoValue(f"a computed regular expression has at most {PATTERN_CHARACTERS} characters")
    try:
        return compile_pattern(pattern)
    except ValueError as problem:
        raise NoValue(str(problem)) from None

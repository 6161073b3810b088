"""Expression text to tokens, in linear time.

Every alternative of the one regular expression below starts differently and none can backtrack over another;
string literals are read by `strings.py`, character by character. Called by `parser.py` only.
"""

import re
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from vaultroom.policy.cel.errors import CelCompileError, compile_error
from vaultroom.policy.cel.limits import SOURCE_CHARACTERS
from vaultroom.policy.cel.strings import read_string
from vaultroom.policy.cel.types import Type
from vaultroom.policy.cel.values import UINT_LIMIT, UInt


class TokenKind(Enum):
    """What a token is. An `INTEGER` may still take a minus sign; every other constant is a `LITERAL`."""

    NAME = auto()
    OPERATOR = auto()
    INTEGER = auto()
    LITERAL = auto()
    END = auto()


class Token(NamedTuple):
    """`text` as written; `value` and `type` for literals; `start` and `end` are offsets into the source."""

    kind: TokenKind
    text: str
    start: int
    end: int
    value: Any = None
    type: Type = Type.DYN

    @property
    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end of the expression" if self.kind is TokenKind.END else repr(self.text)


_TOKEN: Final = re.compile(
    r"""
      (?P<space>   [ \t\r\n\f]+ | //[^\n]* )
    | (?P<double>  [0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+ | \.[0-9]+(?:[eE][+-]?[0-9]+)? )
    | (?P<number>  (?:0x[0-9a-fA-F]+ | [0-9]+)[uU]? )
    | (?P<string>  (?:[bB][rR]?|[rR])?(?:\"\"\"|'''|"|') )
    | (?P<name>    [_a-zA-Z][_a-zA-Z0-9]* )
    | (?P<operator> == | != | <= | >= | && | \|\| | [-+*/%!<>?:.,()\[\]{}] )
    """,
    re.VERBOSE,
)
_CONSTANTS: Final = {"true": (True, Type.BOOL), "false": (False, Type.BOOL), "null": (None, Type.NULL)}
_HINTS: Final = {
    "=": "write == to compare",
    "&": "write && for 'and'",
    "|": "write || for 'or'",
    "“": "use straight quotes",
    "”": "use straight quotes",
    "„": "use straight quotes",
    "‘": "use straight quotes",
    "’": "use straight quotes",
    "`": 'write x["name"] for a name with unusual characters',
    ";": "an expression is one line of logic, without a semicolon",
    "#": "a comment starts with //",
    "\u00a0": "this is a no-break space; use a normal one",
}


def tokenize(source: str) -> list[Token]:
    """The tokens of `source`, the last one of kind `END`. Raises CelCompileError."""
    if len(source) > SOURCE_CHARACTERS:
        raise compile_error(
            source,
            0,
            f"expected at most {SOURCE_CHARACTERS} characters, found an expression of {len(source)}",
        )
    tokens: list[Token] = []
    offset = 0
    while offset < len(source):
        match = _TOKEN.match(source, offset)
        if match is None:
            raise _unexpected_character(source, offset)
        kind, text = match.lastgroup, match.group()
        end = match.end()
        if kind == "string":
            token = _string(source, offset, text)
            tokens.append(token)
            end = token.end
        elif kind != "space":
            if text == "==" and source.startswith("=", end):
                raise compile_error(source, offset, "expected ==, found ===")
            tokens.append(_token(source, kind, text, offset, end))
        offset = end
    tokens.append(Token(TokenKind.END, "", offset, offset))
    return tokens


def _token(source: str, kind: str | None, text: str, start: int, end: int) -> Token:
    if kind == "name":
        if text in _CONSTANTS:
            value, type_ = _CONSTANTS[text]
            return Token(TokenKind.LITERAL, text, start, end, value, type_)
        return Token(TokenKind.OPERATOR if text == "in" else TokenKind.NAME, text, start, end)
    if kind == "double":
        number = float(text)
        if number == float("inf"):
            raise compile_error(source, start, f"the number {text} is too large for a double")
        return Token(TokenKind.LITERAL, text, start, end, number, Type.DOUBLE)
    if kind == "number":
        return _number(source, text, start, end)
    return Token(TokenKind.OPERATOR, text, start, end)


def _number(source: str, text: str, start: int, end: int) -> Token:
    digits = text.rstrip("uU")
    hexadecimal = digits.startswith("0x")
    if not hexadecimal and len(digits) > 1 and digits.startswith("0"):
        plain = digits.lstrip("0") or "0"
        raise compile_error(source, start, f"a number has no leading zero: write {plain}")
    number = int(digits, 16 if hexadecimal else 10) if len(digits) < 24 else UINT_LIMIT
    if digits == text:
        return Token(TokenKind.INTEGER, text, start, end, number, Type.INT)
    if number >= UINT_LIMIT:
        raise compile_error(source, start, f"the number {text} is too large for a uint")
    return Token(TokenKind.LITERAL, text, start, end, UInt(number), Type.UINT)


def _string(source: str, start: int, opening: str) -> Token:
    quote = opening.lstrip("bBrR")
    prefix = opening[: len(opening) - len(quote)].lower()
    value, end = read_string(source, start, prefix, quote)
    return Token(
        TokenKind.LITERAL, source[start:end], start, end, value, Type.BYTES if "b" in prefix else Type.STRING
    )


def _unexpected_character(source: str, offset: int) -> CelCompileError:
    character = source[offset]
    hint = _HINTS.get(character)
    message = f"unexpected character {character!r}"
    return compile_error(source, offset, f"{message}: {hint}" if hint else message)

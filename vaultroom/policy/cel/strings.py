"""String and bytes literals: quotes, raw and triple forms, escapes. One pass, no backtracking.

Called by `tokens.py` only. Escapes are those of the CEL specification; an unknown one is an error, never
itself.
"""

from typing import Final

from vaultroom.policy.cel.errors import compile_error

_SIMPLE_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    '"': '"',
    "'": "'",
    "\\": "\\",
    "`": "`",
    "?": "?",
}
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_OCTAL_DIGITS: Final = frozenset("01234567")
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_CODE_POINT: Final = 0x10FFFF


def read_string(source: str, start: int, prefix: str, quote: str) -> tuple[str | bytes, int]:
    """The value of the literal that begins at `start` with `prefix` (r, b, br or empty) and `quote`, and its
    end.

    Raises CelCompileError for an unterminated literal or a bad escape.
    """
    raw, is_bytes, triple = "r" in prefix, "b" in prefix, len(quote) == 3
    parts: list[bytes | str] = []
    offset = start + len(prefix) + len(quote)
    while not source.startswith(quote, offset):
        character = source[offset : offset + 1]
        if not character or (character in "\r\n" and not triple):
            raise compile_error(source, start, f"this string is not closed: expected {quote}")
        if character == "\\" and not raw:
            part, offset = _read_escape(source, offset, is_bytes)
        else:
            if ord(character) in _SURROGATES:
                raise compile_error(
                    source, offset, "a string literal must be valid Unicode, found a lone surrogate"
                )
            part, offset = character, offset + 1
        parts.append(part)
    end = offset + len(quote)
    if is_bytes:
        return b"".join(part if isinstance(part, bytes) else part.encode() for part in parts), end
    return "".join(part for part in parts if isinstance(part, str)), end


def _read_escape(source: str, offset: int, is_bytes: bool) -> tuple[str | bytes, int]:
    """The character (in a bytes literal, the byte) that the escape at `offset` means, and its end."""
    letter = source[offset + 1 : offset + 2]
    if letter in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[letter], offset + 2
    if letter in ("x", "X"):
        return _code_point(source, offset, offset + 2, 2, 16, is_bytes)
    if letter and letter in "0123":
        return _code_point(source, offset, offset + 1, 3, 8, is_bytes)
    if letter in ("u", "U"):
        if is_bytes:
            raise compile_error(source, offset, f"\\{letter} is not allowed in a bytes literal: use \\x")
        return _code_point(source, offset, offset + 2, 4 if letter == "u" else 8, 16, is_bytes)
    if not letter:
        raise compile_error(source, offset, "this string is not closed: it ends in a backslash")
    raise compile_error(
        source, offset, f'unknown escape \\{letter}: write \\\\{letter}, or r"…" for a string without escapes'
    )


def _code_point(
    source: str, escape: int, first: int, width: int, base: int, is_bytes: bool
) -> tuple[str | bytes, int]:
    digits = source[first : first + width]
    allowed = _HEX_DIGITS if base == 16 else _OCTAL_DIGITS
    if len(digits) < width or not allowed.issuperset(digits):
        kind = "hexadecimal" if base == 16 else "octal"
        raise compile_error(
            source, escape, f"expected {width} {kind} digits in this escape, found {digits!r}"
        )
    number = int(digits, base)
    if is_bytes:
        return bytes([number]), first + width
    if number > _LAST_CODE_POINT or number in _SURROGATES:
        raise compile_error(source, escape, "this escape is not a Unicode character")
    return chr(number), first + width

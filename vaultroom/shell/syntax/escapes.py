"""`$'…'`: the escapes of ANSI C quoting, as bash reads them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c[\x00-\x7f]|.)", re.DOTALL
)
_SIMPLE = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"e": b"\x1b",
    b"E": b"\x1b",
    b"f": b"\f",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}


def decode_escapes(text: str) -> str:
    """The text between the quotes of `$'…'`. Bytes that are no UTF-8 become lone surrogates.

    A NUL ends the string, as it does in bash. Raises ValueError for code points that do not exist.
    """
    if "\\" not in text:
        return text
    decoded = _ESCAPE.sub(_one, text.encode("utf-8", "surrogateescape"))
    return decoded.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _one(match: re.Match[bytes]) -> bytes:
    code = match[1]
    kind = code[:1]
    if kind == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if kind in b"uU" and len(code) > 1:
        return chr(int(code[1:], 16)).encode("utf-8")
    if kind in b"01234567":
        return bytes([int(code, 8) & 0xFF])
    if kind == b"c" and len(code) > 1:
        return bytes([code[1] & 0x1F])
    return _SIMPLE.get(code, b"\\" + code)

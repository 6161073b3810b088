"""Text from an agent is hostile: make every character that could act on a screen visible.

Everything that reaches a person goes through `visible()` first (design, law 4): control characters
become their pictures (U+2400 block), and format, bidi, surrogate, private-use, unassigned and line
separating characters become `<U+XXXX>`. The result is safe to print on any terminal.
"""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LOOKALIKE_SPACES = frozenset({"Zs"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that no font draws."""
_VARIATIONS = ((0xFE00, 0xFE0F), (0x180B, 0x180F), (0xE0100, 0xE01EF))
"""Selectors that change or hide the character before them."""


def _mark(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def _acts(char: str) -> bool:
    code = ord(char)
    if char in _BLANK or any(first <= code <= last for first, last in _VARIATIONS):
        return True
    category = unicodedata.category(char)
    return category in _HIDDEN or (category in _LOOKALIKE_SPACES and char != " ")


def visible(text: str, *, keep_newlines: bool = False) -> str:
    """`text` with every character that is not plainly visible replaced by a mark.

    With `keep_newlines` a line feed stays a line feed (for cards that show several lines); all else,
    tabs and carriage returns too, is marked.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if (char == "\n" and keep_newlines) or not _acts(char) else _mark(char) for char in text
    )

"""Shell patterns (`*`, `?`, `[…]`) without regular expressions: the agent chooses both sides.

A pattern is matched in time proportional to its length times the length of the text.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[*?\[\]\\]")


def escape(text: str) -> str:
    """A pattern that matches `text` alone."""
    if _SPECIAL.search(text) is None:
        return text
    return "".join(f"\\{char}" if char in "*?[]\\" else char for char in text)


def is_magic(pattern: str) -> bool:
    """Whether the pattern has an unescaped special character."""
    index = 0
    while index < len(pattern):
        if pattern[index] == "\\":
            index += 2
            continue
        if pattern[index] in "*?" or (pattern[index] == "[" and _set_end(pattern, index)):
            return True
        index += 1
    return False


def unescape(pattern: str) -> str:
    """The text that a pattern without special characters stands for."""
    if "\\" not in pattern:
        return pattern
    kept: list[str] = []
    index = 0
    while index < len(pattern):
        if pattern[index] == "\\" and index + 1 < len(pattern):
            index += 1
        kept.append(pattern[index])
        index += 1
    return "".join(kept)


class Pattern:
    """One compiled pattern."""

    def __init__(self, pattern: str) -> None:
        self._tokens = _tokens(pattern)

    def matches(self, text: str) -> bool:
        """Whether the whole `text` matches."""
        tokens = self._tokens
        at, position = 0, 0
        star, resume = -1, 0
        while position < len(text):
            if at < len(tokens) and tokens[at] == "*":
                star, resume = at, position
                at += 1
            elif at < len(tokens) and _accepts(tokens[at], text[position]):
                at += 1
                position += 1
            elif star >= 0:
                resume += 1
                at, position = star + 1, resume
            else:
                return False
        while at < len(tokens) and tokens[at] == "*":
            at += 1
        return at == len(tokens)


def _accepts(token: str, char: str) -> bool:
    if token == "?":
        return True
    if token[0] == "\\":
        return token[1] == char
    negated = token[1:2] in ("!", "^")
    return _in_set(token[2 if negated else 1 :], char) != negated


def _in_set(members: str, char: str) -> bool:
    index = 0
    while index < len(members):
        if members.startswith("[:", index) and (end := members.find(":]", index + 2)) > 0:
            if _in_class(members[index + 2 : end], char):
                return True
            index = end + 2
        elif members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            if members[index] <= char <= members[index + 2]:
                return True
            index += 3
        else:
            if members[index] == char:
                return True
            index += 1
    return False


def _in_class(name: str, char: str) -> bool:
    match name:
        case "alpha":
            return char.isalpha()
        case "digit":
            return char in "0123456789"
        case "alnum":
            return char.isalnum()
        case "upper":
            return char.isupper()
        case "lower":
            return char.islower()
        case "space":
            return char.isspace()
        case "punct":
            return char.isprintable() and not char.isalnum() and not char.isspace()
        case "xdigit":
            return char in "0123456789abcdefABCDEF"
        case _:
            return True  # a class that is not known may hold anything


def _tokens(pattern: str) -> list[str]:
    """`*`, `?`, `\\x` for the character x, `[members` for a set."""
    tokens: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == "*":
            if tokens[-1:] != ["*"]:
                tokens.append("*")
        elif char == "?":
            tokens.append("?")
        elif char == "[" and (end := _set_end(pattern, index)) > 0:
            tokens.append("[" + pattern[index + 1 : end].replace("\\", ""))
            index = end
        else:
            if char == "\\" and index + 1 < len(pattern):
                index += 1
            tokens.append("\\" + pattern[index])
        index += 1
    return tokens


def _set_end(pattern: str, start: int) -> int:
    """Where the `]` of the set that begins at `start` stands; 0 if this is no set."""
    index = start + 1
    if pattern[index : index + 1] in ("!", "^"):
        index += 1
    first = index
    while index < len(pattern):
        char = pattern[index]
        if char == "]" and index > first:
            return index
        if char == "/":
            return 0
        if pattern.startswith("[:", index) and (end := pattern.find(":]", index + 2)) > 0:
            index = end + 2
            continue
        index += 2 if char == "\\" else 1
    return 0

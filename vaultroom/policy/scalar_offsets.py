"""Where each character of a YAML scalar's value stands in the file.

An error at the tenth character of a CEL expression must point into the file, through quotes, escapes,
folded lines and indentation. The scalar is read once more, keeping offsets; the value so read must equal
the parser's, otherwise every character is placed at the scalar's start, which is vague but not wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from vaultroom.policy.source import Scalar

_Placed = list[tuple[str, int]]
_HEX_DIGITS: Final = {"x": 2, "u": 4, "U": 8}
_ESCAPES: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_BLOCK_HEADER: Final = re.compile(r"[|>](?:[+-]?([1-9])?|([1-9])[+-]?)[ \t]*(?:#[^\n]*)?\n")


def scalar_offsets(text: str, scalar: Scalar) -> tuple[int, ...]:
    """The offset in `text` of each character of `scalar.value`, and one more for its end."""
    read = _READERS[scalar.style]
    placed = read(text, scalar)
    if "".join(char for char, _ in placed) != scalar.value:
        return (scalar.start,) * (len(scalar.value) + 1)
    end = placed[-1][1] + 1 if placed else scalar.start
    return (*(offset for _, offset in placed), end)


def _plain(text: str, scalar: Scalar) -> _Placed:
    return _flow(text, scalar.start, scalar.end, lambda _text, index: (text[index], index + 1))


def _single(text: str, scalar: Scalar) -> _Placed:
    def read(_text: str, index: int) -> tuple[str, int]:
        return text[index], index + (2 if text[index] == "'" else 1)

    return _flow(text, scalar.start + 1, scalar.end - 1, read)


def _double(text: str, scalar: Scalar) -> _Placed:
    return _flow(text, scalar.start + 1, scalar.end - 1, _escaped)


def _escaped(text: str, index: int) -> tuple[str, int]:
    """One character of a double-quoted scalar and the offset behind it; an escaped line break is none."""
    if text[index] != "\\":
        return text[index], index + 1
    letter = text[index + 1]
    if letter == "\n":
        after = index + 2
        while text[after] in " \t":
            after += 1
        return "", after
    digits = _HEX_DIGITS.get(letter)
    if digits is not None:
        return chr(int(text[index + 2 : index + 2 + digits], 16)), index + 2 + digits
    return _ESCAPES.get(letter, ""), index + 2


def _flow(text: str, start: int, end: int, read: Callable[[str, int], tuple[str, int]]) -> _Placed:
    """A scalar that may be folded: one break is a space, n+1 are n line feeds, blanks around them go."""
    placed: _Placed = []
    index = start
    while index < end:
        if text[index] in " \t\n":
            after = index
            while after < end and text[after] in " \t\n":
                after += 1
            blanks = text[index:after]
            breaks = blanks.count("\n")
            if not breaks:
                placed += [(char, index + position) for position, char in enumerate(blanks)]
            elif breaks == 1:
                placed.append((" ", index))
            else:
                feeds = [index + position for position, char in enumerate(blanks) if char == "\n"]
                placed += [("\n", offset) for offset in feeds[1:]]
            index = after
            continue
        char, after = read(text, index)
        if char:
            placed.append((char, index))
        index = after
    return placed


def _block(text: str, scalar: Scalar) -> _Placed:
    header = _BLOCK_HEADER.match(text, scalar.start)
    if header is None:
        return []
    lines = _block_lines(text, header.end(), scalar.end)
    indentation = _indentation(text, lines, scalar.value)
    placed = _literal(text, lines, indentation)
    if scalar.style == ">":
        placed = _folded(placed)
    # What is left over at the end was taken away by the chomping indicator.
    return placed[: len(scalar.value)]


def _block_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    while start < end or (start == end and not lines):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        lines.append((start, stop))
        start = stop + 1
    return lines


def _indentation(text: str, lines: list[tuple[int, int]], value: str) -> int:
    """How far the content is indented: the first line with text, less the spaces that its value keeps."""
    for start, stop in lines:
        line = text[start:stop]
        if line.strip(" "):
            kept = value.lstrip("\n")
            leading = len(line) - len(line.lstrip(" "))
            return leading - (len(kept) - len(kept.lstrip(" ")))
    return 0


def _literal(text: str, lines: list[tuple[int, int]], indentation: int) -> _Placed:
    placed: _Placed = []
    for start, stop in lines:
        content = min(start + indentation, stop)
        placed += [(text[index], index) for index in range(content, stop)]
        placed.append(("\n", stop))
    return placed


def _folded(placed: _Placed) -> _Placed:
    """Fold the breaks between two lines of text; lines that begin with a blank keep theirs."""
    result: _Placed = []
    index = 0
    while index < len(placed):
        if placed[index][0] != "\n":
            result.append(placed[index])
            index += 1
            continue
        after = index
        while after < len(placed) and placed[after][0] == "\n":
            after += 1
        breaks = placed[index:after]
        if _keeps_breaks(placed, index, after):
            result += breaks
        elif len(breaks) == 1:
            result.append((" ", breaks[0][1]))
        else:
            result += breaks[1:]
        index = after
    return result


def _keeps_breaks(placed: _Placed, index: int, after: int) -> bool:
    if index == 0 or after == len(placed):
        return True
    line = index
    while line > 0 and placed[line - 1][0] != "\n":
        line -= 1
    return placed[line][0] in " \t" or placed[after][0] in " \t"


_READERS: Final[dict[str, Callable[[str, Scalar], _Placed]]] = {
    "": _plain,
    "'": _single,
    '"': _double,
    "|": _block,
    ">": _block,
}

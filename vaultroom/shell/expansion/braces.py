"""Brace expansion: `{a,b}` and `{1..9}`, before anything else is expanded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultroom.shell.syntax.ast import Literal, Parameter, Part
from vaultroom.shell.syntax.limits import ShellSyntaxError

MOST_RESULTS = 512
_MOST_WORK = 60_000
_NUMBERS = re.compile(r"([-+]?\d{1,18})\.\.([-+]?\d{1,18})(?:\.\.([-+]?\d{1,18}))?")
_NAMED = re.compile(r"[A-Za-z0-9_]+")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?\d{1,18}))?")


def may_expand(parts: Sequence[Part]) -> bool:
    """Whether there is an unquoted brace that could matter."""
    unquoted = "".join(part.text for part in parts if isinstance(part, Literal) and not part.quoted)
    return "{" in unquoted and "}" in unquoted and ("," in unquoted or ".." in unquoted)


def expand_braces(parts: Sequence[Part]) -> list[tuple[Part, ...]]:
    """The words that the word of these parts becomes. Raises ShellSyntaxError when there are too many."""
    items: list[Part] = []
    if sum(len(part.text) for part in parts if isinstance(part, Literal) and not part.quoted) > _MOST_WORK:
        raise ShellSyntaxError("the word is too long for brace expansion")
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            items.extend(Literal(char) for char in part.text)
        else:
            items.append(part)
    return [_joined(word) for word in _Expansion().words(items)]


class _Expansion:
    def __init__(self) -> None:
        self._work = 0

    def _spend(self, amount: int) -> None:
        self._work += amount
        if self._work > _MOST_WORK:
            raise ShellSyntaxError("the brace expansion is too large")

    def words(self, items: list[Part], depth: int = 0) -> list[list[Part]]:
        if depth > 12:
            raise ShellSyntaxError("the brace expansion is nested too deeply")
        for start, item in enumerate(items):
            if not _is(item, "{"):
                continue
            found = self._closing(items, start)
            if found is None:
                continue
            end, commas = found
            middles = self._middles(items, start, end, commas, depth)
            if middles is None:
                continue
            before = items[:start]
            after = self.words(items[end + 1 :], depth + 1)
            if len(middles) * len(after) > MOST_RESULTS:
                raise ShellSyntaxError("the brace expansion is too large")
            self._spend(sum(len(before) + len(m) + len(a) for m in middles for a in after))
            return [before + middle + rest for middle in middles for rest in after]
        return [items]

    def _closing(self, items: list[Part], start: int) -> tuple[int, list[int]] | None:
        """Where the brace at `start` closes, and its commas."""
        depth = 0
        commas: list[int] = []
        for index in range(start, len(items)):
            self._spend(1)
            item = items[index]
            if _is(item, "{"):
                depth += 1
            elif _is(item, "}"):
                depth -= 1
                if depth == 0:
                    return index, commas
            elif depth == 1 and _is(item, ","):
                commas.append(index)
        return None

    def _middles(
        self, items: list[Part], start: int, end: int, commas: list[int], depth: int
    ) -> list[list[Part]] | None:
        if commas:
            middles: list[list[Part]] = []
            begin = start + 1
            for cut in (*commas, end):
                middles += self.words(items[begin:cut], depth + 1)
                begin = cut + 1
                if len(middles) > MOST_RESULTS:
                    raise ShellSyntaxError("the brace expansion is too large")
            return middles
        inner = items[start + 1 : end]
        if not all(isinstance(item, Literal) and not item.quoted for item in inner):
            return None
        text = "".join(item.text for item in inner if isinstance(item, Literal))
        values = _sequence(text)
        return None if values is None else [[Literal(value)] for value in values]


def _sequence(text: str) -> list[str] | None:
    """`1..5`, `01..10..2`, `a..e`: the values; None if the text is no sequence."""
    match = _NUMBERS.fullmatch(text)
    if match is not None:
        values = _range(int(match[1]), int(match[2]), match[3])
        ends = [match[1].lstrip("-+"), match[2].lstrip("-+")]
        padded = any(len(end) > 1 and end[0] == "0" for end in ends)
        width = max(len(match[1]), len(match[2])) if padded else 0
        return [str(value).zfill(width) for value in values]
    match = _LETTERS.fullmatch(text)
    if match is not None:
        return [chr(value) for value in _range(ord(match[1]), ord(match[2]), match[3])]
    return None


def _range(first: int, last: int, step: str | None) -> range:
    stride = abs(int(step or 1)) or 1
    if abs(last - first) // stride >= MOST_RESULTS:
        raise ShellSyntaxError("the brace expansion is too large")
    return range(first, last + 1, stride) if first <= last else range(first, last - 1, -stride)


def _is(item: Part, char: str) -> bool:
    return isinstance(item, Literal) and not item.quoted and item.text == char


def _joined(items: list[Part]) -> tuple[Part, ...]:
    parts: list[Part] = []
    run: list[str] = []
    for item in items:
        if isinstance(item, Literal) and not item.quoted:
            before = parts[-1] if parts and not run else None
            if (
                isinstance(before, Parameter)
                and before.is_bare
                and not before.quoted
                and _NAMED.match(item.text)
            ):
                parts[-1] = before._replace(name=before.name + item.text)
                continue
            run.append(item.text)
            continue
        if run:
            parts.append(Literal("".join(run)))
            run = []
        parts.append(item)
    if run:
        parts.append(Literal("".join(run)))
    return tuple(parts)

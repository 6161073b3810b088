"""The language of path globs: text to segments (policy language, "Paths").

`*` and `?` stay within a segment, `**` stands alone between slashes and means any number of segments,
`[abc]` `[a-z]` `[!abc]` are one character, `{a,b}` are alternatives. `~` at the start is the home folder,
`$NAME` and `${NAME}` are environment variables. A star, bracket, brace or dollar of a file's own name is
written as a class: `[*]`. What is found in a variable or in the home's name is literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from vaultroom.policy.matchers.variables import expand_variables

LONGEST: Final = 4_096
MOST_SEGMENTS: Final = 128
MOST_ALTERNATIVES: Final = 64
_SPECIAL: Final = frozenset("*?[]{}$\\")


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class AnyCharacter:
    """`?`: one character, not a slash."""


@dataclass(frozen=True, slots=True)
class AnyRun:
    """`*`: any characters of one segment, also none."""


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """`[a-z]`: one character of the inclusive ranges, or with `negated` of none; never a slash."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool


Token = Literal | AnyCharacter | AnyRun | CharacterClass


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands between two slashes. `deep` is `**`, any number of segments; it has no tokens."""

    tokens: tuple[Token, ...] = ()
    deep: bool = False

    @property
    def literal(self) -> str | None:
        """The segment's text when it has no wildcard, else None."""
        match self.tokens:
            case (Literal(text),):
                return text
            case _:
                return None


DEEP: Final = Segment(deep=True)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One glob without braces. `relative`: below the session's start directory.

    `up` counts the `..` that lead out of the start directory; other `..` are already resolved.
    """

    segments: tuple[Segment, ...]
    relative: bool
    up: int = 0

    def anchored(self, directory: str) -> tuple[Segment, ...]:
        """Its segments from the root, for a session that starts in `directory` (absolute)."""
        if not self.relative:
            return self.segments
        base = [part for part in directory.split("/") if part]
        kept = base[: max(len(base) - self.up, 0)]
        return (*(Segment((Literal(part),)) for part in kept), *self.segments)


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob as written, and what it means."""

    text: str
    alternatives: tuple[Alternative, ...]


def parse_glob(text: str, *, home: str, environ: Mapping[str, str]) -> Glob:
    """Read a glob. Raises ValueError, saying what is wrong.

    A glob that starts with `**` means anywhere; any other that does not start with `/` or `~` is relative.
    """
    if not text:
        raise ValueError("expected a path glob, found an empty text")
    if len(text) > LONGEST:
        raise ValueError(f"expected a path glob of at most {LONGEST} characters, found {len(text)}")
    if "\0" in text:
        raise ValueError("expected a path glob without NUL characters")
    if "\\" in text:
        raise ValueError(
            f"expected '/' between segments and [*] for a literal star, found a backslash in {text!r}"
        )
    expanded = expand_variables(text, environ, quote=quote_literal)
    return Glob(text, tuple(_parse_alternative(one, home) for one in expand_braces(expanded)))


def quote_literal(text: str) -> str:
    """`text` with its special characters as classes, so that a glob takes them literally."""
    return "".join(f"[{char}]" if char in _SPECIAL else char for char in text)


def expand_braces(text: str) -> list[str]:
    """The texts that `{a,b}` stands for, nested ones too, in order. Raises ValueError for broken braces."""
    pending = [text]
    finished: list[str] = []
    while pending:
        current = pending.pop()
        group = _innermost_braces(current)
        if group is None:
            finished.append(current)
            continue
        start, commas, end = group
        if not commas:
            raise ValueError("expected at least two alternatives in {…}; write [{] for a literal brace")
        cuts = [start, *commas, end]
        choices = [current[left + 1 : right] for left, right in pairwise(cuts)]
        if len(pending) + len(finished) + len(choices) > MOST_ALTERNATIVES:
            raise ValueError(f"expected at most {MOST_ALTERNATIVES} alternatives from braces")
        pending.extend(current[:start] + choice + current[end + 1 :] for choice in reversed(choices))
    return list(dict.fromkeys(finished))


def _innermost_braces(text: str) -> tuple[int, list[int], int] | None:
    """The first brace that closes: the offsets of `{`, its commas and `}`. Classes are skipped."""
    opened: list[tuple[int, list[int]]] = []
    index = 0
    while index < len(text):
        char = text[index]
        if char == "[":
            index = class_end(text, index)
        elif char == "{":
            opened.append((index, []))
        elif char == "," and opened:
            opened[-1][1].append(index)
        elif char == "}":
            if not opened:
                raise ValueError("expected '{' before '}'; write [}] for a literal brace")
            start, commas = opened[-1]
            return start, commas, index
        index += 1
    if opened:
        raise ValueError("expected '}' after '{'; write [{] for a literal brace")
    return None


def class_end(text: str, start: int) -> int:
    """The offset of the `]` that closes the class opened at `start`. Raises ValueError when there is none."""
    first = start + 1
    if text[first : first + 1] in ("!", "^"):
        first += 1
    end = text.find("]", first + 1)
    if end < 0:
        raise ValueError("expected ']' after '['; write [[] for a literal bracket")
    return end


def _parse_alternative(text: str, home: str) -> Alternative:
    if text.startswith("~"):
        if text != "~" and not text.startswith("~/"):
            raise ValueError(f"expected ~ or ~/…, found another user's home: {text!r}")
        if not home.startswith("/"):
            raise ValueError(f"expected an absolute home folder for ~, found {home!r}")
        text = quote_literal(home) + text[1:]
    if not text:
        raise ValueError("expected text in every alternative of {…} that is a whole path")
    relative = not text.startswith("/")
    parts = text.split("/")
    if relative and parts[0] == "**":
        relative = False
    if len(parts) > MOST_SEGMENTS:
        raise ValueError(f"expected at most {MOST_SEGMENTS} segments in a path glob, found {len(parts)}")
    segments: list[Segment] = []
    up = 0
    for part in parts:
        if part in ("", "."):
            continue
        if part != "..":
            segments.append(_parse_segment(part))
        elif not segments:
            up += relative
        elif segments[-1].literal is None:
            raise ValueError("expected no '..' after a wildcard in a path glob")
        else:
            segments.pop()
    return Alternative(tuple(segments), relative, up)


def _parse_segment(part: str) -> Segment:
    if part == "**":
        return DEEP
    if "**" in part and "[" not in part:
        raise ValueError(
            f"expected ** to stand alone between slashes, found {part!r}; write **/{part.replace('**', '*')}"
        )
    tokens: list[Token] = []
    index = 0
    while index < len(part):
        char = part[index]
        if char == "*":
            if tokens and isinstance(tokens[-1], AnyRun):
                raise ValueError(f"expected ** to stand alone between slashes, found {part!r}")
            tokens.append(AnyRun())
        elif char == "?":
            tokens.append(AnyCharacter())
        elif char == "[":
            end = class_end(part, index)
            _append(tokens, _parse_class(part[index + 1 : end]))
            index = end
        else:
            _append(tokens, Literal(char))
        index += 1
    return Segment(tuple(tokens))


def _append(tokens: list[Token], token: Token) -> None:
    """Add a token; neighbouring literals become one, and a class of one character is a literal."""
    if isinstance(token, CharacterClass) and not token.negated and len(token.ranges) == 1:
        low, high = token.ranges[0]
        if low == high:
            token = Literal(low)
    if isinstance(token, Literal) and tokens and isinstance(tokens[-1], Literal):
        token = Literal(tokens.pop().text + token.text)  # type: ignore[union-attr]
    tokens.append(token)


def _parse_class(body: str) -> CharacterClass:
    negated = body[0] in "!^" and len(body) > 1
    members = body[1:] if negated else body
    if members.startswith("[:") and members.endswith(":"):
        raise ValueError(f"expected characters or ranges like a-z in [...], found a class name {members}]")
    ranges: list[tuple[str, str]] = []
    index = 0
    while index < len(members):
        low = members[index]
        if members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            high = members[index + 2]
            index += 3
        else:
            high = low
            index += 1
        if low > high:
            raise ValueError(f"expected an ascending range in [...], found {low}-{high}")
        ranges.append((low, high))
    if any(low == high == "/" for low, high in ranges):
        raise ValueError("expected no slash in [...]: a class is one character of one segment")
    return CharacterClass(tuple(ranges), negated)

"""Path globs as RE2 patterns, and one index over all globs of a policy.

Paths are compared absolute and with symbolic links resolved, so a glob matches in two spellings: as
written, and with its literal beginning resolved.

*Strict* rules (deny and require_approval) compare in a forgiving way: without regard to case, and in
Unicode's composed form, because a file system may take two spellings for one file. An allow compares
character by character. They also match a recursive act on a folder above what they protect.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from vaultroom.policy.matchers.globs import (
    AnyCharacter,
    AnyRun,
    CharacterClass,
    Glob,
    Literal,
    Segment,
    Token,
    parse_glob,
)
from vaultroom.policy.re2 import UNKNOWN_CHARACTER, PatternSet

__all__ = ["Glob", "GlobUse", "PathIndex", "glob_spellings", "parse_glob", "segments_regex"]

Resolve = Callable[[str], str]

_NEVER: Final = r"[^\x00-\x{10FFFF}]"
_REGEX_SPECIAL: Final = frozenset(r"\.+*?()|[]{}^$")


@dataclass(frozen=True, slots=True)
class GlobUse:
    """A rule's glob: the rule's position in the policy, and whether the rule is strict."""

    rule: int
    glob: Glob
    strict: bool


def glob_spellings(glob: Glob, *, cwd: str, resolve: Resolve) -> list[tuple[Segment, ...]]:
    """The glob's alternatives from the root: as written, and with the literal beginning resolved."""
    result: list[tuple[Segment, ...]] = []
    for alternative in glob.alternatives:
        segments = alternative.anchored(cwd)
        if segments not in result:
            result.append(segments)
        resolved = _resolved(segments, resolve)
        if resolved not in result:
            result.append(resolved)
    return result


def _resolved(segments: tuple[Segment, ...], resolve: Resolve) -> tuple[Segment, ...]:
    names: list[str] = []
    for segment in segments:
        if segment.literal is None:
            break
        names.append(segment.literal)
    if not names:
        return segments
    found = resolve("/" + "/".join(names))
    parts = tuple(Segment((Literal(part),)) for part in found.split("/") if part)
    return parts + segments[len(names) :]


def segments_regex(segments: Sequence[Segment], *, strict: bool = False) -> str:
    """A regular expression for exactly the absolute paths that the segments match."""
    if not segments:
        return "/"
    parts = []
    for position, segment in enumerate(segments):
        if not segment.deep:
            parts.append("/" + _segment_regex(segment, strict=strict))
        elif position < len(segments) - 1:
            parts.append("(?:/[^/]+)*")
        else:
            parts.append("(?s:(?:/.*)?)")
    if all(segment.deep for segment in segments):
        return "(?s:/.*)"
    return "".join(parts)


def ancestors_regex(segments: Sequence[Segment]) -> str:
    """A regular expression for the folders on the way to what the segments before the first `**` match.

    Only strict rules ask for it.
    """
    pattern = ""
    for segment in reversed(_before_deep(segments)):
        pattern = f"(?:/{_segment_regex(segment, strict=True)}{pattern})?"
    return f"/|{pattern[:-1]}" if pattern else "/"


def _before_deep(segments: Sequence[Segment]) -> list[Segment]:
    kept: list[Segment] = []
    for segment in segments:
        if segment.deep:
            break
        kept.append(segment)
    return kept


def _segment_regex(segment: Segment, *, strict: bool) -> str:
    if segment.tokens == (AnyRun(),):
        return "[^/]+"  # a name is never empty, so `/*` does not match the root
    return "".join(_token_regex(token, strict=strict) for token in segment.tokens)


def _token_regex(token: Token, *, strict: bool) -> str:
    match token:
        case Literal(text):
            return _literal_regex(unicodedata.normalize("NFC", text) if strict else text, strict=strict)
        case AnyCharacter():
            return "[^/]"
        case AnyRun():
            return "[^/]*"
        case CharacterClass():
            return _class_regex(token)


def _literal_regex(text: str, *, strict: bool) -> str:
    """Escaped. A lone surrogate (undecodable byte) is an unknown character to a strict rule."""
    unknown = f"\\x{{{ord(UNKNOWN_CHARACTER):X}}}" if strict else _NEVER
    return "".join(
        unknown if "\ud800" <= char <= "\udfff" else "\\" + char if char in _REGEX_SPECIAL else char
        for char in text
    )


def _class_regex(token: CharacterClass) -> str:
    members = "".join(
        f"\\x{{{ord(low):X}}}-\\x{{{ord(high):X}}}" for low, high in _without_slash(token.ranges)
    )
    if token.negated:
        return f"[^/{members}]"
    return f"[{members}]" if members else _NEVER


def _without_slash(ranges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    kept = []
    for low, high in ranges:
        if low <= "/" <= high:
            kept += [(low, "."), ("0", high)]
        else:
            kept.append((low, high))
    return [(low, high) for low, high in kept if low <= high]


class PathIndex:
    """All globs of a policy in one RE2 set: a path in, one bit for each rule that matches out."""

    __slots__ = ("_ancestor_rules", "_ancestors", "_rules", "_set", "_strict_rules")

    def __init__(self, uses: Iterable[GlobUse], *, cwd: str, resolve: Resolve) -> None:
        """Raises ValueError when RE2 refuses a pattern."""
        patterns: dict[str, int] = {}
        ancestors: dict[str, int] = {}
        self._strict_rules = 0
        for use in uses:
            bit = 1 << use.rule
            if use.strict:
                self._strict_rules |= bit
            for segments in glob_spellings(use.glob, cwd=cwd, resolve=resolve):
                pattern = segments_regex(segments)
                if use.strict:
                    folded = f"(?i:{segments_regex(segments, strict=True)})"
                    patterns[folded] = patterns.get(folded, 0) | bit
                    above = f"(?i:{ancestors_regex(segments)})"
                    ancestors[above] = ancestors.get(above, 0) | bit
                if not use.strict or _has_negated_class(segments):
                    patterns[pattern] = patterns.get(pattern, 0) | bit
        self._set = PatternSet.full(list(patterns)) if patterns else None
        self._rules = tuple(patterns.values())
        self._ancestors = PatternSet.full(list(ancestors)) if ancestors else None
        self._ancestor_rules = tuple(ancestors.values())

    def matching(self, path: str, *, recursive: bool) -> int:
        """Bit i is set when rule i has a glob that matches `path` (absolute, without `..`).

        With `recursive`, also when a strict rule's glob lies below it. Raises RuntimeError when RE2 fails.
        """
        found = 0
        if self._set is not None:
            for position in self._set.matches(path):
                found |= self._rules[position]
        composed = path if path.isascii() else unicodedata.normalize("NFC", path)
        if composed != path and self._set is not None:
            for position in self._set.matches(composed):
                found |= self._rules[position] & self._strict_rules
        if recursive and self._ancestors is not None:
            for position in self._ancestors.matches(composed):
                found |= self._ancestor_rules[position]
        return found


def _has_negated_class(segments: Iterable[Segment]) -> bool:
    """Whether case folding could make the glob match less: `[!a]` without regard to case excludes `A` too."""
    return any(
        isinstance(token, CharacterClass) and token.negated
        for segment in segments
        for token in segment.tokens
    )

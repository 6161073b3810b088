"""Regular expressions that cannot be made slow: a typed door to RE2, the only one in the policy package.

Paths, commands and arguments are chosen by the agent, and a backtracking engine can be hung with a path of
two hundred characters. So nothing in `vaultroom.policy` matches such text with Python's `re`. This module is
the single place that imports the untyped `re2`; callers are the CEL compiler and the matchers.

Memory is bounded, RE2's own logging is off, and a bad pattern is a `ValueError` with RE2's explanation.

**Text that is not Unicode.** An argument that is not valid UTF-8 reaches Python with lone surrogates (one per
undecodable byte), which RE2 cannot read. Every lone surrogate is matched as one U+FFFD, "a character nobody
knows": no literal in a policy equals it, so an exact allow cannot match by accident, while `.`, `[^/]` and
the wildcards of a deny still cover it. Matching it as nothing, or dropping it, would let a stray byte slip
past a deny for `/etc/**`.
"""

from collections.abc import Sequence
from typing import Final

import re2 as _re2  # type: ignore[import-untyped,import-not-found,unused-ignore]

UNKNOWN_CHARACTER: Final = "\N{REPLACEMENT CHARACTER}"
PATTERN_MEMORY: Final = 1 << 20
"""Bytes one pattern may use, compiled and while matching; beyond that the pattern is refused."""
SET_MEMORY: Final = 64 << 20
"""Bytes one `PatternSet` may use; beyond that matching fails loudly (see `PatternSet.matches`)."""
_LONGEST_EXCERPT: Final = 60


class Pattern:
    """One compiled pattern. Immutable; any number of threads may use it at once."""

    __slots__ = ("_compiled", "source")

    def __init__(self, source: str, *, dot_all: bool = False) -> None:
        """Raises ValueError when RE2 does not accept `source`."""
        self.source: Final = source
        try:
            self._compiled = _re2.compile(_pattern_bytes(source), _options(PATTERN_MEMORY, dot_all=dot_all))
        except _re2.error as problem:
            raise ValueError(_explain(source, problem)) from None

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        return self._compiled.search(encode(text)) is not None

    def fullmatch(self, text: str) -> bool:
        """Whether the pattern matches the whole of `text`."""
        return self._compiled.fullmatch(encode(text)) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"


def compile_pattern(pattern: str, *, dot_all: bool = False) -> Pattern:
    """Compile `pattern`; with `dot_all`, `.` also matches a newline. Raises ValueError for a bad pattern."""
    return Pattern(pattern, dot_all=dot_all)


class PatternSet:
    """Many patterns matched in one pass over a text. Immutable; any number of threads may use it at once.

    RE2's set answers "nothing matches" when it runs out of memory. A first pattern that matches every text
    tells the two apart: if even that one is missing, `matches` raises instead of reporting no match.
    """

    __slots__ = ("_set", "size")

    def __init__(self, patterns: Sequence[str], *, whole_text: bool, dot_all: bool = False) -> None:
        """Raises ValueError for the first bad pattern. Use `full` or `search`, which say what they do."""
        options = _options(SET_MEMORY, dot_all=dot_all)
        self._set = _re2.Set.FullMatchSet(options) if whole_text else _re2.Set.SearchSet(options)
        self._set.Add(rb"(?s:.*)" if whole_text else b"")
        self.size: Final = len(patterns)
        for pattern in patterns:
            encoded = _pattern_bytes(pattern)
            try:
                self._set.Add(encoded)
            except _re2.error as problem:
                Pattern(pattern, dot_all=dot_all)  # says why; a set only says that it failed
                raise ValueError(_explain(pattern, problem)) from None
        try:
            self._set.Compile()
        except _re2.error:
            raise ValueError(f"{len(patterns)} regular expressions are too large together") from None

    @classmethod
    def full(cls, patterns: Sequence[str], *, dot_all: bool = False) -> "PatternSet":
        """A set whose patterns must match the whole text."""
        return cls(patterns, whole_text=True, dot_all=dot_all)

    @classmethod
    def search(cls, patterns: Sequence[str], *, dot_all: bool = False) -> "PatternSet":
        """A set whose patterns may match anywhere in the text."""
        return cls(patterns, whole_text=False, dot_all=dot_all)

    def matches(self, text: str) -> list[int]:
        """The positions (0-based, ascending) of the patterns that match `text`.

        Raises RuntimeError when RE2 failed: the caller must treat that as "cannot tell", never as "no match".
        """
        found = self._set.Match(encode(text))
        if not found or 0 not in found:
            raise RuntimeError("RE2 could not finish matching a set of patterns (out of memory)")
        return sorted(index - 1 for index in found if index)


def encode(text: str) -> bytes:
    """`text` as the UTF-8 that RE2 sees: each lone surrogate becomes one U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join(UNKNOWN_CHARACTER if "\ud800" <= char <= "\udfff" else char for char in text).encode()


def _pattern_bytes(pattern: str) -> bytes:
    try:
        return pattern.encode()
    except UnicodeEncodeError:
        raise ValueError("a regular expression must be valid Unicode, found a lone surrogate") from None


def _options(max_memory: int, *, dot_all: bool) -> _re2.Options:
    options = _re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = max_memory
    options.dot_nl = dot_all
    return options


def _explain(pattern: str, problem: Exception) -> str:
    reason = problem.args[0] if problem.args else "not accepted"
    if isinstance(reason, bytes):
        reason = reason.decode(errors="replace")
    excerpt = pattern if len(pattern) <= _LONGEST_EXCERPT else pattern[:_LONGEST_EXCERPT] + "…"
    return f"bad regular expression {excerpt!r}: {reason}"

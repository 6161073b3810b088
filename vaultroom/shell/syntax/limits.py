"""Bounds of reading: whatever an agent writes is read, or refused, within milliseconds."""

from __future__ import annotations

LONGEST_TEXT = 128 * 1024
"""Characters in one line or script; a longer one is not read at all."""
DEEPEST_NESTING = 24
"""Substitutions, groups and compound commands within one another."""
MOST_READING = 30_000
"""Units of reading per line: one for each piece of a word, more for commands and substitutions, and one for
64 characters of quoted text.
"""
LONGEST_ARITHMETIC = 4_096
"""Characters of one arithmetic expression."""


class ShellSyntaxError(ValueError):
    """The text is no shell script, or not one that this parser understands.

    `position` is where reading ended, in characters.
    """

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


class Limits:
    """What may still be read. One object serves a line and all scripts nested in it."""

    def __init__(self) -> None:
        self.left = MOST_READING
        self.depth = 0

    def spend(self, units: int) -> None:
        """Raises ShellSyntaxError when the text takes too much reading."""
        self.left -= units
        if self.left < 0:
            raise ShellSyntaxError("the text is too much to be read")

    def enter(self) -> None:
        """Go one level deeper; every `enter` has its `leave`. Raises ShellSyntaxError."""
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise ShellSyntaxError("the text is nested too deeply")

    def leave(self) -> None:
        self.depth -= 1

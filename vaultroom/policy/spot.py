"""Places in a text: offsets as lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the policy file; 1-based, in characters as an editor counts them."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class LineTable:
    """Where each line of a text begins."""

    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> LineTable:
        starts = [0]
        found = text.find("\n")
        while found >= 0:
            starts.append(found + 1)
            found = text.find("\n", found + 1)
        return cls(tuple(starts))

    def spot(self, offset: int) -> Spot:
        """The place of the character at `offset` (0-based)."""
        line = bisect_right(self.starts, offset)
        return Spot(line, offset - self.starts[line - 1] + 1)

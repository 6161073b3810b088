"""Tables of words, written the way a person reads them."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The blank-separated words of `text`."""
    return frozenset(text.split())

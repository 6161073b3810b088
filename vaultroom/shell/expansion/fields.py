"""Fields: what a word has become when a command sees it, known or not."""

from __future__ import annotations

from typing import NamedTuple

HOLE = "\ufdd0"
"""Stands in a text for what is not known. A noncharacter of Unicode; a line that has it is refused."""


class Field(NamedTuple):
    """One argument.

    `text` is its value with a HOLE for each unknown part. `shown` is what a person and a rule see: the
    value, or the word as written where that is not known. `guess` is the value if what is unknown were
    empty (or its default), where that says something; None otherwise. `may_vanish`: it may be no argument
    or several. `matches` are the paths that a glob gives; `too_many` says that there are more.
    """

    text: str
    shown: str
    known: bool = True
    guess: str | None = None
    may_vanish: bool = False
    matches: tuple[str, ...] = ()
    too_many: bool = False
    is_glob: bool = False


def plain_field(text: str) -> Field:
    return Field(text, text)

"""Did you mean: the word that somebody probably wanted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


def did_you_mean(word: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """` (did you mean 'x'?)` with a leading space, or an empty text when nothing is near.

    `synonyms` maps words of other tools to ours.
    """
    names = list(known)
    simple = word.strip().lower().replace("-", "_")
    guess = (synonyms or {}).get(simple)
    if guess is None:
        near = difflib.get_close_matches(simple, names, 1, 0.6)
        guess = near[0] if near else None
    return f" (did you mean {guess!r}?)" if guess else ""

"""ULIDs: 48 bits of milliseconds, then 80 bits, as 26 characters that sort by time.

The 80 bits are a 24-bit counter of this process and 56 random bits, so that ids of one millisecond sort in
the order in which they were made, without a lock. Own code, since the library for it takes longer to import
than a command of ours may take to start (docs/decisions/dependencies.md).
"""

from __future__ import annotations

import itertools
import os

from vaultroom import clock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CHARACTERS = frozenset(_ALPHABET)
_COUNTER_MASK = (1 << 24) - 1
LENGTH = 26

_counter = itertools.count(int.from_bytes(os.urandom(2)))  # next() is atomic


def new_ulid() -> str:
    """A fresh ULID."""
    milliseconds = clock.now_ns() // 1_000_000
    low = (next(_counter) & _COUNTER_MASK) << 56 | int.from_bytes(os.urandom(7))
    value = milliseconds << 80 | low
    return "".join([_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5)])


def is_ulid(text: str) -> bool:
    """Whether `text` has the shape of a ULID."""
    return len(text) == LENGTH and text[0] <= "7" and _CHARACTERS.issuperset(text)

"""ULIDs: 48 bits of milliseconds and 80 random bits, as 26 characters that sort by time.

Own code, since the library for it takes longer to import than a command of ours may take to start
(docs/decisions/dependencies.md).
"""

from __future__ import annotations

import os
import threading

from vaultroom import clock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CHARACTERS = frozenset(_ALPHABET)
_RANDOM_BITS = 80
LENGTH = 26

_lock = threading.Lock()
_last = 0


def new_ulid() -> str:
    """A fresh ULID, greater than every one that this process made before."""
    global _last
    fresh = (clock.now_ns() // 1_000_000) << _RANDOM_BITS | int.from_bytes(os.urandom(10))
    with _lock:
        value = _last = fresh if fresh > _last else _last + 1
    return "".join([_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5)])


def is_ulid(text: str) -> bool:
    """Whether `text` has the shape of a ULID."""
    return len(text) == LENGTH and text[0] <= "7" and _CHARACTERS.issuperset(text)

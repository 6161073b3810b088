"""Shell lines and argument lists with their secrets masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from vaultroom.masking.shapes import HINT, mask_flat_urls
from vaultroom.masking.words import Words, mask_script

_MOST_ROUNDS = 4
_Masked = TypeVar("_Masked", bytes, list[bytes])


def mask_text(text: str) -> str:
    """A shell line, or any other text, with its secrets masked.

    Stays the same when it is masked again.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if not HINT.search(encoded):
        return text
    return _settle(mask_script, encoded).decode("utf-8", "surrogatepass")


def mask_path(path: str) -> str:
    """A path with its secrets masked, also in a URL whose `//` became `/` when it was taken for a file."""
    encoded = path.encode("utf-8", "surrogatepass")
    if not HINT.search(encoded):
        return path
    masked = _settle(lambda text: mask_flat_urls(mask_script(text)), encoded)
    return masked.decode("utf-8", "surrogatepass")


def mask_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """A command's arguments with their secrets masked; as many as there were."""
    encoded = "\0".join(argv).encode("utf-8", "surrogatepass")
    if not HINT.search(encoded):
        return tuple(argv)
    words = _settle(_mask_words, [word.encode("utf-8", "surrogatepass") for word in argv])
    return tuple(word.decode("utf-8", "surrogatepass") for word in words)


def _mask_words(words: list[bytes]) -> list[bytes]:
    reader = Words(literal=True, certain=True, depth=0)
    return [reader.mask(word) for word in words]


def _settle(mask: Callable[[_Masked], _Masked], value: _Masked) -> _Masked:
    """Mask until nothing changes any more: a mask may bring together what was apart."""
    for _ in range(_MOST_ROUNDS):
        before, value = value, mask(value)
        if value == before:
            break
    return value

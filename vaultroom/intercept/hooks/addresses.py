"""URLs in tool arguments → host and port. Strict: one reading, or none."""

from __future__ import annotations

from typing import NamedTuple

from vaultroom.errors import FrameError

LONGEST_URL = 65_536
"""Characters."""
_PORTS = {"http": 80, "https": 443}
_DIGITS = frozenset("0123456789")
_FORBIDDEN = frozenset("\\%<>\"'`{}|^*,;")


class Address(NamedTuple):
    """`host` in lower case, without brackets; IDNA is the policy's business."""

    host: str
    port: int


def address_of(url: str) -> Address:
    """Where an http(s) URL leads. Raises FrameError for credentials and whatever two programs could read
    differently.
    """
    if len(url) > LONGEST_URL:
        raise FrameError(f"expected a URL of at most {LONGEST_URL} characters, found {len(url)}")
    if any(char.isspace() or not char.isprintable() for char in url):
        raise FrameError(f"expected a URL without blanks and control characters, found {url!r:.80}")
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _PORTS:
        raise FrameError(f"expected a URL that begins with http:// or https://, found {url!r:.80}")
    end = next((index for index, char in enumerate(rest) if char in "/?#"), len(rest))
    authority = rest[:end]
    if "@" in authority:
        raise FrameError("expected a URL without a user name and password")
    if _FORBIDDEN.intersection(authority) or not authority:
        raise FrameError(f"expected a plain host in the URL, found {authority!r:.80}")
    host, port = _split_port(authority, url)
    return Address(host.lower().removesuffix("."), port or _PORTS[scheme])


def addresses_in(text: str) -> tuple[Address, ...]:
    """Every URL among the words of `text`, each as strict as in `address_of`."""
    return tuple(
        dict.fromkeys(address_of(word.strip("()<>[],.;'\"`")) for word in text.split() if "://" in word)
    )


def _split_port(authority: str, url: str) -> tuple[str, int]:
    if authority.startswith("["):
        host, bracket, after = authority[1:].partition("]")
        if not bracket or ":" not in host or (after and not after.startswith(":")):
            raise FrameError(f"expected an IPv6 address between brackets in the URL, found {url!r:.80}")
        digits = after.removeprefix(":") if after else None
    else:
        host, colon, text = authority.partition(":")
        digits = text if colon else None
    if not host.strip("."):
        raise FrameError(f"expected a host in the URL, found {url!r:.80}")
    if not digits:
        return host, 0
    if not _DIGITS.issuperset(digits) or len(digits) > 5 or not 0 < int(digits) < 65_536:
        raise FrameError(f"expected a port from 1 to 65535 in the URL, found {digits!r:.20}")
    return host, int(digits)

"""Host names: one spelling for each host, and the patterns that match them.

Rules and requests are brought to the same ASCII form, so that `BÜCHER.example.` and
`xn--bcher-kva.example` are one host and a look-alike in another script is a different one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_LONGEST_NAME: Final = 253
_LONGEST_LABEL: Final = 63
_LABEL_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_NUMERIC: Final = frozenset("0123456789")
_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def normalise_host(text: str) -> str:
    """The one spelling of a host: lower case, no trailing dot, IDNA A-labels; IP addresses without brackets.

    Strict, as a host that two programs read differently is how filters are passed: raises ValueError for a
    scheme, port, credentials, wildcard, white space, an empty label, and for numbers that some programs
    would read as an IPv4 address (`0x7f.1`, `2130706433`). An IPv4 address mapped into IPv6 becomes IPv4.
    """
    if not text:
        raise ValueError("expected a host, found an empty text")
    address = _address(text)
    if address is not None:
        return address
    _refuse_other_parts(text)
    name = text if text.isascii() else _to_ascii(text)
    name = name.lower()
    name = name[:-1] if name.endswith(".") else name
    if not name or len(name) > _LONGEST_NAME:
        raise ValueError(f"expected a host of 1 to {_LONGEST_NAME} characters, found {len(name)}")
    labels = name.split(".")
    for label in labels:
        _check_label(label, text)
    if _looks_like_number(labels[-1]):
        canonical = _address(name)
        if canonical is None:
            raise ValueError(f"expected an IPv4 address as four decimal numbers, found {text!r}")
        return canonical
    return name


def _address(text: str) -> str | None:
    """The canonical text of an IP address; None when `text` is not one."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") and ":" in text else text
    if "%" in bare or not bare.isascii():
        return None
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return str(found)


def _refuse_other_parts(text: str) -> None:
    if "://" in text:
        raise ValueError(f"expected a host without a scheme, found {text!r}")
    if "*" in text:
        raise ValueError(f"expected a host, or *.suffix, found a star in another place: {text!r}")
    if "@" in text:
        raise ValueError(f"expected a host without credentials, found {text!r}")
    if text.count(":") == 1:
        raise ValueError(f"expected a host without a port, found {text!r}; use event.port in cel")
    if "/" in text:
        raise ValueError(f"expected a host without a path or network, found {text!r}")


def _to_ascii(text: str) -> str:
    import idna

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise ValueError(f"expected a host name that IDNA accepts, found {text!r}: {error}") from None


def _check_label(label: str, text: str) -> None:
    if not label:
        raise ValueError(f"expected a host without empty parts between its dots, found {text!r}")
    if len(label) > _LONGEST_LABEL:
        raise ValueError(
            f"expected parts of at most {_LONGEST_LABEL} characters in a host, found {len(label)}"
        )
    if not _LABEL_CHARACTERS.issuperset(label):
        raise ValueError(f"expected letters, digits, '-' and '.' in a host, found {text!r}")
    if label[0] == "-" or label[-1] == "-":
        raise ValueError(f"expected no part of a host to begin or end with '-', found {text!r}")


def _looks_like_number(label: str) -> bool:
    if label.startswith("0x"):
        return _HEXADECIMAL.issuperset(label[2:])
    return _NUMERIC.issuperset(label)


@dataclass(frozen=True, slots=True)
class HostPattern:
    """One host, or with `subdomains` every host below it (but not the host itself)."""

    name: str
    subdomains: bool = False

    def matches(self, host: str) -> bool:
        """Whether it covers `host`, which must be normalised."""
        return host.endswith("." + self.name) if self.subdomains else host == self.name

    def __str__(self) -> str:
        return f"*.{self.name}" if self.subdomains else self.name


def parse_host_pattern(text: str) -> HostPattern:
    """A host or `*.suffix`. Raises ValueError, saying what is wrong (see `normalise_host`)."""
    if not text.startswith("*."):
        if text == "*":
            raise ValueError("expected a host or *.suffix, found '*'; leave the list out to match every host")
        return HostPattern(normalise_host(text))
    name = normalise_host(text[2:])
    if _address(name) is not None:
        raise ValueError(f"expected a whole IP address, found a pattern of one: {text!r}")
    return HostPattern(name, subdomains=True)


class HostSet:
    """Many patterns at once: a look-up for the host and one for each domain above it."""

    __slots__ = ("_exact", "_suffixes")

    def __init__(self, patterns: Iterable[HostPattern]) -> None:
        listed = tuple(patterns)
        self._exact = frozenset(pattern.name for pattern in listed if not pattern.subdomains)
        self._suffixes = frozenset(pattern.name for pattern in listed if pattern.subdomains)

    def matches(self, host: str) -> bool:
        """Whether one of the patterns covers `host`, which must be normalised."""
        if host in self._exact:
            return True
        suffixes = self._suffixes
        if suffixes:
            dot = host.find(".")
            while dot >= 0:
                if host[dot + 1 :] in suffixes:
                    return True
                dot = host.find(".", dot + 1)
        return False

"""Hosts out of arguments: URLs, `host:port`, and `user@host:path` as scp writes it.

A host comes out in lower case, without credentials, brackets or a trailing dot; IDNA is the policy's
business. Where two programs could read a text differently (`0x7f.1`, a backslash, a percent sign, a glob)
the endpoint is doubtful, and the text stays as typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

PORTS = {
    "http": 80,
    "https": 443,
    "ws": 80,
    "wss": 443,
    "ftp": 21,
    "ftps": 990,
    "sftp": 22,
    "scp": 22,
    "ssh": 22,
    "git": 9418,
    "rsync": 873,
    "telnet": 23,
    "ldap": 389,
    "ldaps": 636,
    "smtp": 25,
    "smtps": 465,
    "imap": 143,
    "imaps": 993,
    "pop3": 110,
    "pop3s": 995,
    "dict": 2628,
    "gopher": 70,
    "tftp": 69,
    "oci": 443,
    "redis": 6379,
    "socks4": 1080,
    "socks4a": 1080,
    "socks5": 1080,
    "socks5h": 1080,
    "postgres": 5432,
    "postgresql": 5432,
    "mysql": 3306,
    "mqtt": 1883,
    "rtsp": 554,
    "smb": 445,
    "smbs": 445,
}
"""The port that a scheme stands for."""

_ENDS_AUTHORITY = frozenset("/?#")
_DOUBTFUL = frozenset("\\%*{}$<>\"'`|^,;()= ")
_DIGITS = frozenset("0123456789")
_HEXADECIMAL = frozenset("0123456789abcdef")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789+-.")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a connection goes; `port` is 0 where unknown. `doubtful`: others may read it otherwise."""

    host: str
    port: int = 0
    doubtful: bool = False


class Url(NamedTuple):
    """`scheme` in lower case, "" where none was written; `path` begins with its slash, or is ""."""

    scheme: str
    authority: str
    path: str


def split_url(text: str) -> Url:
    """Cut like a URL parser: any number of slashes after the scheme, the authority up to `/`, `?` or `#`."""
    scheme, rest = _scheme(text)
    if scheme == "file":
        host, slash, path = rest[2:].partition("/") if rest.startswith("//") else ("", "/", rest[1:])
        return Url(scheme, host, slash + path)
    if scheme:
        rest = rest.lstrip("/")
    cut = next((index for index, char in enumerate(rest) if char in _ENDS_AUTHORITY), len(rest))
    return Url(scheme, rest[:cut], rest[cut:])


def _scheme(text: str) -> tuple[str, str]:
    name, colon, rest = text.partition(":")
    name = name.lower()
    if not colon or not name or not rest.startswith("/") or not _SCHEME.issuperset(name):
        return "", text
    if not rest.startswith("//") and name not in PORTS and name != "file":
        return "", text
    return name, rest


def is_url(text: str) -> bool:
    """Whether `text` is written with a scheme."""
    return _scheme(text)[0] != ""


def endpoint_of_url(text: str, port: int = 0) -> Endpoint | None:
    """The endpoint of a URL, with or without its scheme; None where there is no host.

    `port` is the one that counts where neither the text nor its scheme says another.
    """
    url = split_url(text)
    return endpoint(url.authority, PORTS.get(url.scheme, port))


def endpoint(authority: str, port: int = 0) -> Endpoint | None:
    """`user:secret@host:port` → its endpoint; None where there is no host."""
    text = authority.rpartition("@")[2]
    doubtful = not authority.isprintable() or "\\" in authority
    if text.startswith("["):
        host, closed, after = text[1:].partition("]")
        doubtful |= not closed or (after != "" and not after.startswith(":"))
        typed = after[1:]
    elif text.count(":") == 1:
        host, _, typed = text.partition(":")
    else:
        host, typed = text, ""
    host = host.lower()
    if ":" in host and "%" in host:
        host = host.partition("%")[0]
    if typed:
        number = _port(typed)
        doubtful |= number is None
        port = number or 0
    name = host.removesuffix(".")
    if not name:
        return None
    doubtful |= not _DOUBTFUL.isdisjoint(name) or _is_odd_number(name) or ".." in name or name[0] == "-"
    return Endpoint(name, port, doubtful)


def _port(text: str) -> int | None:
    if not text or len(text) > 5 or not _DIGITS.issuperset(text):
        return None
    return int(text) if int(text) < 65536 else None


def port_of(text: str) -> int:
    """The port that `text` spells; 0 where it is none (a service's name, a range)."""
    return _port(text) or 0


def _is_odd_number(name: str) -> bool:
    """Whether it is a number that only some programs read as an IPv4 address: `127.1`, `0x7f000001`."""
    if ":" in name:
        return False
    labels = name.split(".")
    last = labels[-1]
    if not (_DIGITS.issuperset(last) or (last.startswith("0x") and _HEXADECIMAL.issuperset(last[2:]))):
        return False
    plain = len(labels) == 4 and all(_is_octet(label) for label in labels)
    return not plain


def _is_octet(label: str) -> bool:
    return 0 < len(label) <= 3 and _DIGITS.issuperset(label) and str(int(label)) == label and int(label) < 256


class Spec(NamedTuple):
    """A file on another machine, as scp and rsync name it; `at` is None where no host could be read."""

    at: Endpoint | None
    path: str


def remote_spec(text: str, port: int = 22) -> Spec | None:
    """`user@host:path`, `[::1]:path`, `host::module`, `scp://host/path` → the host; None for a local path."""
    if is_url(text):
        url = split_url(text)
        return Spec(endpoint(url.authority, PORTS.get(url.scheme, port)), url.path)
    user, at, rest = text.partition("@")
    start = rest if at and "/" not in user and ":" not in user else text
    if start.startswith("[") and "]:" in start:
        cut = start.index("]:") + 1
    else:
        cut = start.find(":")
        if cut <= 0 or "/" in start[:cut]:
            return None
    path = start[cut + 1 :]
    if path.startswith(":"):
        return Spec(endpoint(start[:cut], 873), path[1:])
    return Spec(endpoint(start[:cut], port), path)

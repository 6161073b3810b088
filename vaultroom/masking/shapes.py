"""Secrets that can be told by their own shape, whatever stands around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vaultroom.masking.expressions import MASK_BYTES, compile_bytes
from vaultroom.masking.names import QUERY_NAMES, is_secret_name
from vaultroom.masking.programs import HINTS

TOKEN_SHAPES = (
    rb"sk-[A-Za-z0-9_-]{16,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    rb"|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{12,}|xox[abeprs]-[A-Za-z0-9-]{8,}"
    rb"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*"
    rb"|npm_[A-Za-z0-9]{24,}|hf_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{32,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"
)
_TOKEN = compile_bytes(rb"\b(?:" + TOKEN_SHAPES + rb")")
PEM = compile_bytes(
    rb"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----)(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{16,})+"
    rb"(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{1,15}(?:\s|\\n|\\r)*-----END)?"
)
_URL = compile_bytes(rb"([A-Za-z][A-Za-z0-9+.-]*://)([^/\s'\"`;&|<>()$?#\\]+)@")
_FLAT_URL = compile_bytes(
    rb"((?:\A|[^A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]+:/)([^/\s'\"`;&|<>()$?#\\:]+:[^/\s'\"`;&|<>()$?#\\]+)@"
)
"""A URL as a path shows it, where two slashes are one."""
_PAIR = compile_bytes(rb"([?&;,])([A-Za-z_][\w.\-\[\]]*)=([^?&;,#\s'\"`|<>()$\\]+)")
_HEADER = compile_bytes(
    rb"\b([A-Za-z][\w-]*)(:[ \t]*)((?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?"
    rb"([^\s'\"`;&|<>()$,]+)"
)
_JSON = compile_bytes(rb"(\")([A-Za-z_][\w.-]*)(\"\s*:\s*\")((?:[^\"\\`]|\\[^`])*)\"")
_ESCAPED_JSON = compile_bytes(rb"(\\\")([A-Za-z_][\w.-]*)(\\\"\s*:\s*\\\")([^\"\\`]*)\\\"")
HINT = compile_bytes(
    rb"(?i:pass|pwd|secret|token|key|auth|cred|cookie|bearer|jwt|sig=|signature|hmac|code=|://[^/\s]*@"
    rb"|private key|:/[^/\s:]+:[^/\s]+@|" + TOKEN_SHAPES + rb")"
    rb"|\b(?:" + b"|".join(sorted(HINTS)) + rb")\b"
)
"""Texts without any of these hold no secret: one search settles nearly every command."""
_LONGEST_PLAIN_USER = 12
"""A user name in an http URL that is longer is taken for a token."""


def mask_inside(word: bytes) -> bytes:
    """`word` with the secrets masked that can be told without what stands around it."""
    if not HINT.search(word):
        return word
    word = PEM.sub(lambda found: found.group(1) + MASK_BYTES, word)
    word = _TOKEN.sub(MASK_BYTES, word)
    word = _URL.sub(_mask_userinfo, word)
    word = _PAIR.sub(_mask_pair, word)
    word = _JSON.sub(_mask_json(b'"'), word)
    word = _ESCAPED_JSON.sub(_mask_json(b'\\"'), word)
    return bytes(_HEADER.sub(_mask_header, word))


def mask_flat_urls(path: bytes) -> bytes:
    """A path with the passwords masked of URLs that were taken for files: `/w/https:/user:x@host`."""
    return bytes(_FLAT_URL.sub(_mask_userinfo, path))


def _mask_userinfo(found: Any) -> bytes:
    scheme, userinfo = found.group(1), found.group(2)
    user, colon, _password = userinfo.partition(b":")
    if colon:
        return bytes(scheme + user + b":" + MASK_BYTES + b"@")
    if scheme.lower().startswith(b"http") and len(user) > _LONGEST_PLAIN_USER:
        return bytes(scheme + MASK_BYTES + b"@")
    return bytes(found.group(0))


def _mask_pair(found: Any) -> bytes:
    mark, name = found.group(1), found.group(2)
    if is_secret_name(name) or (mark in b"?&" and name.lower() in QUERY_NAMES):
        return bytes(mark + name + b"=" + MASK_BYTES)
    return bytes(found.group(0))


def _mask_json(quote: bytes) -> Callable[[Any], bytes]:
    def mask(found: Any) -> bytes:
        value = found.group(4)
        if not value or b"$(" in value or b"${" in value or not is_secret_name(found.group(2)):
            return bytes(found.group(0))
        return bytes(found.group(1) + found.group(2) + found.group(3) + MASK_BYTES + quote)

    return mask


def _mask_header(found: Any) -> bytes:
    name, colon, scheme, value = (found.group(index) or b"" for index in range(1, 5))
    if (
        not is_secret_name(name)
        or value.startswith(b"//")
        or (b"-" not in name and not colon[1:] and not scheme)
    ):
        return bytes(found.group(0))
    return bytes(name + colon + scheme + MASK_BYTES)

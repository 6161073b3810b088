"""Which names belong to secrets: options, variables, JSON members, headers and query parameters."""

from __future__ import annotations

from itertools import pairwise

from vaultroom.masking.expressions import compile_bytes

_SECRET_WORDS = frozenset(
    b"password passwd passphrase passcode pass pwd secret secrets token apikey credential credentials"
    b" bearer jwt authorization cookie cookies passkey".split()
)
_SECRET_ENDINGS = (
    b"password", b"passwd", b"passphrase", b"secret", b"token", b"apikey", b"accesskey", b"secretkey",
    b"authkey",
)  # fmt: skip
_KINDS_OF_KEY = frozenset(
    b"api access private secret encryption signing auth account master deploy subscription shared admin"
    b" client session license".split()
)
_HARMLESS_LAST = frozenset(
    b"file path id ids name names env url uri type length len count counts limit limits size ttl expiry"
    b" expires stdin prompt hint policy field fields header headers format algorithm version arn ref dir"
    b" store helper command cmd program script exec hook mode budget manager lifetime usage".split()
)
_HARMLESS_FIRST = frozenset(
    b"alias no without with max min num show hide skip use enable disable require".split()
)
_WORKING_FOLDERS = frozenset((b"PWD", b"OLDPWD", b"pwd"))
QUERY_NAMES = frozenset(b"key sig signature hmac code auth".split())
_CAMEL = compile_bytes(rb"([a-z0-9])([A-Z])")
_NOT_WORD = compile_bytes(rb"[^a-z0-9]+")


def is_secret_name(name: bytes) -> bool:
    """Whether a value under this name is a secret: `--db-password`, `apiKey`, but not `max_tokens` or
    `token-file`.
    """
    if name in _WORKING_FOLDERS or len(name) > 200:
        return False
    spaced = _NOT_WORD.sub(b" ", _CAMEL.sub(rb"\1 \2", name).lower())
    words = spaced.split()
    if not words or words[-1] in _HARMLESS_LAST or words[0] in _HARMLESS_FIRST:
        return False
    if words[-1] == b"auth" or not _SECRET_WORDS.isdisjoint(words):
        return True
    if any(word.endswith(_SECRET_ENDINGS) for word in words):
        return True
    return any(word == b"key" and kind in _KINDS_OF_KEY for kind, word in pairwise(words))

"""Secrets stay out: values that look like secrets become a fixed mask (design, law 8).

What is masked: the values of secret-named options, variables, JSON members and query parameters, passwords
in URLs, Authorization and Cookie headers, and texts with the shape of a known token. Only the value is
replaced, never its name, and never anything that a shell might run: an agent must not be able to hide a
command by dressing it up as a secret. Where a quoted text might be code after all (`sh -c 'Authorization:
x; rm -rf y'`), the mask ends at the first character that is special to a shell.

Everything here is deterministic and idempotent. Expressions run in RE2, over UTF-8 bytes seen as Latin-1,
so that undecodable arguments need no special case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import re2  # type: ignore[import-untyped,import-not-found,unused-ignore]

MASK: Final = "‹masked›"
MASK_BYTES: Final = MASK.encode()
TOO_DEEP: Final = "‹too deep›"
MOST_DEPTH: Final = 64
"""Nesting of tool arguments; what lies deeper is replaced by `TOO_DEEP`."""
LONGEST_READ: Final = 16 * 1024
"""Bytes of a text that is read word by word."""
_MOST_ROUNDS = 4
_SCRIPT_DEPTH: Final = 4
"""Scripts within quotes within scripts that are looked into."""

_Masked = TypeVar("_Masked", bytes, list[bytes])


def _compile(pattern: bytes) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(pattern, options)


# --- names -----------------------------------------------------------------------------------------

_SECRET_WORDS = frozenset(
    b"password passwd passphrase passcode pass pwd secret secrets token apikey credential credentials bearer jwt"
    b" authorization cookie cookies passkey".split()
)
_SECRET_ENDINGS = (
    b"password", b"passwd", b"passphrase", b"secret", b"token", b"apikey", b"accesskey", b"secretkey"
)  # fmt: skip
_KINDS_OF_KEY = frozenset(
    b"api access private secret encryption signing auth account master deploy subscription shared admin client"
    b" session license".split()
)
_HARMLESS_LAST = frozenset(
    b"file path id ids name names env url uri type length len count counts limit limits size ttl expiry expires stdin"
    b" prompt hint policy field fields header headers format algorithm version arn ref dir store helper mode budget"
    b" manager lifetime usage".split()
)
_HARMLESS_FIRST = frozenset(b"no without with max min num show hide skip use enable disable require".split())
_WORKING_FOLDERS = frozenset((b"PWD", b"OLDPWD", b"pwd"))
_QUERY_NAMES = frozenset(b"key sig signature hmac code auth".split())
_CAMEL = _compile(rb"([a-z0-9])([A-Z])")
_NOT_WORD = _compile(rb"[^a-z0-9]+")


def _is_secret_name(name: bytes) -> bool:
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
    return any(word == b"key" and kind in _KINDS_OF_KEY for kind, word in zip(words, words[1:], strict=False))


# --- shapes inside a word --------------------------------------------------------------------------

_TOKEN_SHAPES = (
    rb"sk-[A-Za-z0-9_-]{16,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    rb"|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{12,}|xox[abeprs]-[A-Za-z0-9-]{8,}"
    rb"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*"
    rb"|npm_[A-Za-z0-9]{24,}|hf_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{32,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"
)
_TOKEN = _compile(rb"\b(?:" + _TOKEN_SHAPES + rb")")
_PEM = _compile(
    rb"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----)(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{16,})+"
    rb"(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{1,15}(?:\s|\\n|\\r)*-----END)?"
)
_URL = _compile(rb"([A-Za-z][A-Za-z0-9+.-]*://)([^/\s'\"`;&|<>()$?#\\]+)@")
_PAIR = _compile(rb"([?&;,])([A-Za-z_][\w.\-\[\]]*)=([^?&;,#\s'\"`|<>()$\\]+)")
_HEADER = _compile(
    rb"\b([A-Za-z][\w-]*)(:[ \t]*)((?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?([^\s'\"`;&|<>()$,]+)"
)
_JSON = _compile(rb"(\")([A-Za-z_][\w.-]*)(\"\s*:\s*\")((?:[^\"\\`]|\\[^`])*)\"")
_ESCAPED_JSON = _compile(rb"(\\\")([A-Za-z_][\w.-]*)(\\\"\s*:\s*\\\")([^\"\\`]*)\\\"")
_LONGEST_PLAIN_USER = 12
"""A user name in an http URL that is longer is taken for a token."""


def _inside(word: bytes) -> bytes:
    """`word` with the secrets masked that can be told without what stands around it."""
    if not _HINT.search(word):
        return word
    word = _PEM.sub(lambda found: found.group(1) + MASK_BYTES, word)
    word = _TOKEN.sub(MASK_BYTES, word)
    word = _URL.sub(_mask_userinfo, word)
    word = _PAIR.sub(_mask_pair, word)
    word = _JSON.sub(_mask_json(b'"'), word)
    word = _ESCAPED_JSON.sub(_mask_json(b'\\"'), word)
    return bytes(_HEADER.sub(_mask_header, word))


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
    if _is_secret_name(name) or (mark in b"?&" and name.lower() in _QUERY_NAMES):
        return bytes(mark + name + b"=" + MASK_BYTES)
    return bytes(found.group(0))


def _mask_json(quote: bytes) -> Callable[[Any], bytes]:
    def mask(found: Any) -> bytes:
        value = found.group(4)
        if not value or b"$(" in value or b"${" in value or not _is_secret_name(found.group(2)):
            return bytes(found.group(0))
        return bytes(found.group(1) + found.group(2) + found.group(3) + MASK_BYTES + quote)

    return mask


def _mask_header(found: Any) -> bytes:
    name, colon, scheme, value = (found.group(index) or b"" for index in range(1, 5))
    if (
        not _is_secret_name(name)
        or value.startswith(b"//")
        or (b"-" not in name and not colon[1:] and not scheme)
    ):
        return bytes(found.group(0))
    return bytes(name + colon + scheme + MASK_BYTES)


# --- words of a command ----------------------------------------------------------------------------

_ATTACHED, _VALUE, _USER_AND_PASSWORD, _PERCENT, _COOKIES, _NOTHING = range(6)
_MYSQL = {b"-p": _ATTACHED, b"--password": _NOTHING}
_MONGO = {b"-p": _VALUE}
_SEVEN_ZIP = {b"-p": _ATTACHED}
_CURL = {
    b"-u": _USER_AND_PASSWORD, b"--user": _USER_AND_PASSWORD, b"-U": _USER_AND_PASSWORD,
    b"--proxy-user": _USER_AND_PASSWORD, b"-b": _COOKIES, b"--cookie": _COOKIES,
    b"--oauth2-bearer": _VALUE, b"--pass": _VALUE,
}  # fmt: skip
_HTTPIE = {b"-a": _USER_AND_PASSWORD, b"--auth": _USER_AND_PASSWORD}
_OPTIONS_OF: Mapping[bytes, Mapping[bytes, int]] = {
    **dict.fromkeys(
        b"mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mariadb-admin".split(), _MYSQL
    ),
    **dict.fromkeys(b"mongo mongosh mongodump mongorestore mongoexport mongoimport".split(), _MONGO),
    **dict.fromkeys(b"7z 7za 7zz".split(), _SEVEN_ZIP),
    **dict.fromkeys(b"rar unrar".split(), {b"-p": _ATTACHED, b"-hp": _ATTACHED}),
    **dict.fromkeys(b"http https httpie xh xhs".split(), _HTTPIE),
    **dict.fromkeys(b"ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami".split(), {b"-w": _VALUE}),
    **dict.fromkeys(b"zip unzip".split(), {b"-P": _VALUE}),
    b"curl": _CURL,
    b"wget": {},
    b"sshpass": {b"-p": _VALUE},
    b"redis-cli": {b"-a": _VALUE},
    b"login": {b"-p": _VALUE},
    b"smbclient": {b"-U": _PERCENT},
    b"openssl": {b"-k": _VALUE, b"-K": _VALUE, b"-pass": _NOTHING},
    b"ssh-keygen": {b"-N": _VALUE, b"-P": _VALUE},
}
"""Options whose value is a secret for one program alone. The key may also be a subcommand (`docker login
-p`).
"""
_HTTP_CLIENTS = frozenset(b"curl wget http https httpie xh xhs".split())
_FILE_PROGRAMS = frozenset(
    b"rm rmdir unlink mv cp ln dd truncate shred tee chmod chown chgrp find git-clean mkdir touch".split()
)
"""None of these has an option that takes a secret: their operands are never masked for their place."""

_HINT = _compile(
    rb"(?i:pass|pwd|secret|token|key|auth|cred|cookie|bearer|jwt|sig=|signature|hmac|code=|://[^/\s]*@|private key"
    rb"|mysql|mariadb|mongo|\b(?:7z|7za|7zz|rar|unrar|xh|xhs|https?|httpie|zip|unzip|curl|login|openssl|smbclient)\b"
    rb"|redis-cli|ldap|" + _TOKEN_SHAPES + rb")"
)
_OPTION = _compile(rb"(--?[A-Za-z][\w.-]*)(=?)")
_ASSIGNMENT = _compile(rb"[\w.\-/:@]+=")
_NAMING = frozenset((b"set", b"config"))
"""After these a bare secret name is followed by its value: `npm config set TOKEN x`."""
_TELLING = _NAMING | _OPTIONS_OF.keys() | _FILE_PROGRAMS
"""Words that change how later words are read."""
_HEADER_NAME = _compile(rb"[A-Za-z][\w-]*:")
_HEADER_START = _compile(
    rb"([A-Za-z][\w-]*):[ \t]*(?:(?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?"
)
_SCHEME = _compile(rb"(?i)(?:bearer|basic|token|digest|negotiate|apikey)")
_EXECUTES = _compile(rb"[$`]")
_SHELL_SPECIAL = _compile(rb"[\s;&|<>()`]")


class _Words:
    """Reads the words of commands from left to right and masks each.

    `literal` words come from an argv and mean what they are; others are pieces of shell text with their
    quotes. `certain` says that quotes in that text can be trusted (no here-document or comment that could
    turn them round).
    """

    def __init__(self, *, literal: bool, certain: bool, depth: int) -> None:
        self._literal = literal
        self._certain = certain
        self._depth = depth
        self.new_command()

    def new_command(self) -> None:
        self._program = b""
        self._expected: int | None = None
        self._after_header = False
        self._header_option = False
        self._naming = False
        self._calm = True

    def mask(self, word: bytes) -> bytes:
        """The word with its secrets masked; remembers what it says about the next one."""
        if self._calm and word.rpartition(b"/")[2] not in _TELLING and not _HINT.search(word):
            return word
        masked = self._mask(word)
        waits = self._expected is not None or self._after_header or self._header_option or self._naming
        self._calm = not waits and not self._program
        return masked

    def _mask(self, word: bytes) -> bytes:
        if self._expected is not None:
            kind, self._expected = self._expected, None
            if not (kind == _VALUE and word.startswith(b"-")):
                return self._value(word, kind)
        if self._after_header:
            self._after_header = _SCHEME.fullmatch(word) is not None
            return word if self._after_header else self._value(word, _VALUE)
        if self._header_option:
            self._header_option = False
            return self._header(word)
        return self._free(word)

    def _free(self, word: bytes, level: int = 0) -> bytes:
        if level > _SCRIPT_DEPTH:
            return self._script(word)
        bare = word.strip(b"'\"")
        base = bare.rpartition(b"/")[2]
        if base in _OPTIONS_OF or base in _FILE_PROGRAMS:
            self._program = base
        if bare in _NAMING:
            self._naming = True
            return word
        if self._naming and not word.startswith(b"-"):
            self._naming = False
            if b"=" not in bare and _is_secret_name(bare):
                self._expected = _VALUE
                return word
        masked = self._option(word, level) if word.startswith(b"-") else None
        if masked is not None:
            return masked
        assignment = _ASSIGNMENT.match(word.lstrip(b"'\""))
        if assignment:
            return self._assigned(word, assignment.end() + len(word) - len(word.lstrip(b"'\"")), level)
        if self._program == b"openssl" and bare.startswith(b"pass:"):
            cut = word.find(b"pass:") + 5
            return word[:cut] + self._value(word[cut:], _VALUE)
        if not self._literal and _HEADER_NAME.fullmatch(word):
            self._after_header = _is_secret_name(word[:-1])
        return self._script(word)

    def _option(self, word: bytes, level: int) -> bytes | None:
        found = _OPTION.match(word)
        if found is None:
            return None
        name, equals = found.group(1), found.group(2)
        special = _OPTIONS_OF.get(self._program, {})
        if name in special and (equals or found.end() == len(word)):
            return self._taken(word, found.end() if equals else 0, special[name])
        if not name.startswith(b"--"):
            for short, kind in special.items():
                if word.startswith(short) and len(word) > len(short) and not short.startswith(b"--"):
                    return word[: len(short)] + self._value(word[len(short) :], kind)
        if self._program in _HTTP_CLIENTS and word.startswith(b"-H") and len(word) > 2:
            return b"-H" + self._header(word[2:])
        if self._program in _HTTP_CLIENTS and name == b"--header" and equals:
            return word[: found.end()] + self._header(word[found.end() :])
        if name in (b"-H", b"--header") and found.end() == len(word):
            self._header_option = self._program in _HTTP_CLIENTS
            return word
        secret = self._program not in _FILE_PROGRAMS and len(name) > 3 and _is_secret_name(name)
        if secret and (equals or found.end() == len(word)):
            return self._taken(word, found.end() if equals else 0, _VALUE)
        if equals:
            return word[: found.end()] + self._free(word[found.end() :], level + 1)
        return None

    def _taken(self, word: bytes, cut: int, kind: int) -> bytes:
        """An option: with its value behind `=` at `cut`, or (0) in the next word."""
        if kind == _NOTHING:
            return word[:cut] + self._value(word[cut:], _VALUE) if cut else word
        if cut:
            return word[:cut] + self._value(word[cut:], kind)
        if kind != _ATTACHED:
            self._expected = kind
        return word

    def _assigned(self, word: bytes, cut: int, level: int) -> bytes:
        name = word[: cut - 1].lstrip(b"'\"")
        if not _is_secret_name(name.rpartition(b"/")[2]):
            if word[:1] in (b"'", b'"') and not self._literal:
                return self._script(word)
            return word[:cut] + self._free(word[cut:], level + 1) if len(word) > cut else word
        quote = word[:1] if word[:1] in (b"'", b'"') and not self._literal else b""
        if quote and word.endswith(quote) and len(word) > cut:
            masked = self._value(quote + word[cut:], _VALUE)
            return word[:cut] + masked.removeprefix(quote).removesuffix(quote) + quote
        return word[:cut] + self._value(word[cut:], _VALUE)

    def _value(self, value: bytes, kind: int) -> bytes:
        """The mask for a secret value; the value itself where it is empty or where a shell would run or
        expand it.
        """
        if not self._may_hide(value):
            return self._script(value)
        if kind in (_USER_AND_PASSWORD, _PERCENT):
            user, mark, password = value.partition(b":" if kind == _USER_AND_PASSWORD else b"%")
            return user + mark + MASK_BYTES if password else value
        if kind == _COOKIES and b"=" not in value:
            return value
        return MASK_BYTES

    def _header(self, word: bytes) -> bytes:
        """The argument of `-H`: masked from the colon to its end."""
        quote = word[:1] if word[:1] in (b"'", b'"') and not self._literal else b""
        whole = word[1:-1] if quote and word.endswith(quote) and word.count(quote) == 2 else word
        found = _HEADER_START.match(whole)
        if (quote and whole is word) or not found or not self._may_hide(word) or found.end() == len(whole):
            return self._script(word)
        return quote + whole[: found.end()] + MASK_BYTES + quote if _is_secret_name(found.group(1)) else word

    def _may_hide(self, value: bytes) -> bool:
        if not value.strip(b"'\""):
            return False
        if self._literal:
            return True
        if value[:1] == b"'" and value.find(b"'", 1) == len(value) - 1:
            return self._certain or not _SHELL_SPECIAL.search(value)
        return not _EXECUTES.search(value) and (self._certain or not _SHELL_SPECIAL.search(value))

    def _script(self, word: bytes) -> bytes:
        """A word that may itself be a script, a URL or JSON."""
        if not _HINT.search(word):
            return word
        if self._depth < _SCRIPT_DEPTH:
            if self._literal:
                return _mask_script(word, self._depth + 1) if _SHELL_SPECIAL.search(word) else _inside(word)
            for quote in (b"'", b'"'):
                start = word.find(quote)
                if start >= 0:
                    end = word.rfind(quote)
                    end = end if end > start else len(word)
                    inner = _mask_script(word[start + 1 : end], self._depth + 1)
                    return _inside(word[: start + 1] + inner + word[end:])
        return _inside(word)


# --- shell text ------------------------------------------------------------------------------------

_PIECE = _compile(
    rb"(?s)((?:'[^']*(?:'|\z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\z)|\\.|\\\z|[^\s;&|<>()'\"\\])+)"
    rb"|([ \t\r]+)|(.)"
)
_NAMED_VALUE = _compile(
    rb"((?:--?[A-Za-z][\w.-]{0,60}[=\s]|[\w.-]{0,60}(?i:pass|pwd|secret|token|key|auth|cred|cookie)[\w.-]{0,60}=))"
    rb"(['\"]?)([^\s'\"`;&|<>()$\\]+)"
)
_UNCERTAIN = _compile(rb"<<|#|\$['\"]")


def _mask_script(script: bytes, depth: int) -> bytes:
    if len(script) > LONGEST_READ:
        return _inside(_NAMED_VALUE.sub(_mask_named, script))
    reader = _Words(literal=False, certain=not _UNCERTAIN.search(script), depth=depth)
    pieces: list[bytes] = []
    for found in _PIECE.finditer(_PEM.sub(lambda pem: pem.group(1) + MASK_BYTES, script)):
        piece = found.group(0)
        if found.group(1) is not None:
            pieces.append(reader.mask(piece))
        else:
            pieces.append(piece)
            if found.group(3) is not None:
                reader.new_command()
    return b"".join(pieces)


def _mask_named(found: Any) -> bytes:
    name, quote, value = found.group(1), found.group(2), found.group(3)
    hide = not value.startswith(b"-") and _is_secret_name(name[:-1])
    return bytes(name + quote + MASK_BYTES) if hide else bytes(found.group(0))


# --- the door --------------------------------------------------------------------------------------


def mask_text(text: str) -> str:
    """A shell line, or any other text, with its secrets masked.

    A text over `LONGEST_READ` bytes is not read word by word: there one expression finds names with their
    values.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if not _HINT.search(encoded):
        return text
    return _settle(lambda script: _mask_script(script, 0), encoded).decode("utf-8", "surrogatepass")


def mask_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """A command's arguments with their secrets masked; as many as there were."""
    encoded = "\0".join(argv).encode("utf-8", "surrogatepass")
    if not _HINT.search(encoded):
        return tuple(argv)
    words = _settle(_mask_words, [word.encode("utf-8", "surrogatepass") for word in argv])
    return tuple(word.decode("utf-8", "surrogatepass") for word in words)


def _mask_words(words: list[bytes]) -> list[bytes]:
    reader = _Words(literal=True, certain=True, depth=0)
    return [reader.mask(word) for word in words]


def _settle(mask: Callable[[_Masked], _Masked], value: _Masked) -> _Masked:
    """Mask until nothing changes any more: a mask may bring together what was apart."""
    for _ in range(_MOST_ROUNDS):
        before, value = value, mask(value)
        if value == before:
            break
    return value


FILE_CONTENTS = frozenset(
    "content contents new_string old_string file_text patch new_source old_source new_str old_str insert_text"
    " newtext oldtext new_text old_text new_content old_content diff code_edit".split()
)
"""Members of tool arguments that hold the contents of files (compared in lower case): stored as digest and
length.
"""


def mask_arguments(tool_args: Any) -> Any:
    """A JSON value with secrets masked and file contents replaced by `{"sha256": hex, "bytes": length}`."""
    return _masked_json(tool_args, 0)


def _masked_json(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return mask_text(value)
    if depth >= MOST_DEPTH and isinstance(value, (Mapping, list, tuple)):
        return TOO_DEEP
    if isinstance(value, Mapping):
        named = _names_a_secret(value)
        return {
            key: MASK
            if named and key == "value" and isinstance(item, str)
            else _member(str(key), item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        if len(value) > 1 and all(isinstance(item, str) for item in value):
            return list(mask_argv(value))
        return [_masked_json(item, depth + 1) for item in value]
    return value


def _member(name: str, value: Any, depth: int) -> Any:
    if name.lower() in FILE_CONTENTS and isinstance(value, str):
        return _digest(value)
    if value and not isinstance(value, (bool, Mapping)) and _is_secret_name(_bytes(name)):
        if isinstance(value, (list, tuple)):
            return [
                MASK if isinstance(item, (str, int, float)) else _masked_json(item, depth) for item in value
            ]
        return MASK
    return _masked_json(value, depth)


def _names_a_secret(value: Mapping[str, Any]) -> bool:
    """`{"name": "API_KEY", "value": …}`: a variable or a header as an object."""
    name = value.get("name", value.get("key"))
    return isinstance(name, str) and _is_secret_name(_bytes(name))


def _digest(text: str) -> dict[str, Any]:
    encoded = _bytes(text)
    return {"sha256": hashlib.sha256(encoded).hexdigest(), "bytes": len(encoded)}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

"""Reads the words of commands from left to right: an argv, or a shell text with its quotes."""

from __future__ import annotations

from typing import Any, Final

from vaultroom.masking.expressions import MASK_BYTES, compile_bytes
from vaultroom.masking.names import is_secret_name
from vaultroom.masking.programs import (
    ATTACHED,
    COOKIES,
    FILE_PROGRAMS,
    FLAGS,
    HTTP_CLIENTS,
    HTTPIE,
    LONG_NAMES,
    MARKS,
    NAMING,
    NOTHING,
    OPTIONS_OF,
    PLACES,
    PLAIN,
    PROGRAMS,
    RUNNING,
    SECRET_PAIRS,
    SHELLS,
    SLASH,
    SUBCOMMANDS,
    TELLING,
    VALUE,
)
from vaultroom.masking.shapes import HINT, PEM, mask_inside

LONGEST_READ: Final = 16 * 1024
"""Bytes of a text that is read word by word."""
_SCRIPT_DEPTH: Final = 4
"""Scripts within quotes within scripts that are looked into."""

_OPTION = compile_bytes(rb"(--?[A-Za-z][\w.-]*)(=?)")
_ASSIGNMENT = compile_bytes(rb"[\w.\-/:@]+=")
_HEADER_NAME = compile_bytes(rb"[A-Za-z][\w-]*:")
_HEADER_START = compile_bytes(
    rb"([A-Za-z][\w-]*):[ \t]*(?:(?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?"
)
_SCHEME = compile_bytes(rb"(?i)(?:bearer|basic|token|digest|negotiate|apikey)")
_EXECUTES = compile_bytes(rb"[$`]")
_SHELL_SPECIAL = compile_bytes(rb"[\s;&|<>()`]")
_SEPARATES = compile_bytes(rb"[;&|\n]")
_NAMED = compile_bytes(rb"['\"]?[A-Za-z_][\w-]*=[^=]")
_QUOTED_OPTION = compile_bytes(rb"'(-[^']+)'|\"(-[^\"\\$`]+)\"")


class Words:
    """Reads the words of commands from left to right and masks each.

    `literal` words come from an argv and mean what they are; others are pieces of shell text with their
    quotes. `certain` says that quotes in that text can be trusted: nothing in it (a here-document, a
    comment, a substitution) can turn them round, so that what looks quoted is not code.
    """

    def __init__(self, *, literal: bool, certain: bool, depth: int) -> None:
        self._literal = literal
        self._certain = certain
        self._depth = depth
        self.new_command()

    def new_command(self) -> None:
        self._program = b""
        self._operands = 0
        self._expected: int | None = None
        self._after_header = False
        self._header_option = False
        self._naming = False
        self._calm = True

    def mask(self, word: bytes) -> bytes:
        """The word with its secrets masked; remembers what it says about the next one."""
        if self._calm and word.strip(b"'\"").rpartition(b"/")[2] not in TELLING and not HINT.search(word):
            return word
        masked = self._mask(word)
        waits = self._expected is not None or self._after_header or self._header_option or self._naming
        self._calm = not waits and not self._program
        return masked

    def _mask(self, word: bytes) -> bytes:
        if self._expected is not None:
            kind, self._expected = self._expected, None
            if kind == PLAIN:
                return self._script(word)
            if not (kind == VALUE and word.startswith(b"-")):
                return self._value(word, kind)
        if self._after_header:
            self._after_header = _SCHEME.fullmatch(word) is not None
            return word if self._after_header else self._value(word, VALUE)
        if self._header_option:
            self._header_option = False
            return self._header(word)
        return self._free(word)

    def _free(self, word: bytes, level: int = 0) -> bytes:
        if level > _SCRIPT_DEPTH:
            return self._script(word)
        bare = word.strip(b"'\"")
        if level == 0 and not bare.startswith(b"-") and self._program in PLACES:
            place, kind = PLACES[self._program]
            self._operands += 1
            if self._operands == place + 1 and not _NAMED.match(word):
                return self._value(word, kind)
        self._follow(bare)
        whole = self._literal or word[:1] in (b"'", b'"')
        if self._program in SHELLS and whole and _SHELL_SPECIAL.search(word):
            return self._script(word)
        if bare in NAMING:
            self._naming = True
            return word
        if self._naming and not word.startswith(b"-"):
            self._naming = False
            if b"=" not in bare and is_secret_name(bare):
                self._expected = VALUE
                return word
        masked = self._option(word, level) if word.startswith(b"-") else self._quoted_option(word, level)
        if masked is not None:
            return masked
        assignment = _ASSIGNMENT.match(word.lstrip(b"'\""))
        if assignment:
            return self._assigned(word, assignment.end() + len(word) - len(word.lstrip(b"'\"")), level)
        if self._program == b"openssl" and bare.startswith(b"pass:"):
            cut = word.find(b"pass:") + 5
            return word[:cut] + self._value(word[cut:], VALUE)
        if self._program in HTTPIE and (header := _HEADER_NAME.match(bare)):
            if is_secret_name(header.group(0)[:-1]) and header.end() < len(bare):
                return self._header(word)
        if not self._literal and _HEADER_NAME.fullmatch(word):
            self._after_header = is_secret_name(word[:-1])
        return self._script(word)

    def _follow(self, bare: bytes) -> None:
        """Remembers whose words come next. A file program stays: its operands may have any name."""
        if self._program in FILE_PROGRAMS:
            if self._program == b"find" and bare in RUNNING:
                self._program = b""
            return
        base = bare.rpartition(b"/")[2]
        program = SUBCOMMANDS.get((self._program, bare))
        if program is None and (base in PROGRAMS or base in FILE_PROGRAMS or base in SHELLS):
            program = base
        if program is not None:
            self._program, self._operands = program, 0

    def _quoted_option(self, word: bytes, level: int) -> bytes | None:
        """An option within quotes, `'-HCookie: x'`: read as the shell will hand it over."""
        found = _QUOTED_OPTION.fullmatch(word) if not self._literal and self._certain else None
        if found is None:
            return None
        inner = found.group(1) or found.group(2)
        if self._program not in PROGRAMS and b" " not in self._program and _SHELL_SPECIAL.search(inner):
            return None
        self._literal = True
        masked = self._option(inner, level)
        self._literal = False
        return None if masked is None else word[:1] + masked + word[:1]

    def _option(self, word: bytes, level: int) -> bytes | None:
        found = _OPTION.match(word)
        if found is None:
            return None
        name, equals = found.group(1), found.group(2)
        special = OPTIONS_OF.get(self._program, {})
        if name in special and (equals or found.end() == len(word)):
            return self._taken(word, found.end() if equals else 0, special[name])
        if not name.startswith(b"--") and self._program not in LONG_NAMES:
            bundle = self._bundle(word, level)
            if bundle is not None:
                return bundle
            for short, kind in special.items():
                if word.startswith(short) and len(word) > len(short) and not short.startswith(b"--"):
                    return word[: len(short)] + self._value(word[len(short) :], kind)
        if self._program in HTTP_CLIENTS and word.startswith(b"-H") and len(word) > 2:
            return b"-H" + self._header(word[2:])
        if self._program in HTTP_CLIENTS and name == b"--header" and equals:
            return word[: found.end()] + self._header(word[found.end() :])
        if name in (b"-H", b"--header") and found.end() == len(word):
            self._header_option = self._program in HTTP_CLIENTS
            return word
        secret = self._program not in FILE_PROGRAMS and len(name) > 3 and is_secret_name(name)
        if secret and (equals or found.end() == len(word)):
            return self._taken(word, found.end() if equals else 0, VALUE)
        if equals:
            return word[: found.end()] + self._free(word[found.end() :], level + 1)
        return None

    def _bundle(self, word: bytes, level: int) -> bytes | None:
        """Letters behind one dash, of which the last may take a secret: `curl -su me:x`."""
        if self._program == b"htpasswd":
            self._operands += b"n" in word
            if word[-1:] in (b"C", b"r"):
                self._expected = PLAIN
            return word
        flags = FLAGS.get(self._program)
        rest = word[1:].lstrip(flags) if flags else b""
        if not rest or len(rest) == len(word) - 1 or not rest[:1].isalpha():
            return None
        masked = self._option(b"-" + rest, level)
        return None if masked is None else word[: len(word) - len(rest)] + masked[1:]

    def _taken(self, word: bytes, cut: int, kind: int) -> bytes:
        """An option: with its value behind `=` at `cut`, or (0) in the next word."""
        if kind == NOTHING:
            return word[:cut] + self._value(word[cut:], VALUE) if cut else word
        if cut:
            return word[:cut] + self._value(word[cut:], kind)
        if kind != ATTACHED:
            self._expected = kind
        return word

    def _assigned(self, word: bytes, cut: int, level: int) -> bytes:
        name = word[: cut - 1].lstrip(b"'\"")
        if (
            (self._literal or word[:1] in (b"'", b'"'))
            and self._program not in PROGRAMS
            and _SEPARATES.search(word)
            and b" " in word
            and self._depth < _SCRIPT_DEPTH
        ):
            return self._script(word)
        pair = level == 0 and self._program in SECRET_PAIRS and word[cut : cut + 1] != b"@"
        if not pair and not is_secret_name(name.rpartition(b"/")[2]):
            if word[:1] in (b"'", b'"') and not self._literal:
                return self._script(word)
            return word[:cut] + self._free(word[cut:], level + 1) if len(word) > cut else word
        quote = word[:1] if word[:1] in (b"'", b'"') and not self._literal else b""
        if quote and word.endswith(quote) and len(word) > cut:
            masked = self._value(quote + word[cut:], VALUE)
            return word[:cut] + masked.removeprefix(quote).removesuffix(quote) + quote
        return word[:cut] + self._value(word[cut:], VALUE)

    def _value(self, value: bytes, kind: int) -> bytes:
        """The mask for a secret value; the value itself where it is empty or where a shell would run or
        expand it.
        """
        if kind == PLAIN or not self._may_hide(value):
            return self._script(value)
        if kind in MARKS:
            user, mark, password = value.partition(MARKS[kind])
            closing = (
                value[-1:]
                if value[:1] in (b"'", b'"') and value[:1] == value[-1:] and not self._literal
                else b""
            )
            if kind == SLASH and b"@" in password:
                closing = b"@" + password.rpartition(b"@")[2]
            return user + mark + MASK_BYTES + closing if password.removesuffix(closing) else value
        if kind == COOKIES and b"=" not in value:
            return value
        return MASK_BYTES

    def _header(self, word: bytes) -> bytes:
        """The argument of `-H`: masked from the colon to its end."""
        quote = word[:1] if word[:1] in (b"'", b'"') and not self._literal else b""
        whole = word[1:-1] if quote and word.endswith(quote) and word.count(quote) == 2 else word
        found = _HEADER_START.match(whole)
        if (quote and whole is word) or not found or not self._may_hide(word) or found.end() == len(whole):
            return self._script(word)
        return quote + whole[: found.end()] + MASK_BYTES + quote if is_secret_name(found.group(1)) else word

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
        if not HINT.search(word):
            return word
        if self._depth < _SCRIPT_DEPTH:
            if self._literal:
                return (
                    mask_script(word, self._depth + 1) if _SHELL_SPECIAL.search(word) else mask_inside(word)
                )
            for quote in (b"'", b'"'):
                start = word.find(quote)
                if start >= 0:
                    end = word.rfind(quote)
                    end = end if end > start else len(word)
                    inner = mask_script(word[start + 1 : end], self._depth + 1, certain=self._certain)
                    return mask_inside(word[: start + 1] + inner + word[end:])
        return mask_inside(word)


_PIECE = compile_bytes(
    rb"(?s)((?:'[^']*(?:'|\z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\z)|\\.|\\\z|[^\s;&|<>()'\"\\])+)"
    rb"|([ \t\r]+)|(.)"
)
_NAMED_VALUE = compile_bytes(
    rb"((?:--?[A-Za-z][\w.-]{0,60}[=\s]|[\w.-]{0,60}(?i:pass|pwd|secret|token|key|auth|cred|cookie)[\w.-]{0,60}=))"
    rb"(['\"]?)([^\s'\"`;&|<>()$\\]+)"
)
_UNCERTAIN = compile_bytes(rb"<<|#|\$['\"({]|`")
_BALANCED = compile_bytes(rb"(?s)(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^'\"\\])*")


def mask_script(script: bytes, depth: int = 0, *, certain: bool = True) -> bytes:
    """A shell text with its secrets masked.

    One over `LONGEST_READ` bytes is not read word by word but searched for names with values.
    """
    if len(script) > LONGEST_READ:
        return mask_inside(_NAMED_VALUE.sub(_mask_named, script))
    certain = certain and not _UNCERTAIN.search(script) and _BALANCED.fullmatch(script) is not None
    reader = Words(literal=False, certain=certain, depth=depth)
    pieces: list[bytes] = []
    for found in _PIECE.finditer(PEM.sub(lambda pem: pem.group(1) + MASK_BYTES, script)):
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
    hide = not value.startswith(b"-") and is_secret_name(name[:-1])
    return bytes(name + quote + MASK_BYTES) if hide else bytes(found.group(0))

"""Between a line of text and argv, for the one case that needs no parser: a single plain command.

`split_line` is strict on purpose: whatever a shell might treat specially makes it answer None, and the
caller then has to treat the line as opaque (or hand it to the real parser).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from vaultroom.shell.words import words

_BLANK = " \t"
_SPECIAL = frozenset("\n\r\v\f;&|<>()$`*?[]{}\\'\"!^")
"""Outside quotes these may mean something to some shell, at least in some position."""
_SPECIAL_IN_DOUBLE_QUOTES = frozenset("$`!")
_ESCAPABLE_IN_DOUBLE_QUOTES = frozenset('"\\$`')

_RESERVED = words(
    "if then else elif fi do done case esac while until for in function time { } [[ ]] ! coproc select"
    " repeat foreach"
    " end nocorrect noglob"
)
_RUNS_OTHERS = words(
    "eval source . exec command builtin trap alias unalias set shopt setopt enable hash export declare"
    " typeset local"
    " readonly unset fc bind complete sudo doas su runuser env nice ionice chrt taskset nohup setsid"
    " timeout stdbuf"
    " xargs parallel watch chroot strace ltrace flock unshare nsenter script expect busybox toybox rlwrap"
    " caffeinate"
    " sh bash dash zsh ksh mksh ash rbash fish csh tcsh"
)
"""Builtins and programs that run what stands in their arguments, or change what later words mean."""


def split_line(text: str) -> tuple[str, ...] | None:
    """The argv of one plain command, or None if `text` is anything else.

    Quotes and backslashes are understood. Expansions, globs, redirections, operators, assignments,
    comments, reserved words, several lines and commands that run other commands are all refused.
    """
    words: list[str] = []
    index = 0
    while index < len(text):
        if text[index] in _BLANK:
            index += 1
            continue
        read = _word(text, index)
        if read is None:
            return None
        word, end = read
        if not words and _acts_as_first(word, quoted=text[index:end] != word):
            return None
        words.append(word)
        index = end
    return tuple(words) or None


def join_argv(argv: Sequence[str]) -> str:
    """One line that a shell would split into `argv` again: the `raw` of an event."""
    if not argv:
        return ""
    first, *rest = argv
    if first in _RESERVED or "=" in first:
        head = "'" + first.replace("'", "'\"'\"'") + "'"
    else:
        head = shlex.quote(first)
    return " ".join([head, *map(shlex.quote, rest)])


def _acts_as_first(word: str, *, quoted: bool) -> bool:
    if not quoted and (word in _RESERVED or "=" in word):
        return True
    return word == "" or word.rpartition("/")[2] in _RUNS_OTHERS


def _word(text: str, start: int) -> tuple[str, int] | None:
    """The word at `start`, unquoted, and where it ends; None where a shell might do more than that."""
    pieces: list[str] = []
    index = start
    while index < len(text) and text[index] not in _BLANK:
        char = text[index]
        if char == "'":
            end = text.find("'", index + 1)
            if end < 0:
                return None
            piece, index = text[index + 1 : end], end + 1
        elif char == '"':
            read = _double_quoted(text, index + 1)
            if read is None:
                return None
            piece, index = read
        elif char == "\\":
            piece, index = text[index + 1 : index + 2], index + 2
            if piece in ("", "\n"):
                return None
        elif (
            text.startswith("{}", index) and index == start and text[index + 2 : index + 3] in ("", " ", "\t")
        ):
            piece, index = "{}", index + 2
        elif char in _SPECIAL or not char.isprintable() or (char in "~#=" and _begins(text, start, index)):
            return None
        else:
            piece, index = char, index + 1
        if "\0" in piece:
            return None
        pieces.append(piece)
    return "".join(pieces), index


def _begins(text: str, start: int, index: int) -> bool:
    """Whether a `~`, `#` or `=` at `index` stands where a shell may expand it."""
    return index == start or (text[index] == "~" and text[index - 1] in ":=")


def _double_quoted(text: str, index: int) -> tuple[str, int] | None:
    pieces: list[str] = []
    while index < len(text):
        char = text[index]
        if char == '"':
            return "".join(pieces), index + 1
        if char == "\\":
            following = text[index + 1 : index + 2]
            if following in ("", "\n"):
                return None
            pieces.append(following if following in _ESCAPABLE_IN_DOUBLE_QUOTES else char + following)
            index += 2
        elif char in _SPECIAL_IN_DOUBLE_QUOTES:
            return None
        else:
            pieces.append(char)
            index += 1
    return None

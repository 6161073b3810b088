"""What a command reads from its standard input, as far as a line tells."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import NamedTuple

from vaultroom.shell.expansion.fields import HOLE, Field


class Stdin(NamedTuple):
    """`text` is the whole input where that is known. `is_fed`: the line gives the input (pipe or file).

    `is_code`: the text was written for this command (a here-document), so it may be read as its script.
    `starts` are the folders below which all paths lie that the input names (`find` before `xargs`).
    """

    is_fed: bool = False
    text: str | None = None
    is_written_here: bool = False
    starts: tuple[str, ...] | None = None


INHERITED = Stdin()
UNKNOWN_INPUT = Stdin(is_fed=True)

_LONGEST = 64 * 1024


def output_of(fields: Sequence[Field], stdin: Stdin) -> str | None:
    """What a few harmless commands print; None where that is not known."""
    if not all(field.known and not field.is_glob for field in fields):
        return None
    argv = [field.text for field in fields]
    name = argv[0].rpartition("/")[2] if argv else ""
    match name:
        case "echo":
            return _echo(argv[1:])
        case "printf":
            return _printf(argv[1:])
        case "cat" if argv[1:] in ([], ["-"]):
            return stdin.text
        case "base64" if stdin.text is not None and len(argv) == 2 and argv[1] in ("-d", "-D", "--decode"):
            return _decoded(stdin.text)
        case "true" | ":":
            return ""
        case _:
            return None


def _echo(arguments: list[str]) -> str | None:
    end = "\n"
    while arguments and arguments[0] in ("-n", "-E"):
        if arguments[0] == "-n":
            end = ""
        arguments = arguments[1:]
    if arguments and arguments[0].startswith("-"):
        return None
    text = " ".join(arguments)
    # Other shells than bash interpret backslashes here.
    return None if "\\" in text else text + end


def _printf(arguments: list[str]) -> str | None:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or arguments[0].startswith("-"):
        return None
    template, *values = arguments
    template = template.replace("\\n", "\n")
    if "\\" in template.replace("\\t", "\t"):
        return None
    template = template.replace("\\t", "\t")
    pieces = template.split("%s")
    if any("%" in piece for piece in pieces) or len(pieces) - 1 != len(values):
        return template if "%" not in template and not values else None
    joined = pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=True))
    return joined if len(joined) <= _LONGEST and HOLE not in joined else None


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError, UnicodeDecodeError):
        return None

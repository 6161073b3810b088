"""How commands talk: stdout is data, stderr is talk.

Texts from outside go through visible() before they get here.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from vaultroom.errors import VaultroomError
from vaultroom.visible import visible


def say(text: str) -> None:
    """Lines for the person, on stderr, made visible; a closed stderr is not an error."""
    try:
        sys.stderr.write(f"{visible(text, keep_newlines=True)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def complain(error: VaultroomError) -> None:
    """An error's text, and its advice on a line of its own."""
    say(f"vaultroom: {error.message}")
    if error.advice:
        say(f"  {error.advice}")


def data(text: str) -> None:
    """A line of the command's result, on stdout."""
    sys.stdout.write(f"{text}\n")


def data_json(value: Any) -> None:
    """A result for programs: one JSON document on stdout."""
    data(json.dumps(value, ensure_ascii=True, indent=None, separators=(",", ":")))

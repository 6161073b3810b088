"""What an agent writes to its hook: one JSON object, read strictly.

Whatever is doubtful raises FrameError, which becomes a recorded deny that names it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vaultroom.errors import FrameError

MOST_DEPTH = 64
"""Levels of nesting in a payload."""
MOST_NAME = 512
"""Characters in names and identifiers."""


def parse_object(text: str) -> dict[str, Any]:
    """The payload's object: unique keys, finite numbers, bounded depth, whole Unicode."""
    if not text.strip():
        raise FrameError("expected the hook's JSON on standard input, found nothing")
    _whole(text, "the hook's JSON")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise FrameError(f"expected at most {MOST_DEPTH} levels in the hook's JSON, found more") from None
    except ValueError as error:
        raise FrameError(f"expected one JSON object on standard input: {error}") from None
    if not isinstance(value, dict):
        raise FrameError(f"expected a JSON object on standard input, found {shown(value)}")
    _check(value)
    return value


def text_member(data: Mapping[str, Any], name: str, *, where: str = "the hook's JSON") -> str:
    """A string that must be there and say something, without NUL."""
    value = data.get(name)
    if not isinstance(value, str):
        raise FrameError(f"expected {name!r} in {where} to be a string, found {shown(value)}")
    if not value.strip():
        raise FrameError(f"expected {name!r} in {where} to say something, found an empty text")
    if "\0" in value:
        raise FrameError(f"expected {name!r} in {where} without NUL characters")
    return value


def name_member(data: Mapping[str, Any], name: str) -> str:
    """A short string that must be there: an identifier."""
    value = text_member(data, name)
    if len(value) > MOST_NAME:
        raise FrameError(f"expected {name!r} to have at most {MOST_NAME} characters, found {len(value)}")
    return value


def optional_text(data: Mapping[str, Any], name: str, *, where: str = "the hook's JSON") -> str:
    """Like `text_member`, but empty where the member is missing, null or empty."""
    return "" if data.get(name) in (None, "") else text_member(data, name, where=where)


def object_member(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    if not isinstance(value, dict):
        raise FrameError(f"expected {name!r} in the hook's JSON to be an object, found {shown(value)}")
    return value


def folder_member(data: Mapping[str, Any], name: str) -> str:
    value = text_member(data, name)
    if not value.startswith("/"):
        raise FrameError(f"expected {name!r} in the hook's JSON to be an absolute path, found {shown(value)}")
    return value


def shown(value: Any) -> str:
    """What was found, short: a name for containers, the text for the rest."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r:.60}"


def _check(value: Any) -> None:
    """Depth and surrogates, without recursion."""
    pending: list[tuple[Any, int]] = [(value, 1)]
    while pending:
        part, depth = pending.pop()
        if isinstance(part, str):
            _whole(part, "the texts of the hook's JSON")
        elif isinstance(part, (dict, list)):
            if depth > MOST_DEPTH:
                raise FrameError(f"expected at most {MOST_DEPTH} levels in the hook's JSON, found more")
            if isinstance(part, dict):
                pending.extend((key, depth) for key in part)
            inner = part.values() if isinstance(part, dict) else part
            pending.extend((item, depth + 1) for item in inner)


def _whole(text: str, where: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FrameError(f"expected UTF-8 in {where}, found a broken character at {error.start}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r:.60} stands twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")

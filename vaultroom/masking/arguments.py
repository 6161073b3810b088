"""The arguments of tools: JSON values with secrets masked and file contents as digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from vaultroom.masking.commands import mask_argv, mask_text
from vaultroom.masking.expressions import MASK
from vaultroom.masking.names import is_secret_name

TOO_DEEP: Final = "‹too deep›"
MOST_DEPTH: Final = 64
"""Nesting of tool arguments; what lies deeper is replaced by `TOO_DEEP`."""

FILE_CONTENTS = frozenset(
    {
        "content", "contents", "file_text", "patch", "diff", "code_edit", "insert_text",
        "new_string", "new_str", "new_text", "newtext", "new_source", "new_content",
        "old_string", "old_str", "old_text", "oldtext", "old_source", "old_content",
    }
)  # fmt: skip
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
    if value and not isinstance(value, (bool, Mapping)) and is_secret_name(_bytes(name)):
        if isinstance(value, (list, tuple)):
            return [
                MASK if isinstance(item, (str, int, float)) else _masked_json(item, depth) for item in value
            ]
        return MASK
    return _masked_json(value, depth)


def _names_a_secret(value: Mapping[str, Any]) -> bool:
    """`{"name": "API_KEY", "value": …}`: a variable or a header as an object."""
    name = value.get("name", value.get("key"))
    return isinstance(name, str) and is_secret_name(_bytes(name))


def _digest(text: str) -> dict[str, Any]:
    encoded = _bytes(text)
    return {"sha256": hashlib.sha256(encoded).hexdigest(), "bytes": len(encoded)}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

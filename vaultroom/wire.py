"""Frames on the sockets: a uint32 big-endian length, then that many bytes of JSON.

Specification section 3.3; design section 6 sets the bound of 8 MiB. Pure: bytes in, values out.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from vaultroom.errors import FrameError

MAX_FRAME = 8 * 1024 * 1024
"""Bytes in one frame's body at most."""

HEADER = struct.Struct(">I")


def encode(message: dict[str, Any]) -> bytes:
    """One frame, ASCII JSON without white space. Raises FrameError when it is over the bound."""
    body = json.dumps(message, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")
    if len(body) > MAX_FRAME:
        raise FrameError(f"expected a frame of at most {MAX_FRAME} bytes, this one has {len(body)}")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """The length that a header announces. Raises FrameError for zero or past the bound."""
    (length,) = HEADER.unpack(header)
    if not 0 < length <= MAX_FRAME:
        raise FrameError(f"expected a frame of 1 to {MAX_FRAME} bytes, its header says {length}")
    return int(length)


def decode(body: bytes) -> dict[str, Any]:
    """The JSON object in a frame's body.

    Raises FrameError for anything that is not one UTF-8 JSON object with unique keys and finite numbers.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FrameError(f"expected UTF-8 in the frame, found a broken byte at {error.start}") from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise FrameError("expected JSON of sane depth in the frame, it is nested too deeply") from None
    except ValueError as error:
        raise FrameError(f"expected JSON in the frame: {error}") from None
    if not isinstance(value, dict):
        raise FrameError(f"expected a JSON object in the frame, found {type(value).__name__}")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            from vaultroom.masking import mask_text  # late: it loads RE2, and light commands read frames too

            raise ValueError(f"the key {mask_text(key)!r:.60} stands twice")
        result[key] = value
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")

"""Frames over asyncio streams: bounded in size, and in time where a peer could stall."""

from __future__ import annotations

import asyncio
from typing import Any

from vaultroom import wire
from vaultroom.errors import FrameError

LARGE_FRAME = 64 * 1024
"""Bytes of a frame that is decoded off the loop."""


async def read_frame(reader: asyncio.StreamReader, *, seconds: float | None) -> dict[str, Any] | None:
    """The next frame's object; None when the peer closed between frames.

    `seconds` bounds the whole frame once it is awaited. Raises FrameError for half a frame, a broken
    one, or one that did not arrive in time.
    """
    try:
        async with asyncio.timeout(seconds):
            header = await reader.readexactly(wire.HEADER.size)
            body = await reader.readexactly(wire.body_length(header))
    except asyncio.IncompleteReadError as error:
        if not error.partial and error.expected == wire.HEADER.size:
            return None
        raise FrameError(
            f"expected {error.expected} more bytes of a frame, the peer closed after {len(error.partial)}"
        ) from None
    except TimeoutError:
        raise FrameError(f"expected a whole frame within {seconds} s, it did not come") from None
    except ConnectionError as error:
        raise FrameError(f"expected a frame, the connection broke: {error}") from None
    if len(body) > LARGE_FRAME:
        return await asyncio.to_thread(wire.decode, body)
    return wire.decode(body)


async def write_frame(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    """Send one frame and wait until it left. Raises ConnectionError when the peer is gone."""
    writer.write(wire.encode(message))
    await writer.drain()


async def close_writer(writer: asyncio.StreamWriter) -> None:
    """Close a connection; a peer that is gone already is not an error."""
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:
        pass

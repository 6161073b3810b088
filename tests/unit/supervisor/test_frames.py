from __future__ import annotations

import asyncio
import socket

import pytest

from vaultroom import wire
from vaultroom.errors import FrameError
from vaultroom.supervisor.frames import close_writer, read_frame, write_frame


async def _pair() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, socket.socket]:
    here, there = socket.socketpair()
    reader, writer = await asyncio.open_unix_connection(sock=here)
    return reader, writer, there


async def test_a_frame_arrives_and_the_end_is_none() -> None:
    reader, writer, peer = await _pair()
    peer.sendall(wire.encode({"a": 1}))
    assert await read_frame(reader, seconds=5) == {"a": 1}
    await write_frame(writer, {"b": 2})
    assert peer.recv(100) == wire.encode({"b": 2})
    peer.close()
    assert await read_frame(reader, seconds=5) is None
    await close_writer(writer)


@pytest.mark.parametrize("sent", [b"\0\0", b"\0\0\0\x05ab", b"\0\0\0\0", b"\xff\xff\xff\xff"])
async def test_half_a_frame_and_a_wrong_length(sent: bytes) -> None:
    reader, writer, peer = await _pair()
    peer.sendall(sent)
    peer.close()
    with pytest.raises(FrameError):
        await read_frame(reader, seconds=5)
    await close_writer(writer)


async def test_a_stalled_peer_is_cut_off() -> None:
    reader, writer, peer = await _pair()
    peer.sendall(b"\0\0")
    with pytest.raises(FrameError, match="did not come"):
        await read_frame(reader, seconds=0.05)
    peer.close()
    await close_writer(writer)

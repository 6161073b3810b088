"""A session's socket: one frame in, one answer out (specification section 3.3).

What a frame means is said by its kind (`eval` of shims, `hook` of agents' hooks). A broken frame is a
recorded deny. A client that goes away while a person is being asked withdraws its request. Nothing here
decides: the frame becomes an event, the session's judge answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from vaultroom import platform, tasks
from vaultroom.errors import FrameError
from vaultroom.events import Event
from vaultroom.gate.judge import Outcome
from vaultroom.supervisor.frames import close_writer, read_frame, write_frame
from vaultroom.visible import visible

FRAME_SECONDS = 10.0
"""A client writes its frame at once; one that stalls is cut off."""

HALF_CLOSED_SECONDS = 0.25
"""How often a client that closed its writing half is looked at."""

DRAIN_SECONDS = 2.0
"""How long a closing session waits for acts that are being judged."""

Frame = Mapping[str, Any]


class FrameKind(Protocol):
    """What is done with frames of one `type`."""

    async def read(self, frame: dict[str, Any], pid: int) -> Event:
        """The act of the frame; `pid` is the peer's. Raises FrameError for a frame that makes no sense."""
        ...

    async def judge(self, event: Event, frame: Frame) -> Outcome: ...

    async def refuse(self, frame: Frame, pid: int, why: str) -> Outcome:
        """Record and deny a frame that could not be understood; it is empty where it could not be read."""
        ...

    def answer(self, frame: Frame, outcome: Outcome) -> dict[str, Any]:
        """The frame that answers."""
        ...


class SessionSocket:
    """Listens on one path (mode 0600) until `close()`.

    `kinds` are the frames that it takes, by their `type`; the first of them also answers what is none.
    """

    def __init__(self, path: Path, kinds: Mapping[str, FrameKind]) -> None:
        self.path = path
        self._kinds = kinds
        self._fallback = next(iter(kinds.values()))
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._judging: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Bind. A socket file that nobody serves any more is replaced (only the host comes here)."""
        self._server = await asyncio.start_unix_server(self._accept, sock=bind_private(self.path))

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Let acts that are being judged get their answer (after the broker has denied what waits)."""
        if self._judging:
            await asyncio.wait(set(self._judging), timeout=seconds)

    async def close(self) -> None:
        """Stop listening; connections that still wait are cut, which their clients read as a refusal."""
        if self._server is not None:
            self._server.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        for connection in list(self._connections):
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=5)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            await close_writer(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = platform.peer_of(writer.get_extra_info("socket"))
        pid = peer.pid if peer else 0
        if peer is not None and peer.uid != os.geteuid():
            return
        kind, frame = self._fallback, dict[str, Any]()
        try:
            found = await read_frame(reader, seconds=FRAME_SECONDS)
            if found is None:
                return
            task = asyncio.current_task()
            assert task is not None
            self._judging.add(task)
            task.add_done_callback(self._judging.discard)
            frame = found
            named = frame.get("type")
            kind = self._kinds.get(named, kind) if isinstance(named, str) else kind
            event = await kind.read(frame, pid)
        except FrameError as error:
            outcome = await kind.refuse(frame, pid, str(error))
        else:
            waiting = tasks.spawn(kind.judge(event, frame), name=f"judge {event.id}")
            outcome_or_none = await _unless_peer_leaves(waiting, reader, writer)
            if outcome_or_none is None:
                return
            outcome = outcome_or_none
        await write_frame(writer, kind.answer(frame, outcome))


def verdict_message(outcome: Outcome) -> dict[str, Any]:
    """The response frame; the thin client relies on this order of its members."""
    return {
        "type": "verdict",
        "effect": outcome.effect.value,
        "rule_name": visible(outcome.rule_name),
        "message": visible(outcome.message),
    }


async def _unless_peer_leaves(
    waiting: asyncio.Task[Outcome], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Outcome | None:
    """The outcome, or None when the client closed first; then the judging task is cancelled."""
    watcher = tasks.spawn(_peer_left(reader, writer.get_extra_info("socket").fileno()), name="watch peer")
    try:
        await asyncio.wait({waiting, watcher}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else None
    finally:
        watcher.cancel()
        if not waiting.done():
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting


async def _peer_left(reader: asyncio.StreamReader, descriptor: int) -> None:
    """Returns when the peer closed its socket; closing its writing half alone is not leaving.

    More bytes than one frame are dropped unread.
    """
    with contextlib.suppress(ConnectionError):
        while await reader.read(4096):
            pass
    poller = select.poll()
    poller.register(descriptor, 0)
    while not poller.poll(0):
        await asyncio.sleep(HALF_CLOSED_SECONDS)


def bind_private(path: Path) -> socket.socket:
    """A listening Unix socket that only the user can reach. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        listener.bind(str(path))  # its folder is closed to others, so there is no moment of exposure
        os.chmod(path, 0o600)
        listener.listen(256)
    except BaseException:
        listener.close()
        raise
    return listener

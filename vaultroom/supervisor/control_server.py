"""The host's control socket: commands of front ends and runners in, answers and snapshots out.

Peers are examined first (law 6). Every command is checked before it reaches the supervisor; a broken one
is answered with an error and changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultroom import tasks
from vaultroom.control.protocol import PROTOCOL, AnswerCommand, SessionStart, State, Steer
from vaultroom.errors import FrameError, VaultroomError
from vaultroom.platform import Peer
from vaultroom.supervisor import peers
from vaultroom.supervisor.frames import close_writer, read_frame, write_frame
from vaultroom.supervisor.ipc import BACKLOG, bind_private

if TYPE_CHECKING:
    from vaultroom.supervisor.supervisor import Supervisor

REMOTE_SURFACES = frozenset({"cli", "tty", "tui"})
"""The surfaces that a client of this socket may answer as."""


class ControlServer:
    """Serves the supervisor's commands on one Unix socket (mode 0600)."""

    def __init__(self, path: Path, supervisor: Supervisor) -> None:
        self.path = path
        self._supervisor = supervisor
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(
            self._accept, sock=bind_private(self.path), backlog=BACKLOG
        )

    async def close(self) -> None:
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
        connection = None
        try:
            peer = peers.examine(
                writer.get_extra_info("socket"),
                runners=self._supervisor.runner_pids(),
                children=self._supervisor.child_pids(),
                own_pid=os.getpid(),
                brand=self._supervisor.brand,
            )
            if isinstance(peer, peers.Refusal):
                await self._turn_away(reader, writer, peer)
                return
            connection = _Connection(reader, writer, peer, self._supervisor)
            await connection.serve()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            if connection is not None:
                connection.end()
            await close_writer(writer)

    async def _turn_away(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, refusal: peers.Refusal
    ) -> None:
        await self._supervisor.suspicious(
            {"what": "control socket refused a peer", "pid": refusal.pid, "why": refusal.why}
        )
        with contextlib.suppress(FrameError):
            frame = await read_frame(reader, seconds=1.0)
            number = frame.get("n") if frame else None
            await write_frame(writer, _error(number, "Refused", f"refused: {refusal.why}", ""))


Handler = Callable[[dict[str, Any]], Awaitable[Any]]


_CHANGES_SESSIONS = ("session.open", "session.close", "session.launch")


class _Connection:
    """One client: its commands, in order, and its watch."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: Peer,
        supervisor: Supervisor,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = peer
        self._supervisor = supervisor
        self._sending = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._handlers: dict[str, Handler] = {
            "hello": self._hello,
            "state": self._state,
            "watch": self._watch,
            "approve.answer": self._answer,
            "session.open": self._open,
            "session.rejoin": self._rejoin,
            "session.started": self._started,
            "session.close": self._close,
            "session.launch": self._launch,
            "session.output": self._output,
            "session.steer": self._steer,
            "grant.revoke": self._revoke,
        }

    async def serve(self) -> None:
        while True:
            try:
                frame = await read_frame(self._reader, seconds=None)
            except FrameError as error:
                await self._send(_error(None, "FrameError", str(error), ""))
                return
            if frame is None:
                return
            if frame.get("op") in _CHANGES_SESSIONS:
                with self._supervisor.underway():
                    await self._send(await self._reply(frame))
            else:
                await self._send(await self._reply(frame))

    def end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _reply(self, frame: dict[str, Any]) -> dict[str, Any]:
        number, operation, arguments = frame.get("n"), frame.get("op"), frame.get("args")
        handler = self._handlers.get(operation) if isinstance(operation, str) else None
        if handler is None or not isinstance(arguments, dict):
            return _error(number, "FrameError", f"expected a known command, found {operation!r}", "")
        try:
            return {"n": number, "ok": True, "value": await handler(arguments)}
        except VaultroomError as error:
            kind = next(
                (base.__name__ for base in type(error).__mro__ if base.__module__ == "vaultroom.errors"), ""
            )
            return _error(number, kind, error.message, error.advice)
        except (KeyError, TypeError, ValueError) as error:
            return _error(number, "FrameError", f"{operation}: bad arguments: {error!r}", "")
        except OSError as error:
            return _error(number, "OSError", f"{operation}: {error}", "")

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            await write_frame(self._writer, message)

    async def _hello(self, arguments: dict[str, Any]) -> Any:
        if arguments["protocol"] != PROTOCOL:
            raise VaultroomError(
                f"the host speaks control protocol {PROTOCOL}, this client {arguments['protocol']}",
                advice="Restart the host after an update.",
            )
        return {"pid": os.getpid()}

    async def _state(self, arguments: dict[str, Any]) -> Any:
        return self._supervisor.front.state().to_dict()

    async def _watch(self, arguments: dict[str, Any]) -> Any:
        surface = str(arguments["surface"])
        if surface not in {"", "tty", "tui"}:
            raise ValueError(f"expected tty, tui or no surface, found {surface!r}")
        if self._watching is None:

            async def push(state: State) -> None:
                await self._send({"push": "state", "value": state.to_dict()})

            self._watching = tasks.spawn(self._until_gone(push, surface), name="control watch")
        return None

    async def _until_gone(self, push: Callable[[State], Awaitable[None]], surface: str) -> None:
        with contextlib.suppress(ConnectionError):
            await self._supervisor.front.feed(push, surface)

    async def _answer(self, arguments: dict[str, Any]) -> Any:
        command = AnswerCommand.from_dict(arguments)
        if command.by not in REMOTE_SURFACES:
            raise ValueError(f"expected a surface of {sorted(REMOTE_SURFACES)}, found {command.by!r}")
        return await self._supervisor.answer(command)

    async def _open(self, arguments: dict[str, Any]) -> Any:
        grant = await self._supervisor.open_session(SessionStart.from_dict(arguments), self._peer.pid)
        return grant.to_dict()

    async def _rejoin(self, arguments: dict[str, Any]) -> Any:
        return self._supervisor.holds_session(str(arguments["session"]), self._peer.pid)

    async def _started(self, arguments: dict[str, Any]) -> Any:
        session_id, pid = str(arguments["session"]), int(arguments["pid"])
        self._require_own(session_id)
        await self._supervisor.child_started(session_id, pid)

    async def _close(self, arguments: dict[str, Any]) -> Any:
        session_id, code = str(arguments["session"]), int(arguments["code"])
        self._require_own(session_id)
        await self._supervisor.close_session(session_id, reason="exit", code=code)

    async def _launch(self, arguments: dict[str, Any]) -> Any:
        environ = {str(name): str(value) for name, value in dict(arguments["environ"]).items()}
        return await self._supervisor.agents.launch(SessionStart.from_dict(arguments["start"]), environ)

    async def _output(self, arguments: dict[str, Any]) -> Any:
        return self._supervisor.agents.output(str(arguments["session"]), int(arguments["after"])).to_dict()

    async def _steer(self, arguments: dict[str, Any]) -> Any:
        await self._supervisor.agents.steer(str(arguments["session"]), Steer(arguments["what"]))

    async def _revoke(self, arguments: dict[str, Any]) -> Any:
        return await self._supervisor.revoke(str(arguments["grant"]))

    def _require_own(self, session_id: str) -> None:
        if not self._supervisor.holds_session(session_id, self._peer.pid):
            raise VaultroomError(f"process {self._peer.pid} does not hold a session {session_id}")


def _error(number: Any, kind: str, message: str, advice: str) -> dict[str, Any]:
    return {"n": number, "ok": False, "error": {"kind": kind, "message": message, "advice": advice}}

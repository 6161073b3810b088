"""A small host for shims: a thread that answers each frame on a Unix socket with prepared bytes."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultroom.intercept.shims import install_shims
from vaultroom.wire import encode

Answer = Callable[[socket.socket], None]
"""What the host does with a connection once it has read the frame."""


def verdict(effect: str, rule_name: str = "", message: str = "") -> Answer:
    """The answer of a real host."""
    frame = encode({"type": "verdict", "effect": effect, "rule_name": rule_name, "message": message})
    return lambda connection: connection.sendall(frame)


def raw_bytes(data: bytes) -> Answer:
    return lambda connection: connection.sendall(data)


def body(data: bytes) -> Answer:
    """A frame with any body."""
    return raw_bytes(struct.pack(">I", len(data)) + data)


@dataclass
class ShimHost:
    """Everything that a test of a shim needs: a socket, its answer, the frames seen, a folder of shims."""

    home: Path
    answer: Answer = field(default_factory=lambda: verdict("allow"))
    frames: list[dict[str, Any]] = field(default_factory=list)

    @property
    def socket_path(self) -> Path:
        return self.home / "run.sock"

    @property
    def shims_root(self) -> Path:
        return self.home / "shims"

    @property
    def shims(self) -> Path:
        return self.shims_root / "session"

    @property
    def programs(self) -> Path:
        """A folder of test programs on PATH."""
        return self.home / "programs"

    @property
    def path(self) -> str:
        return f"{self.programs}:/usr/local/bin:/usr/bin:/bin"

    def install(self, *names: str) -> None:
        install_shims(self.shims, names, socket=self.socket_path, shims_root=self.shims_root, path=self.path)

    def program(self, name: str, script: str) -> Path:
        """Write a program for sh (with its first line, if `script` has one of its own)."""
        file = self.programs / name
        file.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    def environment(self, **changes: str) -> dict[str, str]:
        return {"PATH": f"{self.shims}:{self.path}", "HOME": str(self.home)} | changes

    def run(
        self, argv: Sequence[str | bytes], *, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the shim `argv[0]` as the agent would."""
        program = self.shims / os.fsdecode(argv[0])
        settings: dict[str, Any] = {"capture_output": True, "cwd": self.home, "timeout": 30} | options
        return subprocess.run(
            [program, *argv[1:]], env=self.environment() if env is None else env, check=False, **settings
        )


@contextmanager
def shim_host() -> Iterator[ShimHost]:
    with tempfile.TemporaryDirectory(prefix="vs-") as folder:
        host = ShimHost(Path(folder).resolve())
        for made in (host.shims_root, host.programs):
            made.mkdir()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(host.socket_path))
        listener.listen(64)
        serving = threading.Thread(target=_serve, args=(host, listener), daemon=True)
        serving.start()
        try:
            yield host
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            serving.join(10)


def _serve(host: ShimHost, listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(20)
            try:
                (length,) = struct.unpack(">I", _exactly(connection, 4))
                host.frames.append(json.loads(_exactly(connection, length)))
                host.answer(connection)
            except (OSError, EOFError):
                continue


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)

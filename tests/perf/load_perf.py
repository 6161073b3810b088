"""A host under load: 2,000 acts a second through the real gate, with a room open and with none.

Both hosts are real processes (`vaultroom` on a pseudo-terminal, `vaultroom daemon`). Meanwhile a shim is
timed every 100 ms. `VAULTROOM_LOAD_SECONDS` sets how long each takes (10 by default).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.world import VAULTROOM
from vaultroom import wire
from vaultroom.control.protocol import SessionStart
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable
from vaultroom.paths import Home, find_home

RATE = 2_000
CLIENTS = 24
SECONDS = float(os.environ.get("VAULTROOM_LOAD_SECONDS", "10"))
POLICY = b"""\
version: 1
defaults: {action: allow}
rules:
  - {name: a, match: all, effect: allow}
shims: {binaries: ['true']}
"""
FRAME = wire.encode(
    {
        "type": "eval",
        "event": {"source": "shim", "action": "shell.exec", "argv": ["true", "x"], "cwd": "/tmp"},
    }
)


@dataclass
class Run:
    """What one host did."""

    sent: int = 0
    allowed: int = 0
    rows: int = 0
    seconds: float = 0.0
    memory_before: int = 0
    memory_after: int = 0
    shims: list[float] = field(default_factory=list)


def measure() -> list[tuple[str, str]]:
    """(what, figure) pairs."""
    without, room = _run(in_room=False), _run(in_room=True)
    ratio = statistics.median(room.shims) / statistics.median(without.shims)
    return [
        ("acts a second, daemon", _rate(without)),
        ("acts a second, room", _rate(room)),
        (
            "rows missing (sent and allowed, not in the log)",
            f"{without.allowed - without.rows} and {room.allowed - room.rows}",
        ),
        ("memory of the room, before and after", f"{room.memory_before} and {room.memory_after} MiB"),
        ("shim meanwhile, daemon", _figure(without.shims)),
        ("shim meanwhile, room", f"{_figure(room.shims)}, {ratio:.2f} × that without a room"),
    ]


def _run(*, in_room: bool) -> Run:
    with tempfile.TemporaryDirectory(prefix="vl") as folder:
        home = find_home({"VAULTROOM_HOME": folder})
        home.prepare()
        home.user_policy.write_bytes(POLICY)
        with _host(folder, in_room=in_room) as pid:
            run = _load(home, pid)
        with contextlib.closing(sqlite3.connect(home.audit_db)) as connection:
            (run.rows,) = connection.execute(
                "SELECT count(*) FROM events WHERE action='shell.exec'"
            ).fetchone()
    return run


def _load(home: Home, pid: int) -> Run:
    control = _connect(home)
    start = SessionStart("load", ("load",), "/tmp", POLICY, str(home.user_policy), "/usr/bin:/bin", "/root")
    grant = control.open_session(start)
    run = Run(memory_before=_memory(pid))
    stop = threading.Event()
    shim = [str(home.shims / grant.id / "true"), "x"]
    timer = threading.Thread(target=_time_shims, args=(shim, dict(grant.environ), stop, run))
    timer.start()
    begin = time.perf_counter()
    asyncio.run(_flood(grant.environ["VAULTROOM_SOCK"], run))
    run.seconds = time.perf_counter() - begin
    stop.set()
    timer.join()
    run.allowed += len(run.shims)
    run.memory_after = _memory(pid)
    control.close_session(grant.id, 0)
    control.close()
    return run


async def _flood(socket: str, run: Run) -> None:
    end = time.perf_counter() + SECONDS
    step = CLIENTS / RATE

    async def client(number: int) -> None:
        due = time.perf_counter() + number / RATE
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            reader, writer = await asyncio.open_unix_connection(socket)
            writer.write(FRAME)
            run.sent += 1
            answer = await reader.read()
            run.allowed += b'"effect":"allow"' in answer
            writer.close()
            due += step

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))


def _time_shims(shim: list[str], environ: dict[str, str], stop: threading.Event, run: Run) -> None:
    while not stop.wait(0.1):
        begin = time.perf_counter()
        subprocess.run(shim, env=environ, check=True)
        run.shims.append(time.perf_counter() - begin)


@contextmanager
def _host(folder: str, *, in_room: bool) -> Iterator[int]:
    environ = {**os.environ, "VAULTROOM_HOME": folder, "TERM": "xterm-256color"}
    if not in_room:
        daemon = subprocess.Popen([VAULTROOM, "daemon"], env=environ, stderr=subprocess.DEVNULL)
        try:
            yield daemon.pid
        finally:
            daemon.terminate()
            daemon.wait()
        return
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(VAULTROOM, [VAULTROOM], environ)
    drain = threading.Thread(target=_drain, args=(terminal,), daemon=True)
    drain.start()
    try:
        yield pid
    finally:
        os.kill(pid, 15)
        os.waitpid(pid, 0)
        drain.join(5)
        os.close(terminal)


def _drain(terminal: int) -> None:
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass


def _connect(home: Home) -> RemoteControl:
    for _ in range(200):
        try:
            return RemoteControl(home.control_socket)
        except HostUnavailable:
            time.sleep(0.05)
    raise RuntimeError("the host does not answer")


def _memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def _rate(run: Run) -> str:
    return f"{run.sent / run.seconds:,.0f} sent and answered for {run.seconds:.0f} s"


def _figure(times: list[float]) -> str:
    ordered = sorted(times)
    late = ordered[int(len(ordered) * 0.99)]
    return f"median {statistics.median(times) * 1e3:.1f} ms, p99 {late * 1e3:.1f} ms"


if __name__ == "__main__":
    for what, figure in measure():
        print(f"{what:<50} {figure}")

"""How fast the audit log is: rates of one and of 32 clients, and of `verify`.

Run as `python tests/perf/audit_perf.py`. A client waits for each of its rows to be durable.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import threading
import time
from pathlib import Path

from vaultroom import clock
from vaultroom.audit.record import Entry, SessionStart, act_entry
from vaultroom.audit.verify import verify
from vaultroom.audit.writer import AuditWriter
from vaultroom.events import Action, Effect, Event, FacetVerdict, Source, Verdict, new_ulid
from vaultroom.signing import SigningKey

_POLICY = b"version: 1\n"
_HASH = hashlib.sha256(_POLICY).hexdigest()
_CLIENTS = 32


def measure() -> list[tuple[str, str]]:
    """Name and value of each figure."""
    with tempfile.TemporaryDirectory() as folder:
        db_path = Path(folder) / "audit.db"
        key = SigningKey.generate()
        writer = AuditWriter(db_path, key)
        writer.start()
        session = new_ulid()
        start = SessionStart(session, "agent", ("agent",), _HASH, _POLICY)
        writer.open_session(start).result()
        asyncio.run(_loop_rate(writer, session, 1, 200))  # warm
        one = asyncio.run(_loop_rate(writer, session, 1, 500))
        many = asyncio.run(_loop_rate(writer, session, _CLIENTS, 250))
        one_thread = _thread_rate(writer, session, 1, 500)
        many_threads = _thread_rate(writer, session, _CLIENTS, 150)
        for future in [writer.submit(entry) for entry in _entries(session, 30_000)]:
            future.result()
        writer.close_session(session, "exit", 0).result()
        writer.stop()
        began = time.perf_counter()
        report = verify(db_path, key.public)
        elapsed = time.perf_counter() - began
        if not report.ok:
            raise RuntimeError(f"the log just written is not valid: {report}")
    return [
        ("audit: rows/s, one client", f"{one:,.0f}"),
        (f"audit: rows/s, {_CLIENTS} clients", f"{many:,.0f}"),
        ("audit: ratio", f"{many / one:.1f}"),
        ("audit: rows/s, one thread", f"{one_thread:,.0f}"),
        (f"audit: rows/s, {_CLIENTS} threads", f"{many_threads:,.0f}"),
        ("audit: ratio of threads", f"{many_threads / one_thread:.1f}"),
        ("verify: rows/s", f"{report.rows / elapsed:,.0f}"),
    ]


def _entries(session: str, count: int) -> list[Entry]:
    verdict = Verdict(
        Effect.ALLOW,
        "workdir-is-free",
        eval_micros=33,
        line=20,
        facets=(FacetVerdict(0, Effect.ALLOW, "workdir-is-free", 20),),
    )
    return [
        act_entry(
            Event(
                id=new_ulid(),
                session_id=session,
                ts=clock.now_ns(),
                source=Source.SHIM,
                action=Action.SHELL_EXEC,
                cmd="git",
                argv=("git", "push", "origin", "main"),
                raw="git push origin main",
                cwd="/home/user/projects/app",
                pid=1234,
            ),
            verdict,
            policy_hash=_HASH,
        )
        for _ in range(count)
    ]


async def _loop_rate(writer: AuditWriter, session: str, clients: int, each: int) -> float:
    async def client(entries: list[Entry]) -> None:
        for entry in entries:
            await writer.append(entry)

    work = [_entries(session, each) for _ in range(clients)]
    began = time.perf_counter()
    await asyncio.gather(*map(client, work))
    return clients * each / (time.perf_counter() - began)


def _thread_rate(writer: AuditWriter, session: str, clients: int, each: int) -> float:
    def client(entries: list[Entry]) -> None:
        for entry in entries:
            writer.submit(entry).result()

    threads = [threading.Thread(target=client, args=(_entries(session, each),)) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return clients * each / (time.perf_counter() - began)


if __name__ == "__main__":
    for name, value in measure():
        print(f"{name:<34}{value:>12}")

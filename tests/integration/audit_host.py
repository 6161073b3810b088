"""A host that writes until it is killed, for test_audit_crash.py. Answered rows are lines in `answers`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tests.unit.audit.audit_kit import an_entry, open_writer, session_start
from vaultroom.audit.writer import AuditWriter
from vaultroom.events import new_ulid
from vaultroom.signing import load_install_key

CLIENTS = 4


def write_until_killed(folder: Path, answers: int) -> None:
    """Take over what an earlier host left, then write from several threads, forever."""
    writer = open_writer(folder / "audit.db", load_install_key(folder / "keys"))
    for left in writer.sessions_unsealed():
        writer.open_session(session_start(left.id, segment=left.segment + 1)).result()
        if left.segment > 2:
            writer.close_session(left.id, "host-lost", None).result()
        else:
            threading.Thread(target=_client, args=(writer, left.id, answers, 10**9), daemon=True).start()
    for _ in range(CLIENTS - 1):
        session = new_ulid()
        writer.open_session(session_start(session)).result()
        threading.Thread(target=_client, args=(writer, session, answers, 10**9), daemon=True).start()
    while True:
        session = new_ulid()
        writer.open_session(session_start(session)).result()
        _client(writer, session, answers, 20)
        writer.close_session(session, "exit", 0).result()


def write_some(folder: Path, answers: int, rows: int) -> None:
    """Two clients, sessions that open and close, `rows` rows in all; then die without a word."""
    writer = open_writer(folder / "audit.db", load_install_key(folder / "keys"))
    longest = new_ulid()
    writer.open_session(session_start(longest)).result()
    helper = threading.Thread(target=_client, args=(writer, longest, answers, rows // 2))
    helper.start()
    for _ in range(rows // 2 // 25):
        session = new_ulid()
        writer.open_session(session_start(session)).result()
        _client(writer, session, answers, 25)
        writer.close_session(session, "exit", 0).result()
    helper.join()
    os._exit(0)


def _client(writer: AuditWriter, session: str, answers: int, rows: int) -> None:
    for _ in range(rows):
        entry = an_entry(session)
        seq = writer.submit(entry).result()
        os.write(answers, f"{session} {seq} {entry.id}\n".encode())


if __name__ == "__main__":
    place = Path(sys.argv[1])
    write_some(
        place, os.open(place / "answers", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), int(sys.argv[2])
    )

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log, add_rows, an_entry, open_writer, session_start
from vaultroom.audit.reader import AuditReader
from vaultroom.audit.verify import verify
from vaultroom.errors import StoreError
from vaultroom.events import new_ulid
from vaultroom.signing import SigningKey

KEY = SigningKey.generate()


def test_ten_thousand_events_from_32_threads_and_none_is_lost(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    sessions = [new_ulid() for _ in range(3)]
    for session in sessions:
        writer.open_session(session_start(session)).result()
    answered: list[tuple[str, str, int]] = []

    def client(number: int) -> None:
        session = sessions[number % 3]
        waiting: list[tuple[str, Future[int]]] = []
        for _ in range(313):
            entry = an_entry(session)
            waiting.append((entry.id, writer.submit(entry)))
            if len(waiting) == 8:
                answered.extend((session, id_, future.result()) for id_, future in waiting)
                waiting.clear()
        answered.extend((session, id_, future.result()) for id_, future in waiting)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert writer.total_rows == 32 * 313 + 3
    for session in sessions:
        assert writer.last_seq(session) == sum(item[0] == session for item in answered) + 1
        writer.close_session(session, "exit", 0).result()
    writer.stop()
    report = verify(tmp_path / "audit.db", KEY.public)
    assert report.exit_code == 0
    assert report.rows == 32 * 313 + 6
    with AuditReader(tmp_path / "audit.db") as reader:
        stored = {(row.session_id, row.id, row.seq) for row in reader.page(20_000)}
    assert stored >= set(answered)
    assert len(set(answered)) == 32 * 313


async def test_it_serves_an_event_loop(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    session = new_ulid()
    await asyncio.wrap_future(writer.open_session(session_start(session)))
    assert sorted(await asyncio.gather(*(writer.append(an_entry(session)) for _ in range(50)))) == [
        *range(2, 52)
    ]
    with pytest.raises(StoreError, match="not open"):
        await writer.append(an_entry("nobody"))
    await asyncio.wrap_future(writer.close_session(session, "exit", 0))
    writer.stop()
    with pytest.raises(StoreError, match="is closed"):
        await writer.append(an_entry(session))
    assert verify(tmp_path / "audit.db", KEY.public).exit_code == 0


async def test_a_caller_that_is_cancelled_does_not_take_its_row_back(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    session = new_ulid()
    await asyncio.wrap_future(writer.open_session(session_start(session)))
    entry = an_entry(session)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(writer.append(entry), timeout=0)
    waiting = writer.append(entry)
    task = asyncio.gather(waiting)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not writer.submit(an_entry(session)).cancel()
    writer.flush(5)
    await asyncio.sleep(0)
    writer.stop()
    with AuditReader(tmp_path / "audit.db") as reader:
        assert reader.by_id(entry.id) is not None


def test_after_stop_everything_is_refused(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    writer.stop()
    writer.stop()
    for future in (writer.submit(an_entry("s")), writer.close_session("s", "exit", 0)):
        with pytest.raises(StoreError, match="is closed"):
            future.result()


def test_what_waits_is_written_before_it_stops(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    session = new_ulid()
    writer.open_session(session_start(session))
    futures = [writer.submit(an_entry(session)) for _ in range(1500)]
    writer.stop()
    assert [future.result(timeout=0) for future in futures] == [*range(2, 1502)]


def test_a_log_that_cannot_be_opened_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be created"):
        open_writer(tmp_path / "no" / "audit.db", KEY)


def test_the_next_host_closes_what_a_dead_one_left(log: Log) -> None:
    writer = open_writer(log.db, log.key)
    (left,) = writer.sessions_unsealed()
    assert (left.id, left.segment, left.seq, left.agent_name) == (log.unsealed, 1, 6, "gemini")
    assert left.agent_command == ("gemini", "--fast")
    writer.open_session(session_start(left.id, segment=left.segment + 1, name=left.agent_name)).result()
    assert writer.sessions_unsealed() == ()
    writer.close_session(left.id, "host-lost", None).result()
    with pytest.raises(StoreError, match="not open"):
        writer.submit(an_entry(left.id)).result()
    writer.stop()
    report = verify(log.db, log.key.public)
    assert report.exit_code == 0
    assert {item.state for item in report.sessions} == {"sealed"}


def test_verify_never_cries_wolf_beside_a_writing_host(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "audit.db", KEY)
    enough = threading.Event()

    def host() -> None:
        while not enough.is_set():
            session = new_ulid()
            writer.open_session(session_start(session)).result()
            add_rows(writer, session, 5)
            for future in [writer.submit(an_entry(session)) for _ in range(20)]:
                future.result()
            writer.close_session(session, "exit", 0).result()

    thread = threading.Thread(target=host)
    thread.start()
    try:
        for _ in range(40):
            report = verify(tmp_path / "audit.db", KEY.public)
            assert report.exit_code == 0, report
    finally:
        enough.set()
        thread.join()
        writer.stop()

"""Law 2, tested by violence: no row that was answered is lost, and no crash is taken for tampering.

Hosts are killed at random points; power is lost below SQLite; the disk gets full.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.audit_disk import Disk, read_trace
from tests.integration.audit_host import write_until_killed
from tests.unit.audit.audit_kit import add_rows, an_entry, open_writer, session_start
from vaultroom.audit.report import SealState
from vaultroom.audit.verify import verify
from vaultroom.errors import StoreError
from vaultroom.events import new_ulid
from vaultroom.signing import SigningKey, load_install_key

HERE = Path(__file__).parent
KILLS = 50
POWER_CUTS = 60


def assert_kept(db_path: Path, answered: list[str]) -> None:
    """Every line `session seq id` names a row that is there."""
    with closing(sqlite3.connect(db_path)) as connection:
        stored = {
            f"{session} {seq} {id_}"
            for session, seq, id_ in connection.execute("SELECT session_id, seq, id FROM events")
        }
    assert not set(answered) - stored


def take_over(db_path: Path, key: SigningKey) -> None:
    """The next host: continue every session that was left, and seal it."""
    writer = open_writer(db_path, key)
    for left in writer.sessions_unsealed():
        writer.open_session(session_start(left.id, segment=left.segment + 1)).result()
        add_rows(writer, left.id, 1)
        writer.close_session(left.id, "host-lost", None).result()
    writer.stop()
    report = verify(db_path, key.public)
    assert report.exit_code == 0, report
    assert all(session.state is SealState.SEALED for session in report.sessions)


@pytest.mark.slow
def test_no_answered_row_is_lost_when_a_host_is_killed(tmp_path: Path) -> None:
    choice = random.Random(20)
    key = load_install_key(tmp_path / "keys")
    db_path = tmp_path / "audit.db"
    answered: list[str] = []
    for _ in range(KILLS):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                write_until_killed(tmp_path, writing)
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            lines = [pipe.readline() for _ in range(choice.randint(1, 40))]
            time.sleep(choice.random() * 0.01)
            os.kill(child, signal.SIGKILL)
            lines += pipe.readlines()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        answered += [line.decode().strip() for line in lines if line.endswith(b"\n")]
        report = verify(db_path, key.public)
        assert report.exit_code == 0, report
        assert not report.notices
    assert len(answered) > KILLS
    assert_kept(db_path, answered)
    take_over(db_path, key)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `log` of a host whose every write and sync was recorded in `trace`."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux to record what reaches the disk")
    base = tmp_path_factory.mktemp("power")
    library = base / "trace.so"
    subprocess.run(
        [
            compiler,
            "-shared",
            "-fPIC",
            "-O1",
            "-w",
            "-o",
            library,
            HERE / "audit_trace.c",
            "-ldl",
            "-lpthread",
        ],
        check=True,
    )
    folder = base / "log"
    folder.mkdir()
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "AUDIT_TRACE": str(base / "trace"),
        "AUDIT_FOLDER": str(folder),
        "PYTHONPATH": str(HERE.parent.parent),
    }
    subprocess.run(
        [sys.executable, "-m", "tests.integration.audit_host", str(folder), "1200"],
        check=True,
        env=environment,
    )
    return base


def test_no_answered_row_is_lost_when_power_is(trace: Path, tmp_path: Path) -> None:
    choice = random.Random(40)
    key = load_install_key(trace / "log" / "keys")
    operations = [
        item for item in read_trace(trace / "trace") if "/keys" not in item.path and "-shm" not in item.path
    ]
    synced = [item for item in operations if item.kind == "s"]
    assert sum(item.path.endswith("-wal") for item in synced) > 100
    assert sum(item.path.endswith(".db") for item in synced) > 3, "no checkpoint was recorded"
    cuts = sorted(choice.sample(range(len(operations)), POWER_CUTS))
    disk = Disk(str(trace / "log"))
    answered: list[str] = []
    states = set()
    for number, operation in enumerate(operations):
        if operation.path.endswith("/answers"):
            answered.append(operation.data.decode().strip())
        else:
            disk.take(operation)
        if number not in cuts:
            continue
        target = tmp_path / str(number)
        target.mkdir()
        disk.lose_power(target, choice)
        db_path = target / "audit.db"
        if not answered:
            continue
        report = verify(db_path, key.public)
        assert report.exit_code == 0, (number, report)
        states.update(session.state for session in report.sessions)
        assert_kept(db_path, answered)
        take_over(db_path, key)
        shutil.rmtree(target)
    assert states == {SealState.SEALED, SealState.UNSEALED}
    assert len(answered) > 1000


def test_a_full_disk_fails_its_rows_and_the_log_goes_on(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", tmp_path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    try:
        key = SigningKey.generate()
        writer = open_writer(tmp_path / "audit.db", key)
        session = new_ulid()
        writer.open_session(session_start(session)).result()
        ballast = tmp_path / "ballast"
        ballast.write_bytes(b"x" * 300_000)
        written = []
        with pytest.raises(StoreError, match=r"full|I/O") as caught:
            for _ in range(5000):
                written += add_rows(writer, session, 1)
        assert caught.value.advice
        futures = [writer.submit(an_entry(session)) for _ in range(20)]
        assert all(future.exception() is not None for future in futures)
        ballast.unlink()
        assert add_rows(writer, session, 3) == [*range(written[-1] + 1, written[-1] + 4)]
        writer.close_session(session, "exit", 0).result()
        writer.stop()
        report = verify(tmp_path / "audit.db", key.public)
        assert report.exit_code == 0, report
        assert report.rows == written[-1] + 4
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def test_a_lock_of_another_process_is_told_and_passes(tmp_path: Path) -> None:
    key = SigningKey.generate()
    writer = open_writer(tmp_path / "audit.db", key, busy_seconds=0.1)
    session = new_ulid()
    writer.open_session(session_start(session)).result()
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "audit.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(StoreError, match="locked"):
            add_rows(writer, session, 1)
        other.communicate()
    assert add_rows(writer, session, 1) == [2]
    writer.stop()
    assert verify(tmp_path / "audit.db", key.public).exit_code == 0

"""Attacks on a running Vaultroom: each is tried for real, in a throw-away home."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.world import VAULTROOM, World, wait_for



def _session_socket(world: World) -> str:
    return str(wait_for(lambda: next(iter(world.run_folder.glob("0*.sock")), None), "a session socket"))


def _frame(argv, cwd="/tmp") -> bytes:
    body = json.dumps({"type": "eval", "event": {"source": "shim", "action": "shell.exec", "argv": argv, "cwd": cwd}}).encode()
    return len(body).to_bytes(4, "big") + body


def _talk(path: str, data: bytes, seconds: float = 20):
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(seconds)
        c.connect(path)
        c.sendall(data)
        head = c.recv(4)
        if len(head) < 4: return None
        n = int.from_bytes(head, "big"); body = b""
        while len(body) < n: body += c.recv(n - len(body))
        return json.loads(body)


def _live(world: World, seconds: int = 120):
    world.host()
    a = world.start("run", "--", "sleep", str(seconds))
    return _session_socket(world)



def test_p_fds(world: World) -> None:
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        path = _live(world)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    held = []
    t0 = time.monotonic()
    while time.monotonic() - t0 < 8 and len(held) < 1300:
        c = socket.socket(socket.AF_UNIX); c.setblocking(False)
        try: c.connect(path); held.append(c)
        except OSError: c.close(); time.sleep(0.01)
    print("held", len(held), time.monotonic() - t0)
    t = time.monotonic()
    try:
        print(_talk(path, _frame(["cat", "x"]), 3))
    except Exception as e: print("other act", repr(e))
    r = world.start("approve", "list")
    try: print(r.communicate(timeout=10), time.monotonic() - t)
    except subprocess.TimeoutExpired: print("approve list hangs")
    r2 = world.start("run", "--", "true")
    try: print(r2.communicate(timeout=10), r2.returncode, time.monotonic() - t)
    except subprocess.TimeoutExpired: print("run hangs")
    for c in held: c.close()
    time.sleep(3)
    try: print(_talk(path, _frame(["cat", "x"]), 10))
    except Exception as e: print("after", repr(e))
    print(len(world.rows()), [r[:6] for r in world.rows()][-4:])
    assert 0


def test_p_lookups(world: World) -> None:
    deep = world.work
    os.mkdir(deep / "d")
    for i in range(38):
        os.symlink("d/../" * 810 + (f"l{i+1}" if i < 37 else "."), deep / f"l{i}")
    world.write_policy("""version: 1
defaults: {action: allow, approval_timeout: 30s}
shims:
  binaries: [rm, cat]
""")
    host = world.host()
    world.start("run", "--", "sleep", "120")
    path = _session_socket(world)
    argv = ["rm"] + [f"l0/{i}/x" for i in range(600)]
    cs = []
    for _ in range(10):
        c = socket.socket(socket.AF_UNIX); c.connect(path); c.sendall(_frame(argv, str(world.work))); cs.append(c)
    time.sleep(3)
    for c in cs: c.close()
    time.sleep(1)
    t = time.monotonic()
    print("cat", _talk(path, _frame(["cat", "x"], "/tmp"), 30), time.monotonic() - t)
    t = time.monotonic()
    os.kill(host.pid, signal.SIGTERM)
    try:
        host.wait(50)
    finally:
        took = time.monotonic() - t
        print("took", took)
    assert took < 10


def test_p_withdrawal(world: World) -> None:
    """A client that leaves while its script is read leaves no outcome."""
    world.write_policy("""version: 1
defaults: {action: allow, approval_timeout: 30s}
rules:
  - name: "ask"
    match: {action: [shell.exec], cel: 'event.cmd == "python3"'}
    effect: require_approval
shims:
  binaries: [rm, cat]
""")
    path = _live(world)
    big = world.work / "s.py"
    with open(big, "wb") as f: f.truncate(16 * 1024 * 1024)
    for i in range(40):
        c = socket.socket(socket.AF_UNIX); c.connect(path); c.sendall(_frame(["python3"] + ["s.py"] * 8, str(world.work))); time.sleep(0.02); c.close()
    time.sleep(3)
    asked = world.rows("verdict='require_approval' and final_effect is null"); done = world.rows("final_effect is not null")
    print(len(asked), len(done))
    assert len(asked) == len(done)


def _edit(world: World, sql: str) -> None:
    c = sqlite3.connect(world.db); c.executescript(sql); c.commit(); c.close()


@pytest.mark.parametrize("sql", [
    "UPDATE events SET payload = CAST(payload AS BLOB) WHERE seq=2", "UPDATE events SET seq = CAST(seq AS REAL) WHERE seq=2",
    "UPDATE events SET rule_name='' WHERE rule_name IS NULL AND seq=2", "UPDATE events SET verdict='DENY' WHERE seq=2",
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM heads; END", "CREATE TABLE x(a)", "CREATE INDEX i ON events(ts)", "CREATE VIEW v AS SELECT 1",
    "UPDATE sessions SET agent_name='x'", "UPDATE sessions SET ended_at=NULL", "DELETE FROM heads", "DELETE FROM policies", "UPDATE policies SET text=text||' '",
    "PRAGMA user_version=99", "PRAGMA application_id=5", "UPDATE events SET payload=replace(payload, '{', '{ ') WHERE seq=2",
    "UPDATE events SET rowid=rowid+100", "DELETE FROM events WHERE seq=(SELECT max(seq) FROM events)", "UPDATE events SET id='x' WHERE seq=2", "UPDATE events SET ts=ts||' ' WHERE seq=2", "UPDATE events SET row_hash=upper(row_hash) WHERE seq=2", "UPDATE sessions SET policy_hash=upper(policy_hash)", "INSERT INTO sessions SELECT 'z'||id,started_at,ended_at,agent_name,agent_command,policy_hash,pubkey,head_hash,head_sig FROM sessions"])
def test_p_tamper(world: World, sql: str) -> None:
    world.call("run", "--", "cat", "/dev/null")
    assert world.call("verify").returncode == 0
    try: _edit(world, sql)
    except sqlite3.Error as e: print("sql", e); return
    r = world.call("verify"); print(r.returncode, r.stdout[:300])
    assert r.returncode == 3

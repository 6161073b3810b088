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



def test_p_swap(world: World) -> None:
    secret = world.root / "secret"; secret.mkdir(); (secret / "f").write_text("x")
    world.write_policy(f"""version: 1
defaults: {{action: allow, approval_timeout: 30s}}
rules:
  - name: "never"
    match: {{action: [fs.delete], path: ["{secret}/**"]}}
    effect: deny
  - name: "ask"
    match: {{action: [fs.delete], path: ["{world.work}/**"]}}
    effect: require_approval
shims:
  binaries: [rm, cat]
""")
    (world.work / "ok").mkdir(); (world.work / "ok" / "f").write_text("x")
    world.script(f"ln -s ok d; (sleep 1; ln -sfn {secret} d; touch swapped) & rm d/f; echo $?; wait")
    a = world.start("run", "--", "bash", "agent.sh")
    r = world.one_request(); print(r)
    wait_for(lambda: (world.work / "swapped").exists(), "swap")
    print(world.call("approve", "allow", r["id"]))
    print(a.communicate(timeout=20))
    assert (secret / "f").exists()


def test_p_held_env(world: World) -> None:
    victim = world.work / "victim"; victim.write_text("x")
    (world.work / "evil").mkdir()
    (world.work / "evil" / "posix.py").write_text("raise SystemExit(0)")
    (world.work / "evil" / "marshal.py").write_text("raise SystemExit(0)")
    (world.work / "evil" / "sitecustomize.py").write_text("raise SystemExit(0)")
    e = str(world.work / "evil")
    lines = [f"PYTHONPATH={e} PYTHONSTARTUP={e}/sitecustomize.py PYTHONHOME={e} PYTHONINSPECT=1 rm victim",
        "S=$(command -v rm); env -i $S victim", "S=$(command -v rm); (unset PATH; $S victim)", "PATH=${PATH%%:*} rm victim",
        "rm victim <&- >&- 2>&-", "S=$(command -v rm); exec -a cat $S victim", "S=$(command -v rm); ln -s $S ./rm2; cp $S ./rm; ./rm victim",
        "(ulimit -n 4; rm victim)", "(ulimit -n 3; rm victim)", "VAULTROOM_SOCK=/dev/null VAULTROOM_SESSION= rm victim", "S=$(command -v rm); python3 -c \"import os,sys; os.execv(sys.argv[1], ['cat','victim'])\" $S",
        "(ulimit -v 60000; rm victim)", "BASH_ENV=x ENV=x LC_ALL=C LD_LIBRARY_PATH=/x rm victim", "rm -- victim $'\\xff' $'a\\nb'", "mkdir gone; cd gone; command rmdir . 2>/dev/null; /bin/rmdir ../gone; rm ../victim",
        "S=$(command -v rm); exec 9<$S; /proc/self/fd/9 victim; cd /proc/$$/fd; ./9 ../cwd/victim", "rm $(printf 'x%.0s' $(seq 120000)) victim", "S=$(command -v rm); bash $S victim; sh $S victim; ruby $S victim"]
    for l in lines: pass
    world.script("cd $1; " + "\n".join(f"( {l} ) >/dev/null 2>>err; echo {i} $?; [ -e $1/victim ] || {{ echo GONE {i}; echo x > $1/victim; }}" for i, l in enumerate(lines)))
    r = world.call("run", "--", "bash", "agent.sh", str(world.work)); print(r.stdout, r.stderr[-300:])
    assert "GONE" not in r.stdout


def test_p_frames(world: World) -> None:
    path = _live(world)
    bodies = [b"", b"[" * 100000, b"{" * 10, b'{"a":1,"a":2}', b"\xff", b'{"type":"eval"}', b'{"type":"eval","event":{"source":"shim","action":"shell.exec","argv":["x"],"cwd":"/","uid":0}}', b'{"type":"eval","event":{"source":"shim","action":"shell.exec","argv":["\\ud800"],"cwd":"/"}}',
        b'{"type":"eval","event":{"source":"shim","action":"shell.exec","argv":["a\\u0000b"],"cwd":"/"}}', b'{"type":"eval","event":{"source":"shim","action":"shell.exec","argv":["///"],"cwd":"/"}}', b'{"type":"eval","event":{"source":"shim","action":"shell.exec","argv":' + b"[" * 900 + b"]" * 900 + b',"cwd":"/"}}', b"1" * 5000, b'{"type":"eval","event":{"source":"hook","action":"shell.exec","argv":["x"],"cwd":"/"}}', b"NaN"]
    for b in bodies:
        r = _talk(path, len(b).to_bytes(4, "big") + b); print(b[:40], r and r["effect"])
        assert r["effect"] == "deny"
    assert _talk(path, b"\xff\xff\xff\xff")["effect"] == "deny"
    with socket.socket(socket.AF_UNIX) as c: c.connect(path); c.sendall(b"\0\0")
    print([x[2:4] for x in world.rows()][-3:])
    assert _talk(path, _frame(["cat"]))["effect"] == "allow"


def test_p_control_inside(world: World) -> None:
    world.host()
    world.script("(git push; echo push $? >out) & sleep 1; id=$1; "
      "vaultroom approve list; env -i HOME=$HOME VAULTROOM_HOME=$VAULTROOM_HOME PATH=$PATH setsid -f vaultroom approve list; (env -i HOME=$HOME VAULTROOM_HOME=$VAULTROOM_HOME PATH=$PATH setsid -f setsid -f bash -c 'sleep 0.5; (vaultroom approve list --json &)'); sleep 3")
    r = world.call("run", "--", "bash", "agent.sh"); print(r)
    assert r.stderr.count("refused: it descends") == 3 and "requests" not in r.stdout


@pytest.mark.parametrize("how", ["deep", "fifo", "listid", "ints"])
def test_p_session_file(world: World, how: str) -> None:
    world.host().terminate(); time.sleep(1)
    f = world.home / "sessions" / "01X.json"
    if how == "deep": f.write_text("[" * 200000)
    elif how == "fifo": os.mkfifo(f)
    elif how == "listid": f.write_text(json.dumps({"id": [], "agent_name": "a", "agent_command": [], "cwd": "/", "home": "/", "path": "", "policy_hash": "", "policy_name": "", "audit_db": str(world.db), "runner": {}, "child": {}}))
    else: f.write_text("1" * 10000)
    d = world.start("daemon"); time.sleep(2)
    print(d.poll(), d.stderr.read()[-300:] if d.poll() is not None else "")
    assert world.is_hosted()


@pytest.mark.parametrize("name", ["run/control.sock", "audit.db", "audit.db.head", "run/host.lock", "keys/install.key", "trusted-policies", "sessions", "shims"])
def test_p_planted(world: World, name: str) -> None:
    target = world.root / "precious"; target.write_text("precious")
    place = (world.run_folder / name[4:]) if name.startswith("run/") else world.home / name
    place.parent.mkdir(parents=True, exist_ok=True); place.parent.chmod(0o700)
    place.symlink_to(target)
    r = world.call("run", "--", "true"); print(name, r.returncode, r.stderr[:300]); print(target.read_bytes()[:50])
    (world.work / "vaultroom.yaml").write_text("version: 1\n"); world.call("policy", "trust", "vaultroom.yaml")
    assert target.read_text() == "precious"

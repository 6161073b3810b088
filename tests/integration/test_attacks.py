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
    for _ in range(1300):
        c = socket.socket(socket.AF_UNIX); c.settimeout(2); held.append(c)
        for _ in range(50):
            try: c.connect(path); break
            except BlockingIOError: time.sleep(0.05)
            except OSError as e: print(len(held), e); break
    print("held", len(held))
    t = time.monotonic()
    r = world.call("approve", "list"); print(r, time.monotonic() - t)
    r2 = world.call("run", "--", "true"); print(r2, time.monotonic() - t)
    for c in held: c.close()
    time.sleep(1.5)
    print(_talk(path, _frame(["cat", "x"])))
    print([r[:6] for r in world.rows()][-10:], len(world.rows()))
    assert r.returncode == 0 and "Nothing waits for" in r.stderr and r2.returncode == 0


def test_p_lookups(world: World) -> None:
    deep = world.work
    names = []
    for i in range(40):
        # l<i> -> ./././ ... l<i+1>
        os.symlink("./" * 2040 + (f"l{i+1}" if i < 39 else "end"), deep / f"l{i}")
    world.write_policy("""version: 1
defaults: {action: allow, approval_timeout: 30s}
shims:
  binaries: [rm, cat]
""")
    host = world.host()
    world.start("run", "--", "sleep", "120")
    path = _session_socket(world)
    argv = ["rm"] + [f"l0/{i}" for i in range(9999)]
    cs = []
    for _ in range(10):
        c = socket.socket(socket.AF_UNIX); c.connect(path); c.sendall(_frame(argv, str(world.work))); cs.append(c)
    time.sleep(3)
    t = time.monotonic()
    print("other", _talk(path, _frame(["rm", "x"], "/tmp"), 3) if False else None)
    for c in cs: c.close()
    time.sleep(1)
    t = time.monotonic()
    print("cat", _talk(path, _frame(["cat", "x"], "/tmp"), 30), time.monotonic() - t)
    os.kill(host.pid, signal.SIGTERM)
    try:
        host.wait(60)
    finally:
        took = time.monotonic() - t
        print("took", took)
    assert took < 10


def test_p_xdg(world: World) -> None:
    run = world.root / "xdg"; run.mkdir(mode=0o700)
    cfg = world.user / ".config" / "vaultroom"; cfg.mkdir(parents=True)
    (cfg / "policy.yaml").write_text((world.home / "policy.yaml").read_text())
    e1 = {"VAULTROOM_HOME": "", "XDG_RUNTIME_DIR": str(run)}
    e2 = {"VAULTROOM_HOME": "", "XDG_RUNTIME_DIR": ""}
    d1 = world.start("daemon", environ=e1)
    time.sleep(1.5)
    world.script("cat x; sleep 2; cat x; echo $?; sleep 2; cat y; echo $?")
    a = world.start("run", "--", "bash", "agent.sh", environ=e1)
    time.sleep(1.5)
    r = world.call("run", "--", "bash", "-c", "cat x", environ=e2)
    print(r)
    out, err = a.communicate(timeout=40)
    print(out, err)
    os.kill(d1.pid, signal.SIGTERM); d1.wait(20); print(d1.stderr.read())
    v = world.call("verify", environ=e1); print(v.returncode, v.stdout, v.stderr)
    assert v.returncode == 0


def test_p_cross_session(world: World) -> None:
    world.host()
    world.start("run", "--", "sleep", "60")
    victim = _session_socket(world)
    code = f"""
import socket, json
b=json.dumps({{"type":"eval","event":{{"source":"shim","action":"shell.exec","argv":["cat","forged"],"cwd":"/tmp"}}}}).encode()
c=socket.socket(socket.AF_UNIX); c.connect({victim!r}); c.sendall(len(b).to_bytes(4,"big")+b); c.settimeout(5); print(c.recv(999))
"""
    (world.work / "x.py").write_text(code)
    r = world.call("run", "--agent", "evil", "--", sys.executable, "x.py")
    print(r)
    rows = world.rows("payload like '%forged%'"); print(rows)
    assert not rows or '"agent":"sleep"' not in rows[0][6]


SECRETS = ["ghp_" + "a1B2" * 9, "sk-ant-api03-" + "Ab1-" * 20, "AKIAIOSFODNN7EXAMPLE", "hunter2secret"]


def test_p_secrets(world: World) -> None:
    world.write_policy("""version: 1
defaults: {action: allow, approval_timeout: 1s}
rules:
  - name: "err"
    match: {action: [shell.exec], cel: 'event.argv[7] == "zz"'}
    effect: deny
shims:
  binaries: [cat, rm, git, curl]
""")
    path = _live(world)
    g = SECRETS[0]
    tries = [["curl", "-H", "Authorization: Bearer hunter2secret", "x"], ["curl", "-u", "me:hunter2secret", "x"], ["git", "clone", "https://me:hunter2secret@h/x"],
        ["curl", "--user=me:hunter2secret"], ["mysql", "-phunter2secret"], ["psql", "postgres://u:hunter2secret@h/db"], ["curl", "-d", '{"password":"hunter2secret"}'],
        ["curl", "-d", "password=hunter2secret"], ["rm", f"/tmp/{g}"], ["rm", "password=hunter2secret"], ["env", "API_KEY=hunter2secret", "x"], ["bash", "-c", "export TOKEN=hunter2secret; x"],
        ["docker", "login", "-p", "hunter2secret"], ["docker", "login", "--password", "hunter2secret"], ["sshpass", "-p", "hunter2secret", "ssh"], ["aws", "configure", "set", "aws_secret_access_key", "hunter2secret"],
        ["gh", "secret", "set", "X", "--body", "hunter2secret"], ["git", "-c", "http.extraHeader=Authorization: Basic hunter2secret", "x"], ["npm", "config", "set", "//r/:_authToken", "hunter2secret"],
        ["curl", "-b", "session=hunter2secret"], ["curl", "x?access_token=hunter2secret"], ["openssl", "enc", "-k", "hunter2secret"], ["openssl", "x", "-passin", "pass:hunter2secret"], ["ansible", "-e", "db_password=hunter2secret"],
        ["redis-cli", "-a", "hunter2secret"], ["PGPASSWORD=hunter2secret"], ["echo", g[:20], g[20:]], ["kubectl", "create", "secret", "generic", "a", "--from-literal=password=hunter2secret"], ["vault", "login", "hunter2secret"], ["htpasswd", "-b", "f", "u", "hunter2secret"], ["zip", "-P", "hunter2secret", "a"], ["7z", "a", "-phunter2secret"], ["gpg", "--passphrase", "hunter2secret"], ["curl", "--oauth2-bearer", "hunter2secret"], ["wget", "--password=hunter2secret"], ["wget", "--http-password", "hunter2secret"], ["ldapsearch", "-w", "hunter2secret"], ["smbclient", "-U", "u%hunter2secret"], ["twine", "upload", "-p", "hunter2secret"], ["git", "push", "-o", "token=hunter2secret"], ["helm", "install", "--set", "auth.password=hunter2secret"], ["heroku", "config:set", "SECRET_KEY=hunter2secret"], ["curl", "-H", "X-Api-Key: hunter2secret"], ["curl", "-HCookie: a=hunter2secret"], ["rm", "https://u:hunter2secret@h/x"], ["cat", "a", "--token", "hunter2secret"]]
    leaks = []
    for argv in tries:
        n = len(world.rows())
        _talk(path, _frame(argv))
        rows = world.rows()[n:]
        if any(s in str(r) for r in rows for s in SECRETS): leaks.append(argv)
    # cwd, frame errors
    n = len(world.rows())
    body = json.dumps({"type": "eval", "event": {"source": "shim", "action": "password=hunter2secret", "argv": ["x"], "cwd": "/"}}).encode()
    print(_talk(path, len(body).to_bytes(4, "big") + body))
    if "hunter2secret" in str(world.rows()[n:]): leaks.append("frame error")
    n = len(world.rows())
    _talk(path, _frame(["cat"], f"/tmp/{g}"))
    if g in str(world.rows()[n:]): leaks.append("cwd")
    for l in leaks: print("LEAK", l)
    assert not leaks


def test_p_text(world: World) -> None:
    E = "\x1b]0;PWN\x07\x1b[31m\u202e\u200b"
    outs = []
    outs.append(world.call("run", "--agent", E, "--", "false" + E))
    outs.append(world.call("run", "--policy", "no" + E, "--", "x"))
    (world.work / ("p" + E.replace("/", "") + ".yaml")).write_text("version: 1\nrules: [{name: 'a\u202e', match: {cel: 'xx'}}]\n")
    for sub in (["policy", "check"], ["policy", "trust"], ["policy", "test"]):
        outs.append(world.call(*sub, "p" + E + ".yaml"))
    (world.work / "q.yaml").write_text('version: 1\n"bad\\e]0;PWN\\a": 1\nrules:\n  - {name: "n\\e[31m", match: {cel: "event.zz == \'\\e[31m\'"}, effect: "\\e[31mx"}\n')
    outs.append(world.call("policy", "check", "q.yaml"))
    outs.append(world.call("policy", "explain", "rm " + E))
    outs.append(world.call("policy", "explain", "--event", '{"x\\u001b]0;": 1}'))
    outs.append(world.call("approve", "allow", E))
    outs.append(world.call("approve", "deny", "01M8PFS0F301BG1PTWV9D2PSR0", "--reason", E))
    outs.append(world.call("verify", "--session", E))
    outs.append(world.call("verify", "--db", "no" + E))
    outs.append(world.call(E))
    outs.append(world.call("run", "--nope" + E, "--", "x"))
    outs.append(world.call("daemon", "--nope" + E))
    agent = world.start("run", "--agent", "a" + E, "--", "bash", "-c", "git push '" + E + "'")
    r = world.one_request(); outs.append(world.call("approve", "list")); outs.append(world.call("approve", "list", "--json"))
    outs.append(world.call("approve", "deny", r["id"], "--reason", E))
    out, err = agent.communicate(timeout=20)
    outs.append(subprocess.CompletedProcess(["agent"], 0, out, err))
    bad = [(o.args, o.stdout, o.stderr) for o in outs if any(c in o.stdout + o.stderr for c in "\x1b\x07\u202e\u200b")]
    for b in bad: print("BAD", b)
    for o in outs:
        if "Traceback" in o.stderr: print("TRACE", o.args, o.stderr[-600:])
    assert not bad


def test_p_slow_control_reader(world: World) -> None:
    host = world.host()
    c = socket.socket(socket.AF_UNIX); c.connect(str(world.run_folder / "control.sock"))
    def fr(d):
        b = json.dumps(d).encode(); return len(b).to_bytes(4, "big") + b
    try:
        for i in range(3000):
            c.settimeout(0.5)
            c.sendall(fr({"n": i, "op": "state", "args": {}}))
    except TimeoutError: print("full at", i)
    t = time.monotonic()
    print(world.call("run", "--", "cat", "/dev/null"), time.monotonic() - t)
    os.kill(host.pid, signal.SIGTERM); host.wait(30); took = time.monotonic() - t
    c.close(); print(took)
    assert took < 15


def test_p_300(world: World) -> None:
    world.script("for i in $(seq 300); do (cat /dev/null; echo $? >> codes) & done; wait; sort codes | uniq -c")
    r = world.call("run", "--", "bash", "agent.sh"); print(r.stdout, r.stderr[-300:])
    assert r.stdout.split() == ["300", "0"]
    assert world.call("verify").returncode == 0

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


def test_probe_daemon_inside(world: World) -> None:
    host = world.host()
    world.script(f"kill -9 {host.pid}; sleep 0.5; vaultroom daemon >d.out 2>&1 & echo $! >pid; sleep 3; kill $(cat pid); sleep 1")
    result = world.call("run", "--", "bash", "agent.sh")
    print(result)
    print((world.work/"d.out").read_text())
    assert "hosting" not in (world.work/"d.out").read_text()


def test_probe_kill_runner(world: World) -> None:
    world.host()
    world.script(
        "env -i HOME=$HOME VAULTROOM_HOME=$VAULTROOM_HOME PATH=$PATH setsid -f bash esc.sh >esc.out 2>&1\n"
        "git push >push.out 2>&1 &\n"
        "sleep 1; kill -9 $PPID; sleep 15")
    world.script(
        "sleep 2; read a b c d e </proc/$$/stat; echo ppid $d; for i in 1 2; do "
        f"id=$({VAULTROOM} approve list --json | {sys.executable} -c 'import json,sys; print(json.load(sys.stdin)[\"requests\"][0][\"id\"])'); {VAULTROOM} approve allow $id; echo code $?; sleep 0.3; done; echo done", name="esc.sh")
    world.start("run", "--", "bash", "agent.sh")
    wait_for(lambda: (world.work / "esc.out").exists() and "done" in (world.work / "esc.out").read_text(), "esc")
    print((world.work / "esc.out").read_text())
    print([r[:6] for r in world.rows()])
    assert not any(row[4] == "allow" for row in world.rows())


@pytest.mark.parametrize("other", ["", "/elsewhere"])
def test_probe_takeover_env(world: World, other: str) -> None:
    secret = world.root / "secret"
    secret.mkdir()
    (secret / "f").write_text("x")
    pol = world.root / "p.yaml"
    pol.write_text("""version: 1
defaults: {action: allow, approval_timeout: 30s}
rules:
  - name: "keep"
    match: {action: [fs.delete], path: ["$PROJECT/**"]}
    effect: deny
shims:
  binaries: [rm, git, cat]
""")
    host = world.host()
    world.script(f"rm {secret}/f; echo first $?; touch ready; while [ ! -e go ]; do sleep 0.1; done; rm {secret}/f; echo second $?; touch done; sleep 1")
    agent = world.start("run", "--policy", str(pol), "--", "bash", "agent.sh", environ={"PROJECT": str(secret)})
    wait_for(lambda: (world.work / "ready").exists(), "ready")
    host.kill(); host.wait()
    d = world.start("daemon", environ={"PROJECT": other} if other else {})
    time.sleep(3)
    print("daemon", d.poll(), d.stderr.read() if d.poll() is not None else "")
    (world.work / "go").touch()
    out, err = agent.communicate(timeout=30)
    print(out, err)
    assert (secret / "f").exists()
    assert d.poll() is None


def _live(world: World, seconds: int = 120):
    world.host()
    a = world.start("run", "--", "sleep", str(seconds))
    return _session_socket(world)


def _probe_speed(world: World, path: str, attack: bytes, limit: float) -> None:
    print("before", _talk(path, _frame(["cat", "x"])))
    c = socket.socket(socket.AF_UNIX); c.connect(path); c.settimeout(30); c.sendall(attack)
    time.sleep(0.3)
    t = time.monotonic()
    try:
        print("during", _talk(path, _frame(["cat", "x"]), 40))
    finally:
        took = time.monotonic() - t
        print("took", took)
        c.close()
    assert took < limit


def test_probe_dup_keys(world: World) -> None:
    n = 40000
    body = ("{" + ",".join(f'"{i:06d}":0' for i in range(n)) + f',"{n-1:06d}":0' + "}").encode()
    _probe_speed(world, _live(world), len(body).to_bytes(4, "big") + body, 2)


def test_probe_mask(world: World) -> None:
    _probe_speed(world, _live(world), _frame(["cat"] + ["--password=x"] * 100000), 2)


def test_probe_fds(world: World) -> None:
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        path = _live(world)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    held = []
    for _ in range(1500):
        c = socket.socket(socket.AF_UNIX); c.settimeout(2)
        try: c.connect(path)
        except OSError as e: print(len(held), e); break
        held.append(c)
    print("held", len(held))
    t = time.monotonic()
    r = world.call("approve", "list"); print(r, time.monotonic() - t)
    r2 = world.call("run", "--", "true"); print(r2, time.monotonic() - t)
    for c in held: c.close()
    time.sleep(1.5)
    print(_talk(path, _frame(["cat", "x"])))
    assert r.returncode == 0 and "Nothing waits for" in r.stderr and r2.returncode == 0


def test_probe_many_args(world: World) -> None:
    secret = world.user / ".ssh"; secret.mkdir(); (secret / "id").write_text("x")
    world.write_policy("""version: 1
defaults: {action: allow, approval_timeout: 30s}
rules:
  - name: "keep"
    match: {action: [fs.delete], path: ["~/.ssh/**"]}
    effect: deny
shims:
  binaries: [rm]
""")
    world.script(f"rm -f ~/.ssh/id {{1..10001}}; echo $?; rm -f $VAULTROOM_HOME/policy.yaml {{1..10001}}; echo $?")
    agent = world.start("run", "--", "bash", "agent.sh")
    r = world.one_request(); print(r["rule"], len(r["summary"]))
    print(world.call("approve", "allow", r["id"]))
    r = wait_for(lambda: next((q for q in world.requests() if q["id"] != r["id"]), None), "2nd"); print(r["rule"], len(r["summary"]))
    print(world.call("approve", "allow", r["id"]))
    out, err = agent.communicate(timeout=30); print(out, err[:500])
    assert (secret / "id").exists() and (world.home / "policy.yaml").exists()


def _repository(world: World) -> Path:
    origin, clone = world.root / "origin.git", world.work / "clone"
    run = ["git", "-c", "user.email=a@b", "-c", "user.name=a"]
    subprocess.run([*run, "init", "-q", "--bare", str(origin)], check=True)
    subprocess.run([*run, "init", "-q", "-b", "main", str(clone)], check=True)
    subprocess.run([*run, "-C", str(clone), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*run, "-C", str(clone), "remote", "add", "origin", str(origin)], check=True)
    return clone


@pytest.mark.parametrize("push", ["git --shallow-file '' push origin main", "git config alias.p push; git p origin main",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p origin main", "git --shallow-file $PWD/.git/shallow push origin main", "git --git-dir .git --work-tree . --no-pager push origin main", "git send-pack origin main"])
def test_probe_git_push(world: World, push: str) -> None:
    clone = _repository(world)
    world.write_policy(Path(world.home / "policy.yaml").read_text().replace("30s", "2s"))
    r = world.call("run", "--", "bash", "-c", push + "; echo code $?", cwd=clone)
    print(r)
    assert subprocess.run(["git", "-C", str(world.root / "origin.git"), "rev-parse", "-q", "--verify", "main"]).returncode != 0


def test_probe_git_clean_env(world: World) -> None:
    clone = _repository(world)
    keep = world.root / "keep"; keep.mkdir(); (keep / "f").write_text("x")
    world.write_policy(f"""version: 1
defaults: {{action: allow, approval_timeout: 30s}}
rules:
  - name: "keep"
    match: {{action: [fs.delete], path: ["{keep}/**"]}}
    effect: deny
shims:
  binaries: [git]
""")
    r = world.call("run", "--", "bash", "-c", f"export GIT_DIR={clone}/.git; git --work-tree {keep} clean -fdx; echo $?; GIT_WORK_TREE={keep} git clean -fdx; echo $?", cwd=clone)
    print(r)
    assert (keep / "f").exists()


def test_probe_grant_env(world: World) -> None:
    clone = _repository(world)
    world.script(f'cd {clone}; git push origin main; echo $?; GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.pushurl GIT_CONFIG_VALUE_0={world.root}/evil.git git push origin main; echo $?')
    subprocess.run(["git", "init", "-q", "--bare", str(world.root / "evil.git")], check=True)
    agent = world.start("run", "--", "bash", "agent.sh")
    r = world.one_request()
    print(world.call("approve", "allow", r["id"], "--rule"))
    time.sleep(2)
    print("asked again:", world.requests())
    asked = bool(world.requests())
    evil = subprocess.run(["git", "-C", str(world.root / "evil.git"), "rev-parse", "-q", "--verify", "main"]).returncode == 0
    assert not evil


def test_probe_umask(world: World) -> None:
    old = os.umask(0)
    try:
        world.host(); world.start("run", "--", "sleep", "30"); _session_socket(world)
        (world.work / "vaultroom.yaml").write_text("version: 1\ndefaults: {action: allow}\n")
        world.call("policy", "trust", "vaultroom.yaml")
    finally:
        os.umask(old)
    bad = []
    for base, ds, fs in os.walk(world.home):
        for n in ds + fs:
            m = os.lstat(os.path.join(base, n)).st_mode
            if m & 0o077 and n != "policy.yaml": bad.append((os.path.join(base, n), oct(m)))
    for base, ds, fs in os.walk(world.run_folder):
        for n in ds + fs + ["."]:
            m = os.lstat(os.path.join(base, n)).st_mode
            if m & 0o077: bad.append((os.path.join(base, n), oct(m)))
    print(bad)
    assert not bad

"""What goes wrong around a session: disks, databases, stale files, hosts. Never an allow, never lost."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.world import POLICY, World, wait_for

TWO_ACTS = (
    'cat /dev/null; echo "first $?"; touch one; while [ ! -e go ]; do sleep 0.05; done\n'
    'cat /dev/null; echo "second $?"; touch two; while [ ! -e on ]; do sleep 0.05; done\n'
    'cat /dev/null; echo "third $?"'
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _log_on(world: World, path: Path) -> None:
    world.write_policy(f"{POLICY}audit: {{path: {path}}}\n")


def test_a_full_disk_denies_and_the_log_goes_on_afterwards(world: World, small_disk: Path) -> None:
    log = small_disk / "audit.db"
    _log_on(world, log)
    world.script(TWO_ACTS)
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "one").exists, "the first act")
    filler = small_disk / "filler"
    descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(descriptor, bytes(4096)):
            pass
    os.close(descriptor)
    (world.work / "go").touch()
    wait_for((world.work / "two").exists, "the second act")
    filler.unlink()
    (world.work / "on").touch()
    out, err = agent.communicate(timeout=60)
    assert out == "first 0\nsecond 126\nthird 0\n", err
    assert str(log) in err
    assert "builtin:audit" in err
    verified = world.call("verify", "--db", str(log))
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_locked_log_denies_and_the_log_goes_on_afterwards(world: World) -> None:
    world.script(TWO_ACTS)
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "one").exists, "the first act")
    connection = sqlite3.connect(world.db, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    (world.work / "go").touch()
    wait_for((world.work / "two").exists, "the second act")
    connection.execute("ROLLBACK")
    connection.close()
    (world.work / "on").touch()
    out, err = agent.communicate(timeout=60)
    assert out == "first 0\nsecond 126\nthird 0\n", err
    assert str(world.db) in err
    assert world.call("verify").returncode == 0


def test_a_log_from_a_newer_version_is_refused(world: World) -> None:
    world.call("run", "--", "true")
    with sqlite3.connect(world.db) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (99, 'later')")
    connection.close()
    result = world.call("run", "--", "true")
    assert result.returncode == 77
    assert "99" in result.stderr
    assert "the agent was not run" in result.stderr


def test_a_log_that_was_changed_is_not_written_on(world: World) -> None:
    world.call("run", "--", "true")
    with sqlite3.connect(world.db) as connection:
        connection.execute("DELETE FROM events WHERE seq=2")
    connection.close()
    result = world.call("run", "--", "true")
    assert result.returncode == 77
    assert "vaultroom verify" in result.stderr


def test_stale_files_of_a_killed_host_are_no_obstacle(world: World) -> None:
    world.call("run", "--", "true")
    run = world.run_folder
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(run / "control.sock"))
    stale.close()
    (world.home / "host.lock").write_text("99999999\n")
    (world.home / "sessions" / "01J00000000000000000000000.json").write_text("{broken")
    world.script("rm x; echo $?")
    assert world.call("run", "--", "bash", "agent.sh").stdout == "126\n"


def test_of_many_hosts_at_once_one_stays(world: World) -> None:
    daemons = [world.start("daemon") for _ in range(5)]
    wait_for(lambda: sum(d.poll() is not None for d in daemons) == 4, "four hosts to give up")
    ended = [daemon for daemon in daemons if daemon.poll() is not None]
    assert {daemon.returncode for daemon in ended} == {1}
    assert all("is the host of this home already" in d.communicate()[1] for d in ended)
    assert world.is_hosted()


def test_many_runs_at_once_share_one_log(world: World) -> None:
    world.script('cat /dev/null && rm x; echo "code $?"')
    runs = [world.start("run", "--agent", f"a{i}", "--", "bash", "agent.sh") for i in range(6)]
    outputs = [run.communicate(timeout=90) for run in runs]
    assert [out for out, _ in outputs] == ["code 126\n"] * 6, outputs
    verified = json.loads(world.call("verify", "--json").stdout)
    assert verified["ok"] is True
    assert [s["state"] for s in verified["sessions"]] == ["sealed"] * 6


def test_a_policy_with_another_log_is_refused_by_the_host(world: World) -> None:
    world.host()
    other = world.root / "other.yaml"
    other.write_text(f"{POLICY}audit: {{path: {world.root / 'other.db'}}}\n")
    result = world.call("run", "--policy", str(other), "--", "true")
    assert result.returncode == 2
    assert "audit.path" in result.stderr


def test_a_home_that_cannot_be_written(world: World) -> None:
    blocked = world.root / "blocked"
    blocked.write_text("a file in place of the folder")
    result = world.call("run", "--", "true", environ={"VAULTROOM_HOME": str(blocked)})
    assert result.returncode in (2, 77)
    assert str(blocked) in result.stderr
    assert "Traceback" not in result.stderr


def test_a_dead_runner_and_a_dead_agent_are_noticed(world: World) -> None:
    world.host()
    world.script("echo $$ > pid; sleep 100")
    runner = world.start("run", "--", "bash", "agent.sh")
    pid = int(
        wait_for(lambda: (world.work / "pid").exists() and (world.work / "pid").read_text(), "the agent")
    )
    runner.kill()
    runner.wait()
    os.killpg(pid, 9)
    closed = wait_for(lambda: world.rows("action='session.close'"), "the seal")
    assert json.loads(closed[0][6])["record"]["reason"] == "runner-lost"


def test_a_policy_in_the_work_tree_counts_only_when_it_is_trusted(world: World) -> None:
    (world.work / "vaultroom.yaml").write_text(
        "version: 1\ndefaults: {action: allow}\nshims: {binaries: [rm]}\n"
    )
    world.script("rm missing; echo $?")
    offered = world.call("run", "--", "bash", "agent.sh")
    assert offered.stdout == "126\n"
    assert "policy trust" in offered.stderr
    assert world.call("policy", "trust", "vaultroom.yaml").returncode == 0
    assert world.call("run", "--", "bash", "agent.sh").stdout == "1\n"


def test_a_full_queue_of_questions_is_answered_not_dropped(world: World) -> None:
    world.script("for i in $(seq 12); do git push r$i & done; wait; echo over")
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for(lambda: len(world.requests()) == 12, "twelve requests")
    for request in world.requests():
        assert world.call("approve", "deny", request["id"]).returncode == 0
    out, _ = agent.communicate(timeout=60)
    assert out == "over\n"
    assert len(world.rows("final_effect='deny'")) == 12

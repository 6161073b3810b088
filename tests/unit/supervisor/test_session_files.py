from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

from vaultroom.supervisor.session_files import ProcessMark, SessionFile, SessionFiles


def _facts(**more: object) -> SessionFile:
    facts = SessionFile(
        id="01J00000000000000000000000",
        agent_name="a\udc80gent",
        agent_command=("bash", "x\udc80"),
        cwd="/work",
        home="/home/dev",
        path="/bin",
        policy_hash="0" * 64,
        policy_name="p.yaml",
        audit_db="/audit.db",
        runner=ProcessMark.of(os.getpid()),
    )
    return replace(facts, **more)  # type: ignore[arg-type]


def test_a_session_reads_back(tmp_path: Path) -> None:
    files = SessionFiles(tmp_path)
    files.save(_facts())
    assert list(files) == [_facts()]
    assert (tmp_path / f"{_facts().id}.json").stat().st_mode & 0o777 == 0o600
    files.remove(_facts().id)
    files.remove(_facts().id)
    assert list(files) == []


def test_broken_files_are_skipped(tmp_path: Path) -> None:
    files = SessionFiles(tmp_path)
    files.save(_facts())
    for name, text in {"a": "", "b": "[]", "c": "{}", "d": '{"id": 1, "x": 2}', "e": "\x00"}.items():
        (tmp_path / f"{name}.json").write_text(text)
    assert [session.id for session in files] == [_facts().id]


def test_a_process_is_named_for_good() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    mark = ProcessMark.of(sleeper.pid)
    assert mark.alive()
    assert not replace(mark, start="1@other-boot").alive()
    sleeper.kill()
    sleeper.wait()
    assert not mark.alive()
    assert not ProcessMark().alive()


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["true"])
    mark = ProcessMark.of(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not mark.alive()
    child.wait()

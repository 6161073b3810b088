from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.kit.events import shell, touching
from vaultroom.approvals.asking import new_request
from vaultroom.approvals.grants import Memory
from vaultroom.events import Action, Effect, Event, FacetVerdict, Source, Verdict
from vaultroom.supervisor import dossier


def _tool(tool: str, cwd: Path, **arguments: Any) -> Event:
    return replace(
        shell("x"), source=Source.HOOK, action=Action.MCP_TOOL, cmd="", argv=(), raw="", tool=tool,
        tool_args=arguments, cwd=str(cwd),
    )  # fmt: skip


def test_what_a_delete_would_take(tmp_path: Path) -> None:
    for name in ("a/b/one", "a/two", "a/three\x1b[2J"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    event = touching(shell("rm", "-r", "a"), (Action.FS_DELETE, str(tmp_path / "a")), recursive=True)
    removal = dossier.removal_of(event)
    assert removal is not None
    assert removal.complete
    assert removal.files == 4
    assert removal.bytes >= 15
    assert any("three␛[2J" in path for path in removal.sample)
    assert dossier.removal_of(shell("ls")) is None


def test_counting_is_bounded(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(dossier, "MAX_ENTRIES", 10)
    for number in range(30):
        (tmp_path / str(number)).touch()
    event = touching(shell("rm", "-r", "."), (Action.FS_DELETE, str(tmp_path)), recursive=True)
    removal = dossier.removal_of(event)
    assert removal is not None
    assert not removal.complete
    assert removal.files < 11


def test_the_difference_of_a_write_and_an_edit(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("a\nb\nc\n")
    write = _tool("Write", tmp_path, file_path=str(file), content="a\nB\x1b[2J\nc\n")
    assert [line for line in dossier.difference_of(write) if line[0] in "+-"] == ["-b", "+B␛[2J"]
    edit = _tool("Edit", tmp_path, file_path="f.py", old_string="b", new_string="x", replace_all=False)
    assert [line for line in dossier.difference_of(edit) if line[0] in "+-"] == ["-b", "+x"]
    new = _tool("Write", tmp_path, file_path="new", content="hello")
    assert "+hello" in dossier.difference_of(new)
    assert dossier.difference_of(shell("ls")) == []
    assert dossier.difference_of(_tool("Write", tmp_path, file_path=7, content="x")) == []
    long = _tool("Write", tmp_path, file_path="new", content="\n".join(map(str, range(2000))))
    assert "more lines" in dossier.difference_of(long)[-1]


def test_who_asks() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 60; true"])
    found = []
    while not found:
        found = subprocess.run(
            ["pgrep", "-P", str(child.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
    chain = dossier.process_chain(int(found[0]), runner_pid=os.getpid())
    assert chain[-1] == f"sh ({child.pid})"
    assert chain[0].startswith("sleep (")
    for pid in (int(found[0]), child.pid):
        os.kill(pid, 9)
    child.wait()
    assert dossier.process_chain(child.pid, runner_pid=os.getpid()) == []


def test_facets_are_named_with_the_rule_that_decides() -> None:
    event = touching(shell("rm", "x"), (Action.FS_DELETE, "/x"), (Action.FS_READ, "/y"))
    verdict = Verdict(
        Effect.REQUIRE_APPROVAL,
        facets=(
            FacetVerdict(0, Effect.ALLOW),
            FacetVerdict(1, Effect.REQUIRE_APPROVAL, rule_name="r", line=7),
            FacetVerdict(2, Effect.ALLOW, counts=False),
        ),
    )
    request = new_request(event, event, verdict, memory=Memory(), timeout_s=1)
    made = dossier.dossier_of(request, event, runner_pid=1)
    assert made.facets == (
        "$ rm x: allow (the default)",
        "delete /x: require_approval (rule r, line 7)",
    )

"""What agents' own tools do: facets, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit import hook_calls
from vaultroom.errors import FrameError
from vaultroom.events import Action, Event
from vaultroom.intercept.hooks.hook_events import answer_frame, hook_event, read_frame
from vaultroom.intercept.hooks.known import ADAPTERS
from vaultroom.shell import NoFiles, RealFiles
from vaultroom.shell.filesystem import FileView

READ, WRITE, DELETE = Action.FS_READ, Action.FS_WRITE, Action.FS_DELETE


def event_of(agent: str, payload: str, view: FileView | None = None) -> Event:
    adapter = ADAPTERS[agent]
    return hook_event(
        adapter.read(payload),
        adapter,
        event_id="e",
        session_id="s",
        ts=1,
        pid=9,
        agent=agent,
        view=view or NoFiles(),
    )


def touched(event: Event) -> list[tuple[Action, str]]:
    """The primary facets' actions and places."""
    facets = [facet for facet in event.judged_facets() if not facet.derived]
    return [
        (f.action, f.path or (f"{f.host}:{f.port}" if f.host else f"{f.server}/{f.tool}")) for f in facets
    ]


@pytest.mark.parametrize(
    ("agent", "tool", "arguments", "expected"),
    [
        ("claude", "Write", {"file_path": "/w/a", "content": "x"}, [(WRITE, "/w/a")]),
        ("claude", "Write", {"file_path": "b/../a", "content": ""}, [(WRITE, "/w/a")]),
        ("claude", "Edit", {"file_path": "/w/a", "old_string": "", "new_string": ""}, [(WRITE, "/w/a")]),
        ("claude", "MultiEdit", {"file_path": "/w/a", "edits": []}, [(WRITE, "/w/a")]),
        ("claude", "NotebookEdit", {"notebook_path": "/w/n.ipynb"}, [(WRITE, "/w/n.ipynb")]),
        ("claude", "Read", {"file_path": "/etc/shadow"}, [(READ, "/etc/shadow")]),
        ("claude", "Grep", {"pattern": "x"}, [(READ, "/w")]),
        ("claude", "Grep", {"pattern": "x", "path": "/etc"}, [(READ, "/etc")]),
        ("claude", "Glob", {"pattern": "**/*.py"}, [(READ, "/w")]),
        ("claude", "Glob", {"pattern": "/root/.ssh/*"}, [(READ, "/root/.ssh")]),
        ("claude", "Glob", {"pattern": "../x/*", "path": "/a/b"}, [(READ, "/a/x")]),
        ("claude", "LS", {"path": "/etc"}, [(READ, "/etc")]),
        ("claude", "WebFetch", {"url": "https://A.example./x"}, [(Action.NET_EGRESS, "a.example:443")]),
        ("claude", "WebFetch", {"url": "http://[::1]:81?q"}, [(Action.NET_EGRESS, "::1:81")]),
        ("claude", "mcp__fs__rm", {"p": 1}, [(Action.MCP_TOOL, "fs/rm")]),
        ("claude", "WebSearch", {"query": "x"}, [(Action.MCP_TOOL, "/WebSearch")]),
        ("claude", "FromTheFuture", {"any": [1]}, [(Action.MCP_TOOL, "/FromTheFuture")]),
        ("codex", "view_image", {"path": "i.png"}, [(READ, "/w/i.png")]),
        ("gemini", "write_file", {"file_path": "a", "content": ""}, [(WRITE, "/w/a")]),
        ("gemini", "replace", {"file_path": "/w/a"}, [(WRITE, "/w/a")]),
        ("gemini", "read_file", {"absolute_path": "/a"}, [(READ, "/a")]),
        ("gemini", "read_many_files", {"include": ["a", "/b/*.x"]}, [(READ, "/w/a"), (READ, "/b")]),
        ("gemini", "list_directory", {"dir_path": "d"}, [(READ, "/w/d")]),
        (
            "gemini",
            "web_fetch",
            {"prompt": "read https://a.example/x, and (http://b.example:8080)."},
            [(Action.NET_EGRESS, "a.example:443"), (Action.NET_EGRESS, "b.example:8080")],
        ),
        ("opencode", "write", {"filePath": "/w/a", "content": ""}, [(WRITE, "/w/a")]),
        ("opencode", "read", {"filePath": "a"}, [(READ, "/w/a")]),
        ("opencode", "webfetch", {"url": "https://a.example"}, [(Action.NET_EGRESS, "a.example:443")]),
        ("opencode", "fs_delete", {"x": 1}, [(Action.MCP_TOOL, "/fs_delete")]),
    ],
)  # fmt: skip
def test_what_a_tool_touches(
    agent: str, tool: str, arguments: dict[str, Any], expected: list[tuple[Action, str]]
) -> None:
    event = event_of(agent, hook_calls.MAKERS[agent](tool, arguments))
    assert touched(event) == expected
    calls = [facet for facet in event.judged_facets() if facet.action is Action.MCP_TOOL]
    assert len(calls) == 1
    assert calls[0].derived == (expected[0][0] is not Action.MCP_TOOL)
    assert dict(calls[0].tool_args) == arguments


PATCH = """\
*** Begin Patch
*** Add File: new/a.py
+print()
*** Update File: old.py
*** Move to: moved.py
@@
-a
+*** Delete File: not-this
 b
*** Delete File: /etc/passwd
*** End Patch
"""


@pytest.mark.parametrize(("agent", "name"), [("codex", "command"), ("opencode", "patchText")])
def test_every_file_of_a_patch(agent: str, name: str) -> None:
    event = event_of(agent, hook_calls.MAKERS[agent]("apply_patch", {name: PATCH}))
    assert touched(event) == [
        (WRITE, "/w/new/a.py"),
        (WRITE, "/w/old.py"),
        (DELETE, "/w/old.py"),
        (WRITE, "/w/moved.py"),
        (DELETE, "/etc/passwd"),
    ]


def test_a_header_that_only_trimming_programs_see_counts() -> None:
    patch = "*** Begin Patch\n  *** Delete File:  x\r\n*** End Patch"
    event = event_of("codex", hook_calls.claude("apply_patch", {"command": patch}))
    assert touched(event) == [(DELETE, "/w/x")]


@pytest.mark.parametrize(
    "patch",
    ["nothing", "*** Begin Patch\n*** End Patch", "*** Delete File: x", "*** Begin Patch\n*** Rename File: x",
     "*** Begin Patch\n*** Delete File: \n"],
)  # fmt: skip
def test_half_a_patch(patch: str) -> None:
    with pytest.raises(FrameError, match="patch"):
        event_of("codex", hook_calls.claude("apply_patch", {"command": patch}))


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("Bash", {}, "command"),
        ("Bash", {"command": ""}, "command"),
        ("Bash", {"command": " \n "}, "command"),
        ("Bash", {"command": None}, "command"),
        ("Bash", {"command": ["rm", "-rf", "/"]}, "command"),
        ("Bash", {"command": "ls\0"}, "NUL"),
        ("bash", {"command": "rm -rf /"}, "Bash"),
        ("BASH ", {"command": "rm -rf /"}, "Bash"),
        ("Write", {"content": "x"}, "file_path"),
        ("Write", {"file_path": "/a\0b"}, "NUL"),
        ("Write", {"file_path": ""}, "file_path"),
        ("Write", {"file_path": "/" + "x" * 5000}, "4096"),
        ("Read", {"file_path": "~/.ssh/id"}, "written out"),
        ("Glob", {"pattern": "*/../../etc/*"}, r"\.\."),
        ("WebFetch", {"url": "https://user:pw@a.example"}, "user name"),
        ("WebFetch", {"url": "https://a.example\\@b.example"}, "user name"),
        ("WebFetch", {"url": "https://a.example\\.b"}, "plain host"),
        ("WebFetch", {"url": "https:///x"}, "plain host"),
        ("WebFetch", {"url": "file:///etc/passwd"}, "http"),
        ("WebFetch", {"url": "https://a.example:99999"}, "port"),
        ("WebFetch", {"url": "https://a.example:x"}, "port"),
        ("WebFetch", {"url": "https://a .example"}, "blanks"),
        ("WebFetch", {"url": "https://[::1"}, "IPv6"),
        ("WebFetch", {"url": "https://%61.example"}, "plain host"),
    ],
)
def test_arguments_that_make_no_sense(tool: str, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(FrameError, match=named):
        event_of("claude", hook_calls.claude(tool, arguments))


def test_a_plain_command_has_its_effects() -> None:
    event = event_of("claude", hook_calls.claude("Bash", {"command": "rm -rf ./victim"}))
    assert (event.raw, event.cmd, event.argv) == ("rm -rf ./victim", "rm", ("rm", "-rf", "./victim"))
    deletes = [facet.path for facet in event.facets if facet.action is DELETE]
    assert deletes == ["/w/victim"]
    assert not event.opaque


def test_a_command_runs_in_the_folder_that_the_call_names() -> None:
    event = event_of("gemini", hook_calls.gemini("run_shell_command", {"command": "rm x", "dir_path": "d"}))
    assert [facet.path for facet in event.facets if facet.action is DELETE] == ["/w/d/x"]


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    payload = hook_calls.claude("Write", {"file_path": "link/f", "content": ""}, str(tmp_path))
    assert event_of("claude", payload, RealFiles()).path == str((tmp_path / "real" / "f").resolve())


def frame(**changes: Any) -> dict[str, Any]:
    whole = {"type": "hook", "agent": "claude", "payload": "{}", "cwd": "/", "bytes": 2, "seconds": 5}
    return {name: value for name, value in (whole | changes).items() if value is not None}


@pytest.mark.parametrize(
    "change",
    [{"agent": "cursor"}, {"agent": 7}, {"payload": 7}, {"payload": None}, {"cwd": "x"}, {"cwd": None},
     {"seconds": 0}, {"seconds": 1.5}, {"seconds": True}, {"seconds": 10**9}, {"bytes": "2"}, {"more": 1},
     {"type": "eval"}],
)  # fmt: skip
def test_frames_of_another_shape(change: dict[str, Any]) -> None:
    with pytest.raises(FrameError, match="expected"):
        read_frame(frame(**change))


def test_a_payload_that_was_too_large_is_named() -> None:
    with pytest.raises(FrameError, match="52428800 bytes"):
        read_frame(frame(payload="", bytes=50 << 20)).call()


def test_an_unknown_agent_is_answered_with_code_2() -> None:
    from vaultroom.events import Effect
    from vaultroom.gate.judge import Outcome

    answer = answer_frame(["x"], Outcome(Effect.DENY, "r", "m"))
    assert (answer["code"], answer["stderr"]) == (2, 'vaultroom: denied by rule "r": m\n')
    assert list(answer) == ["type", "code", "stdout", "stderr"]

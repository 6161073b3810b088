"""What an expression sees of an event."""

from __future__ import annotations

from vaultroom.events import Action, Event, Facet, Source
from vaultroom.policy.cel import FIELDS
from vaultroom.policy.view import build_view

EVENT = Event(
    "id",
    "session",
    0,
    Source.HOOK,
    Action.SHELL_EXEC,
    raw="cd a && rm -r b",
    cwd="/w",
    pid=7,
    agent="x",
    agent_id="y",
)
PARENT = Facet(Action.SHELL_EXEC, cmd="rm", argv=("rm", "-r", "b"), subcommand="s", cwd="/w/a")
FACET = Facet(
    Action.FS_DELETE,
    path="/w//b",
    port=9,
    tool="t",
    server="v",
    tool_args={"k": 1},
    recursive=True,
    derived=True,
    parent=0,
)


def test_a_view_has_every_field() -> None:
    view = build_view(EVENT, FACET, PARENT, path="/w/b", host="h")
    assert FIELDS.keys() <= view.keys()
    assert view == {
        "action": "fs.delete",
        "source": "hook",
        "cmd": "rm",
        "raw": "cd a && rm -r b",
        "subcommand": "s",
        "path": "/w/b",
        "host": "h",
        "server": "v",
        "tool": "t",
        "cwd": "/w",
        "session_id": "session",
        "agent": "x",
        "agent_id": "y",
        "argv": ["rm", "-r", "b"],
        "port": 9,
        "pid": 7,
        "tool_args": {"k": 1},
        "opaque": False,
        "derived": True,
        "recursive": True,
    }


def test_a_view_is_fresh_and_of_plain_values() -> None:
    first = build_view(EVENT, PARENT, PARENT, path="", host="")
    second = build_view(EVENT, PARENT, PARENT, path="", host="")
    assert first is not second
    assert (type(first["action"]), type(first["tool_args"]), first["cwd"]) == (str, dict, "/w/a")

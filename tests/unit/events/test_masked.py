"""An event with its secrets masked, and the list of what changed."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from vaultroom.events import Action, Event, Facet, Source
from vaultroom.events.environment import Environment
from vaultroom.events.masked import mask_event
from vaultroom.masking import MASK


def event(**members: Any) -> Event:
    return Event(id="I", session_id="S", ts=1, source=Source.HOOK, action=Action.SHELL_EXEC, **members)


def test_an_ordinary_event_is_returned_as_it_is() -> None:
    plain = event(cmd="rm", argv=("rm", "x"), raw="rm x", tool_args={"a": 1})
    masked, changed = mask_event(plain)
    assert masked is plain and changed == ()


def test_every_member_that_changed_is_named() -> None:
    argv = ("curl", "--token", "abc", "-H", "Authorization: Bearer x")
    env = Environment({"A": "b"})
    masked, changed = mask_event(
        event(
            cmd="curl",
            argv=argv,
            raw="curl --token abc",
            path="/x/sk-abcdefghijklmnopqrstuvwx",
            tool_args={"password": "p", "a-b": [{"x y": "--token q"}, "z"], "same": 1},
            env=env,
        )
    )
    assert masked.argv == ("curl", "--token", MASK, "-H", f"Authorization: Bearer {MASK}")
    assert masked.raw == f"curl --token {MASK}" and masked.path == f"/x/{MASK}"
    assert masked.tool_args == {"password": MASK, "a-b": [{"x y": f"--token {MASK}"}, "z"], "same": 1}
    assert masked.env is env
    assert changed == ("raw", "path", "argv[2]", "argv[4]", "tool_args.password", 'tool_args.a-b[0]["x y"]')
    assert mask_event(masked) == (masked, ())


def test_facets_are_masked_and_derived_ones_do_not_repeat_it() -> None:
    first = Facet(action=Action.SHELL_EXEC, cmd="echo", argv=("echo", "a"))
    second = Facet(action=Action.SHELL_EXEC, cmd="tool", argv=("tool", "--token", "abc"))
    derived = Facet(
        action=Action.FS_READ,
        cmd="tool",
        argv=second.argv,
        path="/sk-abcdefghijklmnopqrstuvwx",
        derived=True,
        parent=1,
    )
    masked, changed = mask_event(event(raw="echo a; tool --token abc", facets=(first, second, derived)))
    assert masked.facets[0] is first
    assert masked.facets[1].argv == masked.facets[2].argv == ("tool", "--token", MASK)
    assert masked.facets[2].parent == 1
    assert changed == ("raw", "facets[1].argv[2]", "facets[2].path")


def test_a_facet_that_repeats_the_event_is_not_named_twice() -> None:
    argv = ("tool", "--token", "abc")
    masked, changed = mask_event(event(argv=argv, facets=(Facet(action=Action.SHELL_EXEC, argv=argv),)))
    assert masked.facets[0].argv == masked.argv
    assert changed == ("argv[2]",)


def test_file_contents_become_digests() -> None:
    masked, changed = mask_event(event(tool_args={"file_path": "/x", "content": "secret text"}))
    assert masked.tool_args["content"]["bytes"] == 11
    assert changed == ("tool_args.content",)


def test_every_text_is_masked_and_a_repeated_one_named_once() -> None:
    token = "ghp_" + "a1B2" * 9
    first = Facet(action=Action.SHELL_EXEC, cmd="rm", argv=("rm", "https://u:pw@h/x"), cwd=f"/{token}")
    second = Facet(
        action=Action.FS_DELETE, cmd="rm", cwd=first.cwd, path="/w/https:/u:pw@h/x", derived=True, parent=0
    )
    masked, changed = mask_event(
        event(cmd=token, subcommand=f"https://u:{token}@h", cwd=f"/{token}", facets=(first, second))
    )
    assert token not in repr(masked) and "pw" not in repr(masked)
    assert masked.facets[1].path == f"/w/https:/u:{MASK}@h/x" and masked.facets[1].cwd == f"/{MASK}"
    assert changed == ("cmd", "subcommand", "cwd", "facets[0].argv[1]", "facets[1].path")
    assert mask_event(masked) == (masked, ())


@pytest.mark.parametrize(
    "argv",
    [
        ("curl", "-HCookie: a=#1; b=pw$", "x y"),
        ("vault", "login", "pw #$(x)"),
        ("tool", "--password", "it's pw", "a#b"),
    ],
)
def test_a_line_made_of_arguments_is_masked_as_they_are(argv: tuple[str, ...]) -> None:
    masked, _ = mask_event(event(argv=argv, raw=shlex.join(argv)))
    assert "pw" not in masked.raw and MASK in masked.raw
    assert shlex.split(masked.raw) == list(masked.argv)
    assert mask_event(masked) == (masked, ())

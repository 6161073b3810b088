"""A frame of a shim becomes an event, or a FrameError."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.errors import FrameError
from vaultroom.events import (
    Action,
    Event,
    Source,
    event_from_dict,
    event_to_dict,
    facets_from_list,
    facets_to_list,
)
from vaultroom.intercept.shim_events import MOST_WORDS, shim_event
from vaultroom.shell import NoFiles
from vaultroom.thin import shim_client
from vaultroom.wire import decode


def made(frame: Any) -> Event:
    return shim_event(frame, event_id="ID", session_id="S", ts=5, pid=42, agent="claude", view=NoFiles())


def frame(**changes: Any) -> dict[str, Any]:
    act = {
        "source": "shim",
        "action": "shell.exec",
        "cmd": "rm",
        "argv": ["rm", "-r", "a b"],
        "cwd": "/w",
        "pid": 1,
    }
    return {
        "type": "eval",
        "event": {name: value for name, value in (act | changes).items() if value is not ...},
    }


def test_the_host_says_who_and_when() -> None:
    lies = frame(id="x", session_id="y", ts="z", pid=-1, cmd="ls", raw="ls")
    event = made(lies)
    assert (event.id, event.session_id, event.ts, event.pid, event.agent) == ("ID", "S", 5, 42, "claude")
    assert (event.source, event.action, event.cmd) == (Source.SHIM, Action.SHELL_EXEC, "rm")
    assert event.argv == ("rm", "-r", "a b") and event.raw == "rm -r 'a b'" and event.cwd == "/w"
    assert [(facet.action, facet.path, facet.recursive) for facet in event.facets[1:]] == [
        (Action.FS_DELETE, "/w/a b", True)
    ]
    assert event.facets[0] == event.as_facet()


def test_an_act_without_further_facets_is_its_own() -> None:
    event = made(frame(argv=["/usr/bin/git", "-C", "x", "push"]))
    assert event.facets == () and event.subcommand == "push" and event.cmd == "git"


def test_the_whole_event_can_be_written_and_read_again() -> None:
    event = made(frame(argv=["mv", "a", "b\udcff"]))
    facets = facets_from_list(event, facets_to_list(event))
    assert event_from_dict(event_to_dict(event), facets) == event


def test_the_thin_client_speaks_this_language() -> None:
    request = shim_client.request(["rm", "\udcff", "é\n"], cwd="/w", pid=9)
    assert made(decode(request[4:])).argv == ("rm", "\udcff", "é\n")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({}, "type 'eval', found nothing"),
        ({"type": "verdict", "event": {}}, "type 'eval', found 'verdict'"),
        ({"type": "eval"}, "'event' to be an object, found nothing"),
        ({"type": "eval", "event": []}, "found a list of 0"),
        (frame() | {"more": 1}, "no other members of the frame than event, type, found 'more'"),
        (frame(env={"A": "b"}), "no other members of the event"),
        (frame(path="/x"), "found 'path'"),
        (frame(facets=[]), "found 'facets'"),
        (frame(source="hook"), "source to be 'shim', found 'hook'"),
        (frame(source=...), "source to be 'shim', found nothing"),
        (frame(action="fs.read"), "action to be 'shell.exec'"),
        (frame(argv=...), "'argv' to be a list"),
        (frame(argv=[]), "found a list of 0"),
        (frame(argv="rm"), "found 'rm'"),
        (frame(argv=["rm", 1]), "argv[1] to be a string, found 1"),
        (frame(argv=["rm", None]), "argv[1] to be a string"),
        (frame(argv=["rm", "a\0"]), "argv[1] without NUL"),
        (frame(argv=["rm", "\ud800"]), "a lone surrogate"),
        (frame(argv=[""]), "name of a program"),
        (frame(argv=["/"]), "name of a program"),
        (frame(argv=["x"] * (MOST_WORDS + 1)), "at most"),
        (frame(cwd=...), "'cwd' to be an absolute path"),
        (frame(cwd="w"), "found 'w'"),
        (frame(cwd=1), "found 1"),
        (frame(cwd="(unreachable)/w"), "absolute path"),
        (frame(cwd="/w\0"), "cwd without NUL"),
    ],
)
def test_a_broken_frame_says_what_was_expected(broken: dict[str, Any], says: str) -> None:
    with pytest.raises(FrameError) as caught:
        made(broken)
    assert says in caught.value.message
    assert len(caught.value.message) < 300


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    "broken",
    [
        {"type": f"token={TOKEN}", "event": {}},
        {"type": "eval", "event": TOKEN},
        {"type": "eval", "event": {}, TOKEN: 1},
        frame(**{TOKEN: 1}),
        frame(source=TOKEN),
        frame(argv=f"curl -u me:{TOKEN}"),
        frame(argv="curl -u me:a1B2"),
        frame(cwd=f"x/{TOKEN}"),
        frame(cwd="x" * 43 + "/" + TOKEN),
    ],
)
def test_an_error_does_not_quote_a_secret(broken: dict[str, Any]) -> None:
    with pytest.raises(FrameError) as caught:
        made(broken)
    assert "a1B2" not in caught.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(["source", "action", "argv", "cwd", "id", "ts", "raw", "cmd", "env", "pid"])


@given(st.dictionaries(st.sampled_from(["type", "event"]) | st.text(max_size=4), JSON, max_size=4))
def test_rubbish_is_a_frame_error(rubbish: dict[str, Any]) -> None:
    with pytest.raises(FrameError):
        made(rubbish)


@given(st.dictionaries(MEMBERS, JSON | st.lists(st.text(max_size=5), max_size=4), max_size=4))
def test_rubbish_in_an_event_is_a_frame_error_or_an_event(changes: dict[str, Any]) -> None:
    try:
        event = made(frame(**changes))
    except FrameError:
        return
    assert event.pid == 42 and event.cwd.startswith("/") and event.argv

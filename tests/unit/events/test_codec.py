from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given

from tests.kit.events import events, shell, touching
from vaultroom.events import (
    Action,
    Environment,
    Event,
    canonical_json,
    event_from_dict,
    event_to_dict,
    facets_from_list,
    facets_to_list,
)


@given(events())
def test_an_event_reads_back_as_it_was_written(event: Event) -> None:
    data = json.loads(canonical_json(event_to_dict(event) | {"record": {"facets": facets_to_list(event)}}))
    back = event_from_dict(data)
    back = replace(back, facets=facets_from_list(back, data["record"]["facets"]))
    assert back.judged_facets() == event.judged_facets()
    assert replace(back, facets=()) == replace(event, facets=())


@given(events())
def test_canonical_json_is_deterministic_and_utf8(event: Event) -> None:
    first = canonical_json(event_to_dict(event))
    shuffled = dict(reversed(list(event_to_dict(event).items())))
    assert canonical_json(shuffled) == first
    first.decode("utf-8")
    assert canonical_json(json.loads(first)) == first


def test_the_shape_of_a_shell_event() -> None:
    event = touching(shell("rm", "-r", "x"), (Action.FS_DELETE, "/home/dev/proj/x"), recursive=True)
    event = replace(event, id="01J00000000000000000000001")
    assert canonical_json(event_to_dict(event)).decode() == (
        '{"action":"shell.exec","argv":["rm","-r","x"],"cmd":"rm","cwd":"/home/dev/proj",'
        '"id":"01J00000000000000000000001","pid":4242,"raw":"rm -r x",'
        '"session_id":"01J00000000000000000000000","source":"shim","ts":"2023-11-14T22:13:20.000000000Z"}'
    )
    assert facets_to_list(event) == [
        {},
        {"action": "fs.delete", "path": "/home/dev/proj/x", "recursive": True, "of": 0},
    ]


def test_an_environment_cannot_be_written_down() -> None:
    secret = Environment({"API_KEY": "hush"})
    event = shell("env", env=secret)
    assert event.env.get("API_KEY") == "hush"
    assert b"hush" not in canonical_json(event_to_dict(event))
    assert "hush" not in repr(event) + repr(secret)
    for attempt in (
        lambda: canonical_json({"env": secret}),
        lambda: pickle.dumps(secret),
        lambda: dict(secret),  # type: ignore[call-overload]
        lambda: json.dumps(secret),
    ):
        with pytest.raises(TypeError):
            attempt()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"port": "443"}, "port"),
        ({"port": True}, "port"),
        ({"argv": "rm"}, "argv"),
        ({"argv": [1]}, "argv"),
        ({"tool_args": []}, "tool_args"),
        ({"ts": "yesterday"}, "time"),
        ({"source": "psychic"}, "psychic"),
        ({"id": None}, "id"),
        ({"opaque": 1}, "opaque"),
    ],
)
def test_a_wrong_member_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        event_from_dict(event_to_dict(shell("ls")) | change)


def test_a_facet_names_an_earlier_parent_only() -> None:
    with pytest.raises(ValueError, match="'of'"):
        facets_from_list(shell("ls"), [{"of": 0}])


def test_json_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"x": float("nan")})

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kit.views import removal, request_view, session_view, state
from vaultroom.control.protocol import (
    LISTED_FIELDS,
    AnswerCommand,
    Dossier,
    Output,
    SessionGrant,
    SessionStart,
)

START = SessionStart("a", ("bash", "x\udc80"), "/w", b"\x00policy", "p.yaml", "/bin", "/home/dev", {"A": "b"})
GRANT = SessionGrant("S", {"PATH": "/s"}, ("TOKEN",), ("warning",), True)
REQUEST = request_view(dossier=Dossier(("f",), removal(), ("-a", "+b"), ("c",), ("d",)))
SESSION = session_view()
STATE = state(requests=(REQUEST,))
OUTPUT = Output(1, 5, "text", False)
ANSWER = AnswerCommand("R", "deny", "cli", "why", "digest", 5, "/w")


@pytest.mark.parametrize("value", [START, GRANT, REQUEST, SESSION, STATE, ANSWER, OUTPUT])
def test_everything_travels_as_json(value: Any) -> None:
    assert type(value).from_dict(json.loads(json.dumps(value.to_dict()))) == value


def test_what_approve_list_prints_is_there() -> None:
    assert all(hasattr(REQUEST, name) for name in LISTED_FIELDS)


@pytest.mark.parametrize("name", ["agent_name", "agent_command", "cwd", "policy", "environ"])
@pytest.mark.parametrize("value", [None, 7, [7], {"a": 7}])
def test_a_broken_start_is_refused(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        SessionStart.from_dict(START.to_dict() | {name: value})


def test_the_environment_is_not_in_the_text_of_a_start() -> None:
    assert "'b'" not in repr(START)

"""Fixtures as JSON: their forms, what is filled in, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vaultroom.events import Action, Effect, Source, Verdict
from vaultroom.policy.fixture import Expectation, Stage, event_of_line, parse_event, parse_fixtures
from vaultroom.shell import NoFiles

STAGE = Stage(home="/home/dev", cwd="/home/dev/proj", files=NoFiles())
BARE = {"action": "fs.read", "path": "~/a"}


def test_the_forms_of_a_fixture() -> None:
    forms = [
        BARE,
        {**BARE, "expect": "deny"},
        {"event": BARE, "expect": {"verdict": "allow", "rule": "x"}},
        {"event": BARE},
    ]
    found = [fixture.expect for fixture in parse_fixtures(json.dumps(forms), STAGE)]
    assert found == [None, Expectation(Effect.DENY), Expectation(Effect.ALLOW, "x"), None]
    assert len(parse_fixtures(json.dumps(BARE), STAGE)) == 1


def test_what_is_left_out_is_filled_in() -> None:
    event = parse_event(BARE, STAGE)
    assert (event.path, event.cwd, event.source) == ("/home/dev/a", "/home/dev/proj", Source.HOOK)
    assert parse_event({"action": "net.egress", "host": "a"}, STAGE).source is Source.EGRESS
    assert parse_event({"action": "fs.read", "path": "../b", "cwd": "/x/y"}, STAGE).path == "/x/b"


def test_a_command_brings_its_facets() -> None:
    event = parse_event({"action": "shell.exec", "argv": ["/bin/rm", "-rf", "a b"]}, STAGE)
    assert (event.cmd, event.raw, event.opaque) == ("rm", "/bin/rm -rf 'a b'", False)
    assert [facet.action for facet in event.facets] == [Action.SHELL_EXEC, Action.FS_DELETE]
    assert event.facets[1].path == "/home/dev/proj/a b"
    assert event_of_line("/bin/rm -rf 'a b'", STAGE).facets == event.facets


def test_a_line_that_is_more_than_one_plain_command_is_opaque() -> None:
    event = event_of_line("a && b", STAGE)
    assert event.opaque
    assert event.facets == ()
    assert event.as_facet().opaque


def test_recorded_facets_are_taken_as_they_are() -> None:
    entry = {"action": "fs.read", "path": "/x", "of": 0}
    for data in ({"facets": [{}, entry]}, {"record": {"v": 1, "facets": [{}, entry]}}):
        event = parse_event({"action": "shell.exec", "argv": ["rm", "y"], **data}, STAGE)
        assert [facet.path for facet in event.facets] == ["", "/x"]
        assert event.facets[1].derived


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "depth"),
        ("3", "fixture 1: expected an object"),
        ("[{}, 3]", "fixture 1: expected a member 'action'"),
        ('{"action": "fs.reed"}', "expected 'action' to be one of"),
        ('{"action": ["fs.read"]}', "expected 'action' to be one of"),
        ('{"action": "fs.read", "source": "x"}', "expected 'source' to be one of"),
        ('{"action": "fs.read", "pth": "x"}', "unknown member 'pth'"),
        ('{"action": "fs.read", "path": 3}', "expected 'path' to be a str"),
        ('{"action": "fs.read", "cwd": "x"}', "expected 'cwd' to be absolute"),
        ('{"action": "fs.read", "ts": "now"}', "expected a time"),
        ('{"action": "fs.read", "facets": 1}', "expected 'facets' to be a list"),
        ('{"action": "fs.read", "facets": [{"of": 7}]}', "expected 'of'"),
        ('{"action": "fs.read", "expect": "no"}', "expected 'expect' to be one of"),
        ('{"action": "fs.read", "expect": {"rule": "x"}}', "expected 'expect' to have"),
        ('{"action": "fs.read", "expect": {"verdict": "deny", "rule": 1}}', "the rule of 'expect'"),
        ('{"event": 3}', "expected an event object"),
        ('{"event": {}, "expects": "deny"}', "unknown member 'expects'"),
        ('{"action": "shell.exec", "argv": "rm"}', "list of strings"),
    ],
)
def test_what_is_no_fixture(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_fixtures(text, STAGE)


@pytest.mark.parametrize(
    ("expect", "failure"),
    [
        (Expectation(Effect.DENY), ""),
        (Expectation(Effect.DENY, "r"), ""),
        (Expectation(Effect.ALLOW, "r"), "expected allow, found deny"),
        (Expectation(Effect.DENY, "x"), "expected rule 'x' to decide, found rule 'r'"),
        (Expectation(Effect.DENY, ""), "expected a default to decide, found rule 'r'"),
    ],
)
def test_how_a_verdict_differs(expect: Expectation, failure: str) -> None:
    verdict: Any = Verdict(Effect.DENY, "r")
    assert expect.failure(verdict) == failure

"""Recorded events, judged again."""

from __future__ import annotations

from vaultroom.events import Action, Effect, Event, Source
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.loader import load_policy
from vaultroom.policy.replay import replay


def test_each_event_comes_with_its_verdict_and_nothing_is_read_ahead() -> None:
    text = b"version: 1\nrules: [{name: r, match: {path: [/a]}, effect: allow}]\n"
    engine = Engine(load_policy(text, name="p", environ={}, home="/h"), cwd="/")
    events = [Event("i", "s", 0, Source.HOOK, Action.FS_READ, path=path, cwd="/") for path in ("/a", "/b")]
    source = iter(events)
    judged = replay(source, engine)
    event, verdict = next(judged)
    assert (event, verdict.effect) == (events[0], Effect.ALLOW)
    assert next(source) is events[1]
    assert list(judged) == []

"""Judging recorded acts again: what would this policy have said? (design section 3)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vaultroom.events import Event, Verdict
from vaultroom.policy.evaluate import Engine


def replay(events: Iterable[Event], engine: Engine) -> Iterator[tuple[Event, Verdict]]:
    """Each event with the verdict that `engine` gives it. Facets come with it: nothing is looked up."""
    for event in events:
        yield event, engine.evaluate(event)

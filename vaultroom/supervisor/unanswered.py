"""Asked acts whose host was lost before anybody answered: they were not let through, and the log says so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vaultroom.approvals.answer import RequestState, Resolution
from vaultroom.audit.reader import AuditReader, LogRow
from vaultroom.audit.record import Entry, outcome_entry
from vaultroom.events import Effect, Event, event_from_dict

HOST_LOST = "the host was lost before anybody answered"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """An asked act without an outcome, and what its row says about who asked."""

    event: Event
    rule_name: str
    policy_hash: str

    def withdrawal(self) -> Entry:
        """The outcome that is recorded in its place: withdrawn, which is a deny."""
        resolution = Resolution(RequestState.WITHDRAWN, reason=HOST_LOST)
        return outcome_entry(
            self.event,
            self.rule_name,
            resolution.decision(self.event.id),
            policy_hash=self.policy_hash,
        )


def unanswered(rows: Iterable[LogRow]) -> list[Unanswered]:
    """The asked acts among a session's rows (in order) that no later row answers."""
    open_acts: dict[str, Unanswered] = {}
    for row in rows:
        if row.verdict != Effect.REQUIRE_APPROVAL.value:
            continue
        payload = json.loads(row.payload)
        if row.final_effect is None:
            record = payload["record"]
            open_acts[row.id] = Unanswered(event_from_dict(payload), row.rule_name or "", record["policy"])
        else:
            open_acts.pop(payload["event_id"], None)
    return list(open_acts.values())


def unanswered_of(log: Path, session_id: str) -> list[Unanswered]:
    """The same for a session in the log at `log`. Raises StoreError."""
    with AuditReader(log) as reader:
        return unanswered(_rows(reader, session_id))


def _rows(reader: AuditReader, session_id: str) -> Iterator[LogRow]:
    seq = 0
    while page := reader.of_session(session_id, after_seq=seq):
        yield from page
        seq = page[-1].seq

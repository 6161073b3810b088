from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.kit.events import shell
from vaultroom.audit.reader import LogRow
from vaultroom.audit.record import Entry, act_entry, outcome_entry
from vaultroom.events import Decision, Effect, Event, Verdict, canonical_json
from vaultroom.supervisor.unanswered import unanswered


def _row(entry: Entry, **changes: Any) -> LogRow:
    row = LogRow(
        rowid=1,
        id=entry.id,
        session_id=entry.session_id,
        ts="",
        seq=1,
        source=entry.source,
        action=entry.action,
        payload=canonical_json(entry.payload).decode(),
        rule_name=entry.rule_name,
        verdict=entry.verdict,
        final_effect=entry.final_effect,
        approved_by=entry.approved_by,
        wait_ms=None,
        eval_micros=None,
    )
    return replace(row, **changes)


def _asked(event: Event) -> LogRow:
    return _row(act_entry(event, Verdict(Effect.REQUIRE_APPROVAL, "r"), policy_hash="h"))


def test_acts_without_an_outcome_are_found() -> None:
    answered, left = shell("git", "push"), shell("git", "push", "-f")
    end = outcome_entry(answered, "r", Decision(answered.id, Effect.ALLOW, "cli"), policy_hash="h")
    allowed = _row(act_entry(shell("ls"), Verdict(Effect.ALLOW), policy_hash="h"))
    (found,) = unanswered([_asked(answered), allowed, _asked(left), _row(end)])
    assert found.event.id == left.id
    withdrawal = found.withdrawal()
    assert withdrawal.payload["event_id"] == left.id
    assert (withdrawal.final_effect, withdrawal.approved_by, withdrawal.rule_name) == ("deny", "", "r")
    assert withdrawal.payload["record"]["state"] == "withdrawn"

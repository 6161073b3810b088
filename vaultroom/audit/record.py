"""What is written down: one Entry becomes one row once the writer has chained it.

An entry's payload is the event's canonical object plus `record`, which repeats what the plain columns say
(design section 6); `record.seq` is filled in when the row is chained. Events handed in are already masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from vaultroom import clock
from vaultroom.clock import rfc3339
from vaultroom.events import (
    Action,
    Decision,
    Effect,
    Event,
    Source,
    Verdict,
    event_to_dict,
    facets_to_list,
    new_ulid,
)

RECORD_VERSION = 1
NANOS_PER_MS = 1_000_000
_NO_MARKS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """One row before it is chained: the columns of specification section 3.4 except seq and the hashes.

    `ts` is nanoseconds since 1970 UTC; `wait_ms` milliseconds; `eval_micros` microseconds.
    """

    id: str
    session_id: str
    ts: int
    source: str
    action: str
    payload: Mapping[str, Any]
    verdict: str
    rule_name: str | None = None
    final_effect: str | None = None
    approved_by: str | None = None
    wait_ms: int | None = None
    eval_micros: int | None = None


@dataclass(frozen=True, slots=True)
class SessionStart:
    """What opens a session, or a further segment of one that its host left unsealed.

    `policy_hash` is the sha256 of `policy_text` in hex. `segment` is 1 for a new session; a host that
    takes a live session over writes the next one.
    """

    id: str
    agent_name: str
    agent_command: tuple[str, ...]
    policy_hash: str
    policy_text: bytes
    start_cwd: str = ""
    segment: int = 1


def act_entry(
    event: Event,
    verdict: Verdict,
    *,
    policy_hash: str,
    masked: Sequence[str] = (),
    marks: Mapping[str, Any] = _NO_MARKS,
) -> Entry:
    """The row of one judged act. `masked` names the members that were masked (`argv[2]`, `tool_args.key`).

    `marks` are further members of the record: `caused_by` (the id of the act that announced this one) or
    `orphan` (nobody announced it, in a session whose agent does).
    """
    record = _record("act", verdict.effect, verdict.rule_name)
    record |= {
        "eval_micros": verdict.eval_micros,
        "facets": _judged_facets(event, verdict),
        "message": verdict.message,
        "line": verdict.line,
        "policy": policy_hash,
        "decisive": verdict.decisive,
    }
    if masked:
        record["masked"] = list(masked)
    record |= marks
    return Entry(
        id=event.id,
        session_id=event.session_id,
        ts=event.ts,
        source=event.source.value,
        action=event.action.value,
        payload=event_to_dict(event) | {"record": record},
        verdict=verdict.effect.value,
        rule_name=verdict.rule_name or None,
        eval_micros=verdict.eval_micros,
    )


def outcome_entry(
    event: Event,
    rule_name: str,
    decision: Decision,
    *,
    policy_hash: str,
    shown: str = "",
    grant: str = "",
    late: bool = False,
) -> Entry:
    """The row that says how an asked act ended.

    `rule_name` is the rule that asked, `shown` the sha256 (hex) of what the person saw, `grant` the id of
    the grant that answered in a person's place. `late`: the act had been turned away when the answer came.
    """
    record = _record("outcome", Effect.REQUIRE_APPROVAL, rule_name)
    record |= {"policy": policy_hash, "state": decision.state, "reason": decision.reason}
    if shown:
        record["shown"] = shown
    if grant:
        record["grant"] = grant
    if late:
        record["late"] = True
    id_, ts = new_ulid(), clock.now_ns()
    payload: dict[str, Any] = {
        "id": id_,
        "session_id": event.session_id,
        "ts": rfc3339(ts),
        "source": event.source.value,
        "action": event.action.value,
        "cwd": event.cwd,
        "pid": event.pid,
        "event_id": event.id,
        "final_effect": decision.final_effect.value,
        "approved_by": decision.approved_by,
        "waited": decision.waited_ns,
        "timed_out": decision.timed_out,
        "record": record,
    }
    return Entry(
        id=id_,
        session_id=event.session_id,
        ts=ts,
        source=event.source.value,
        action=event.action.value,
        payload=payload,
        verdict=Effect.REQUIRE_APPROVAL.value,
        rule_name=rule_name or None,
        final_effect=decision.final_effect.value,
        approved_by=decision.approved_by,
        wait_ms=decision.waited_ns // NANOS_PER_MS,
    )


def note_entry(session_id: str, action: Action, note: Mapping[str, Any], *, policy_hash: str = "") -> Entry:
    """A row of Vaultroom's own about something that happened (`policy.change`, `suspicious`).

    `policy_hash` is the policy in force from this row on; a new one's text goes with it to the writer.
    """
    extra: dict[str, Any] = {"note": dict(note)}
    if policy_hash:
        extra["policy"] = policy_hash
    return own_entry("note", session_id, action, extra)


def own_entry(kind: str, session_id: str, action: Action, extra: Mapping[str, Any], ts: int = 0) -> Entry:
    """A row with source `vaultroom`: verdict allow, no rule. `ts` 0 means now."""
    ts = ts or clock.now_ns()
    event = Event(id=new_ulid(), session_id=session_id, ts=ts, source=Source.VAULTROOM, action=action)
    return Entry(
        id=event.id,
        session_id=session_id,
        ts=ts,
        source=event.source.value,
        action=action.value,
        payload=event_to_dict(event) | {"record": _record(kind, Effect.ALLOW, "") | dict(extra)},
        verdict=Effect.ALLOW.value,
    )


def _record(kind: str, effect: Effect, rule_name: str) -> dict[str, Any]:
    record: dict[str, Any] = {"v": RECORD_VERSION, "kind": kind, "verdict": effect.value}
    if rule_name:
        record["rule"] = rule_name
    return record


def _judged_facets(event: Event, verdict: Verdict) -> list[dict[str, Any]]:
    entries = facets_to_list(event)
    for judged in verdict.facets:
        entry = entries[judged.index]
        entry["effect"] = judged.effect.value
        if judged.rule_name:
            entry["rule"] = judged.rule_name
        if judged.line:
            entry["line"] = judged.line
        if not judged.counts:
            entry["counts"] = False
    return entries

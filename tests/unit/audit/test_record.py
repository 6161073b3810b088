from __future__ import annotations

from tests.unit.audit.audit_kit import POLICY_HASH, a_verdict, an_event
from vaultroom.audit.record import act_entry, note_entry, outcome_entry
from vaultroom.clock import rfc3339
from vaultroom.events import (
    Action,
    Decision,
    Effect,
    Environment,
    Facet,
    FacetVerdict,
    Verdict,
    canonical_json,
    event_from_dict,
    facets_from_list,
)


def test_an_act_repeats_what_its_columns_say() -> None:
    event = an_event("S")
    entry = act_entry(event, a_verdict(), policy_hash=POLICY_HASH, masked=["argv[1]"])
    record = entry.payload["record"]
    assert (entry.id, entry.session_id, entry.ts) == (event.id, "S", event.ts)
    assert (entry.verdict, entry.rule_name, entry.eval_micros) == ("allow", "workdir-is-free", 33)
    assert (entry.final_effect, entry.approved_by, entry.wait_ms) == (None, None, None)
    assert record["kind"] == "act"
    assert (record["verdict"], record["rule"], record["eval_micros"]) == ("allow", "workdir-is-free", 33)
    assert (record["policy"], record["masked"], record["line"]) == (POLICY_HASH, ["argv[1]"], 20)
    assert event_from_dict(entry.payload) == event


def test_a_default_has_no_rule_at_all() -> None:
    entry = act_entry(an_event("S"), Verdict(Effect.DENY), policy_hash=POLICY_HASH)
    assert entry.rule_name is None
    assert "rule" not in entry.payload["record"]
    assert "masked" not in entry.payload["record"]


def test_facets_are_kept_with_their_verdicts_and_read_back_the_same() -> None:
    facets = (
        Facet(Action.SHELL_EXEC, cmd="rm", argv=("rm", "x"), cwd="/w"),
        Facet(Action.FS_DELETE, cmd="rm", argv=("rm", "x"), cwd="/w", path="/w/x", derived=True, parent=0),
    )
    event = an_event("S", facets=facets)
    verdict = Verdict(
        Effect.DENY,
        "no-rm",
        facets=(FacetVerdict(0, Effect.DENY, "no-rm", 4), FacetVerdict(1, Effect.ALLOW, counts=False)),
    )
    entries = act_entry(event, verdict, policy_hash=POLICY_HASH).payload["record"]["facets"]
    assert [(item["effect"], item.get("rule"), item.get("counts")) for item in entries] == [
        ("deny", "no-rm", None),
        ("allow", None, False),
    ]
    assert facets_from_list(event, entries) == facets


def test_an_outcome_is_its_own_row() -> None:
    event = an_event("S")
    decision = Decision(event.id, Effect.DENY, "telegram:5", 2_999_999_999, True, "expired", "too slow")
    entry = outcome_entry(event, "ask", decision, policy_hash=POLICY_HASH, shown="ab", grant="G1")
    assert entry.id != event.id
    assert (entry.source, entry.action, entry.verdict) == ("shim", "shell.exec", "require_approval")
    assert (entry.final_effect, entry.approved_by, entry.wait_ms) == ("deny", "telegram:5", 2999)
    assert entry.payload["event_id"] == event.id
    assert entry.payload["waited"] == 2_999_999_999
    assert entry.payload["timed_out"] is True
    assert entry.payload["ts"] == rfc3339(entry.ts)
    record = entry.payload["record"]
    assert (record["state"], record["reason"], record["shown"], record["grant"]) == (
        "expired",
        "too slow",
        "ab",
        "G1",
    )


def test_a_note_is_vaultrooms_own() -> None:
    entry = note_entry("S", Action.SUSPICIOUS, {"what": "a stranger answered"})
    assert (entry.source, entry.action, entry.verdict) == ("vaultroom", "suspicious", "allow")
    assert entry.payload["record"]["note"] == {"what": "a stranger answered"}


def test_no_environment_reaches_the_payload() -> None:
    event = an_event("S", env=Environment({"TOKEN": "s3cret"}))
    assert b"s3cret" not in canonical_json(act_entry(event, a_verdict(), policy_hash=POLICY_HASH).payload)

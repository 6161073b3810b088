from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.approvals.making import Clock, command, request_for
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.events import is_ulid, new_ulid

EVENT = command("git", "push", "origin", "main")


def test_a_request_has_its_id_times_and_summary() -> None:
    request = request_for(EVENT, clock=Clock(), timeout_s=60)
    assert is_ulid(request.id)
    assert request.deadline == 1060.0
    assert request.expires_at_ns - request.created_ns == 60_000_000_000
    assert request.summary == "$ git push origin main"
    assert [facet.rule_name for facet in request.asking] == ["git-push-ask"]


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan")])
def test_a_request_must_be_able_to_expire(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        request_for(timeout_s=timeout_s)


@pytest.mark.parametrize(
    "change", [{"id": new_ulid()}, {"ts": 99}, {"pid": 1}, {"tool_use_id": "t"}, {"agent_id": "sub"}]
)
def test_ids_and_times_do_not_change_what_is_shown(change: dict[str, object]) -> None:
    assert request_for(replace(EVENT, **change)).shown == request_for(EVENT).shown


@pytest.mark.parametrize(
    "other",
    [
        request_for(replace(EVENT, cwd="/elsewhere")),
        request_for(replace(EVENT, argv=("git", "push"))),
        request_for(EVENT, rule="another"),
        request_for(replace(EVENT, agent="claude")),
    ],
    ids=["cwd", "argv", "rule", "agent"],
)
def test_what_a_card_says_is_in_the_digest(other: ApprovalRequest) -> None:
    assert other.shown != request_for(EVENT).shown


def test_masked_acts_that_look_alike_are_told_apart_without_keeping_the_secret() -> None:
    masked = command("curl", "-u", "•••")
    one = request_for(command("curl", "-u", "hunter2"), masked=masked)
    two = request_for(command("curl", "-u", "hunter3"), masked=masked)
    assert one.shown == two.shown and one.sameness != two.sameness
    assert "hunter2" not in repr(one)

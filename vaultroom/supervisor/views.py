"""Live objects as the frozen values that front ends see."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from vaultroom import clock
from vaultroom.approvals.answer import Answer, AnswerKind
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.card import card_of, card_to_dict
from vaultroom.approvals.grants import Grant
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.audit.writer import AuditWriter
from vaultroom.control.protocol import (
    AnswerCommand,
    Dossier,
    EndedView,
    GrantView,
    HostView,
    RequestView,
    SessionView,
)
from vaultroom.supervisor.session import Session
from vaultroom.visible import visible


def answer_of(command: AnswerCommand) -> Answer:
    """Raises ValueError for an answer that no surface may send."""
    return Answer(
        kind=AnswerKind(command.kind),
        by=command.by,
        reason=command.reason,
        shown=command.shown,
        minutes=command.minutes or None,
        directory=command.directory,
    )


def session_view(session: Session, broker: Broker) -> SessionView:
    facts, counts = session.facts, session.gate.counts
    waiting = sum(1 for request in broker.snapshot().pending if request.session_id == facts.id)
    return SessionView(
        id=facts.id,
        agent=visible(facts.agent_name),
        command=tuple(visible(word) for word in facts.agent_command),
        cwd=visible(facts.cwd),
        policy=visible(facts.policy_name),
        policy_hash=facts.policy_hash,
        started_at=session.started_at,
        state=session.state,
        child_pid=facts.child.pid,
        allowed=counts.allowed,
        denied=counts.denied,
        asked=counts.asked,
        waiting=waiting,
        per_minute=session.gate.per_minute.count(clock.monotonic()),
        launched=session.launched,
    )


def ended_view(request: ApprovalRequest) -> EndedView:
    by = request.resolution.by if request.resolution else ""
    return EndedView(id=request.id, state=request.state.value, by=visible(by))


def grant_view(grant: Grant) -> GrantView:
    left = None if grant.deadline is None else max(0.0, grant.deadline - clock.monotonic())
    return GrantView(
        id=grant.id,
        session=grant.session_id,
        label=grant.label,
        rule=visible(grant.rule),
        by=visible(grant.by),
        directory=visible(grant.directory),
        seconds_left=left,
        hits=grant.hits,
        window=grant.is_window,
    )


def host_view(writer: AuditWriter, audit_db: Path, surfaces: Iterable[str]) -> HostView:
    newest = writer.newest
    trouble = writer.head_file_error
    return HostView(
        pid=os.getpid(),
        audit_db=str(audit_db),
        rows=writer.total_rows,
        head=f"{newest.seq}:{newest.row_hash.hex()[:8]}" if newest else "",
        surfaces=tuple(sorted(surfaces)),
        trouble=f"the head file cannot be written: {trouble}" if trouble else "",
    )


def request_view(request: ApprovalRequest, dossier: Dossier) -> RequestView:
    return RequestView(
        id=request.id,
        state=request.state.value,
        session=request.session_id,
        agent=visible(request.agent),
        rule=visible(request.rule_name),
        action=request.event.action.value,
        summary=request.summary,
        created_at=clock.rfc3339(request.created_ns),
        expires_at=clock.rfc3339(request.expires_at_ns),
        seconds_left=max(0.0, (request.expires_at_ns - clock.now_ns()) / 1e9),
        unreachable=request.unreachable,
        card=card_to_dict(card_of(request)),
        dossier=replace(
            dossier,
            deliveries=tuple(
                f"{visible(d.channel)}: {d.state.value}{': ' + visible(d.why) if d.why else ''}"
                for d in request.deliveries
            ),
        ),
    )

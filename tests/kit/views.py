"""Frozen values as a host sends them, for tests of front ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vaultroom.control.protocol import (
    Dossier,
    EndedView,
    GrantView,
    HostView,
    Removal,
    RequestView,
    SessionView,
    State,
)

SESSION_ID = "01J00000000000000000000000"
REQUEST_ID = "01J0000000000000000000000R"


def session_view(**changes: Any) -> SessionView:
    view = SessionView(
        id=SESSION_ID,
        agent="claude",
        command=("claude", "-p", "fix the tests"),
        cwd="/home/dev/proj",
        policy="/home/dev/proj/vaultroom.yaml",
        policy_hash="ab" * 32,
        started_at="2026-01-31T12:00:00.000000000Z",
        state="running",
        child_pid=4242,
        allowed=41,
        denied=2,
        asked=3,
        waiting=1,
        per_minute=17,
        launched=False,
    )
    return replace(view, **changes)


def request_view(**changes: Any) -> RequestView:
    act = "$ git push origin main"
    view = RequestView(
        id=REQUEST_ID,
        state="pending",
        session=SESSION_ID,
        agent="claude",
        rule="git-push-ask",
        action="shell.exec",
        summary=act,
        created_at="2026-01-31T12:00:10.000000000Z",
        expires_at="2026-01-31T12:01:10.000000000Z",
        seconds_left=47.0,
        unreachable=False,
        card={
            "id": REQUEST_ID,
            "session_id": SESSION_ID,
            "shown": "cd" * 32,
            "agent": "claude",
            "rule": "git-push-ask (line 8)",
            "rule_text": '- name: "git-push-ask"\n  effect: require_approval',
            "message": "",
            "action": "shell.exec",
            "act": act,
            "cwd": "/home/dev/proj",
            "deadline": 100.0,
            "asks": [],
            "details": [],
            "remembers": ["$ git push origin main in /home/dev/proj"],
            "refusal": "",
            "waiters": 1,
        },
        dossier=Dossier(
            facets=("shell.exec git push origin main: require_approval by git-push-ask",),
            chain=("git (4250)", "bash (4245)", "claude (4242)"),
        ),
    )
    return replace(view, **changes)


def removal() -> Removal:
    return Removal(files=1204, bytes=52_428_800, complete=True, sample=("/home/dev/proj/build/a.o",))


def state(**changes: Any) -> State:
    made = State(
        version=1,
        rooms=1,
        host=HostView(
            pid=4000,
            audit_db="/home/dev/audit.db",
            rows=46,
            head="46:9f86d081",
            surfaces=("tui",),
            trouble="",
        ),
        sessions=(session_view(),),
        requests=(request_view(),),
        grants=(
            GrantView(
                id="01J0000000000000000000000G",
                session=SESSION_ID,
                label="$ npm test in /home/dev/proj",
                rule="npm-ask",
                by="tui",
                directory="",
                seconds_left=None,
                hits=5,
                window=False,
            ),
        ),
        ended=(EndedView("01J0000000000000000000000Q", "denied", "cli"),),
    )
    return replace(made, **changes)

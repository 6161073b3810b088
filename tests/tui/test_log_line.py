"""Rows of the log as lines: every kind, every broken one, and a tail that keeps its page."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit import views
from tests.tui.bench import HOSTILE, THIRD, log_file
from vaultroom.audit.reader import LogRow
from vaultroom.tui.log_line import Badge, entry_line, entry_of
from vaultroom.tui.log_tail import LogTail, Page, View
from vaultroom.tui.spans import width_of


def row(payload: str, **changes: object) -> LogRow:
    values: dict[str, object] = {
        "rowid": 1,
        "id": "E",
        "session_id": "S",
        "ts": "2026-01-31T12:34:56.000000000Z",
        "seq": 1,
        "source": "shim",
        "action": "shell.exec",
        "payload": payload,
        "rule_name": "r",
        "verdict": "allow",
        "final_effect": None,
        "approved_by": None,
        "wait_ms": None,
        "eval_micros": 3,
    }
    return LogRow(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payload", "changes", "badge", "target"),
    [
        ('{"raw":"git status"}', {}, Badge.ALLOW, "git status"),
        ('{"path":"/a"}', {"verdict": "deny"}, Badge.DENY, "/a"),
        ('{"host":"h","port":443}', {}, Badge.ALLOW, "h:443"),
        ('{"server":"s","tool":"t","tool_args":{"a":1}}', {}, Badge.ALLOW, 's/t {"a": 1}'),
        ('{"argv":["a","b"]}', {"verdict": "require_approval"}, Badge.ASK, "a b"),
        ("not json", {}, Badge.ALLOW, ""),
        ("[1]", {"verdict": "who knows"}, Badge.DENY, ""),
        ('{"record":{"agent_command":["x","y"]}}', {"source": "vaultroom", "action": "session.open"},
         Badge.NONE, "session opened: x y"),
        ('{"event_id":"Q","record":{"state":"denied","reason":"no"}}',
         {"verdict": "require_approval", "final_effect": "deny", "approved_by": "tui", "wait_ms": 1500},
         Badge.DENY, "by tui, 1.5 s “no” · the act"),
    ],
)  # fmt: skip
def test_each_kind_of_row(payload: str, changes: dict[str, object], badge: Badge, target: str) -> None:
    entry = entry_of(row(payload, **changes), "claude", {"Q": "the act"})
    assert (entry.badge, entry.target, entry.time) == (badge, target, "12:34:56")


def test_a_huge_row_is_not_read() -> None:
    entry = entry_of(row('{"raw":"' + "x" * 100_000 + '"}'), "a", {})
    assert entry.target == "a large act (97 KiB); its row has the whole"


@given(st.integers(1, 200), st.text(max_size=300))
def test_a_line_fits_every_width(width: int, text: str) -> None:
    import json

    entry = entry_of(row(json.dumps({"raw": text}), rule_name=text, action=text), "漢字漢字", {})
    assert width_of(entry_line(entry, width)) <= max(width, 40)
    assert all(span.text.replace("\n", "").isprintable() for span in entry_line(entry, width))


def test_the_log_of_a_hostile_agent_is_visible() -> None:
    entry = entry_of(row("{}", rule_name=HOSTILE, action=HOSTILE), "a", {})
    assert entry.rule.isprintable() and entry.action.isprintable()


async def test_the_tail_follows_and_catches_up(tmp_path: Path) -> None:
    async with log_file(tmp_path / "audit.db") as log:
        tail = LogTail(page=50, poll=0.01)
        tail.start()
        try:
            tail.look(View(str(log.path)))
            assert wait(tail, lambda page: page.entries == ())
            log.many(
                [("shell.exec", "shim", {"raw": f"n{n}"}, "allow", None, THIRD, None) for n in range(400)]
            )
            page = wait(tail, lambda page: page.count == 400)
            assert [entry.target for entry in page.entries] == [f"n{n}" for n in range(350, 400)]
            log.add("shell.exec", "shim", {"raw": "mine"}, "deny")
            page = wait(tail, lambda page: page.count == 401)
            assert page.entries[-1].agent == "claude" and len(page.entries) == 50
            tail.look(View(str(log.path), THIRD))
            page = wait(tail, lambda page: page.view.session == THIRD)
            assert page.count == 400 and page.entries[-1].target == "n399" and len(page.entries) == 50
            tail.look(View(str(log.path), views.SESSION_ID))
            page = wait(tail, lambda page: page.view.session == views.SESSION_ID)
            assert [entry.target for entry in page.entries] == ["mine"]
        finally:
            tail.stop()


def wait(tail: LogTail, right: object) -> Page:
    for _ in range(1000):
        page = tail.pages.take()
        if page is not None and right(page):  # type: ignore[operator]
            return page
        time.sleep(0.005)
    raise AssertionError("the page never came")

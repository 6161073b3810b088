"""Rows of the log as lines of the timeline. Whatever an agent wrote is made visible here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from vaultroom.audit.reader import LogRow
from vaultroom.tui.spans import Line, Role, line, pad
from vaultroom.visible import visible

_LARGEST_PAYLOAD = 64 * 1024
_LONGEST_TARGET = 400
"""Characters; a line of the timeline is cut anyway."""


class Badge(StrEnum):
    """A verdict as a text; colour comes second."""

    ALLOW = "[ALLOW]"
    DENY = "[DENY]"
    ASK = "[ASK]"
    NONE = ""


BADGE_ROLES = {Badge.ALLOW: Role.ALLOW, Badge.DENY: Role.DENY, Badge.ASK: Role.ASK, Badge.NONE: Role.DIM}
_BADGES = {"allow": Badge.ALLOW, "deny": Badge.DENY, "require_approval": Badge.ASK}

_OUTCOMES = {"allowed_once": "once", "allowed_rule": "with its rule", "denied": "", "responded": "answered"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the timeline, visible. `time` is UTC, HH:MM:SS. `own` marks rows of Vaultroom itself."""

    rowid: int
    session: str
    time: str
    agent: str
    action: str
    target: str
    badge: Badge
    rule: str
    own: bool = False


def entry_of(row: LogRow, agent: str, targets: Mapping[str, str]) -> Entry:
    """`targets` are the acts that outcomes may refer to, by event id."""
    payload = payload_of(row)
    own = row.source == "vaultroom"
    if row.final_effect is not None:
        badge, target = _BADGES.get(row.final_effect, Badge.DENY), _outcome(row, payload, targets)
    elif own:
        badge, target = Badge.NONE, _own(row, payload)
    else:
        badge, target = _BADGES.get(row.verdict, Badge.DENY), act(payload)
    if payload is None:
        target = f"a large act ({len(row.payload) // 1024:,} KiB); its row has the whole"
    return Entry(
        rowid=row.rowid,
        session=row.session_id,
        time=visible(row.ts[11:19]),
        agent=agent,
        action=visible(row.action),
        target=visible(target[:_LONGEST_TARGET], keep_newlines=True),
        badge=badge,
        rule=visible(row.rule_name or ""),
        own=own,
    )


def act(payload: Mapping[str, Any] | None) -> str:
    """What was done, in the words that fit the action; not visible yet."""
    if payload is None:
        return ""
    for member in ("raw", "path"):
        if isinstance(payload.get(member), str) and payload[member]:
            return str(payload[member])
    if payload.get("host"):
        return f"{payload['host']}:{payload['port']}" if payload.get("port") else str(payload["host"])
    if payload.get("tool"):
        name = f"{payload['server']}/{payload['tool']}" if payload.get("server") else str(payload["tool"])
        arguments = payload.get("tool_args")
        return f"{name} {json.dumps(arguments, ensure_ascii=False)}" if arguments else name
    argv = payload.get("argv")
    if isinstance(argv, list) and argv:
        return " ".join(str(word) for word in argv)
    return str(payload.get("cmd", ""))


def _outcome(row: LogRow, payload: Mapping[str, Any] | None, targets: Mapping[str, str]) -> str:
    record = _object(payload, "record")
    state = str(record.get("state", ""))
    words = _OUTCOMES.get(state, state.replace("_", " "))
    if row.approved_by:
        words += f"{' ' if words else ''}by {row.approved_by}"
    if row.wait_ms is not None:
        words += f"{', ' if words else ''}{row.wait_ms / 1000:.1f} s"
    if record.get("reason"):
        words += f" “{record['reason']}”"
    asked = targets.get(str((payload or {}).get("event_id", "")), "")
    return f"{words} · {asked}" if asked else words


def _own(row: LogRow, payload: Mapping[str, Any] | None) -> str:
    record = _object(payload, "record")
    if row.action == "session.open":
        command = record.get("agent_command")
        words = " ".join(str(word) for word in command) if isinstance(command, list) else ""
        again = " again, under a new host" if record.get("segment", 1) != 1 else ""
        return f"session opened{again}: {words}".rstrip(": ")
    if row.action == "session.close":
        return f"session closed: {record.get('reason', '')}".rstrip(": ")
    note = record.get("note")
    return json.dumps(note, ensure_ascii=False) if note else row.action


def payload_of(row: LogRow) -> dict[str, Any] | None:
    """The event of a row; None where it is too large to be read for a line, empty where it is broken."""
    if len(row.payload) > _LARGEST_PAYLOAD:
        return None
    try:
        payload = json.loads(row.payload)
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _object(payload: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    value = (payload or {}).get(name)
    return value if isinstance(value, dict) else {}


def entry_line(entry: Entry, width: int) -> Line:
    """The entry in at most `width` cells: what matters less goes first when there is little room."""
    agent_room = 12 if width >= 100 else 8
    action_room = 13 if width >= 100 else 10
    rule_room = 24 if width >= 120 else 18 if width >= 100 else 14 if width >= 64 else 0
    if width < 56:
        action_room = 0
    fixed = 9 + agent_room + 1 + (action_room and action_room + 1) + 8 + (rule_room and rule_room + 1)
    target_room = max(4, width - fixed)
    role = Role.DIM if entry.own else Role.INK
    return line(
        (entry.time + " ", Role.DIM),
        (pad(entry.agent, agent_room) + " ", Role.DIM if entry.own else Role.ACCENT),
        (pad(entry.action, action_room) + " " if action_room else "", Role.DIM),
        (pad(entry.target, target_room) + " ", role),
        (pad(entry.badge.value, 7), BADGE_ROLES[entry.badge]),
        (" " + pad(entry.rule, rule_room) if rule_room else "", Role.DIM),
    )

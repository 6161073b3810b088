"""Agents, requests, grants and the status line as lines. Plain functions of the snapshot."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from vaultroom.control.protocol import GrantView, RequestView, SessionView
from vaultroom.tui.scene import Scene
from vaultroom.tui.spans import BLANK, Line, Role, Span, cut, line, pad, spread, width_of, wrap
from vaultroom.tui.widgets.choices import Item

ALL = "all"
"""The id of the row that stands for every agent."""

_STATES = {
    "starting": ("◌", Role.DIM),
    "running": ("●", Role.ALLOW),
    "frozen": ("‖", Role.ASK),
    "stopped": ("■", Role.DENY),
}
_BAR = 8


def clock_text(seconds: float) -> str:
    """`0:47`, `12:05`, `1:02:05`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def agents_title(sessions: Sequence[SessionView], *, marked: bool) -> tuple[Line, Line]:
    """`marked`: all agents are looked at, and no row says so."""
    if not sessions:
        return line(("Agents", Role.TITLE)), BLANK
    rate = sum(session.per_minute for session in sessions)
    seen = " all" if marked and len(sessions) > 1 else ""
    return line(("Agents", Role.TITLE), (seen, Role.ACCENT)), line(
        (f"{len(sessions)} · {rate}/min", Role.DIM)
    )


def agent_items(sessions: Sequence[SessionView], width: int, *, tall: bool) -> list[Item]:
    """One row for each agent in a wide pane; three in a `tall` and narrow one, below a row for all."""
    if not sessions:
        return []
    items = []
    if tall:
        waiting = sum(session.waiting for session in sessions)
        items.append(Item(ALL, (spread(line(("all agents", Role.INK)), _waiting(waiting), width),)))
    for session in sessions:
        items.append(Item(session.id, _tall(session, width) if tall else (_flat(session, width),)))
    return items


def _tall(session: SessionView, width: int) -> tuple[Line, ...]:
    mark, role = _STATES.get(session.state, ("?", Role.DIM))
    command = " ".join(session.command)
    return (
        spread(
            line((f"{mark} ", role), (session.agent, Role.STRONG)),
            line((session.state, role), (f" {session.per_minute:>3}/min", Role.DIM)),
            width,
        ),
        tuple(cut(line(("  " + command.replace("\n", " ⏎ "), Role.DIM)), width)),
        spread(line("  ", *_counts(session)), _waiting(session.waiting), width),
    )


def _flat(session: SessionView, width: int) -> Line:
    mark, role = _STATES.get(session.state, ("?", Role.DIM))
    if width < 68:
        few = line((f"{session.denied} deny", Role.DENY if session.denied else Role.DIM), "  ")
        small = line((f"{mark} ", role), (session.agent, Role.STRONG), (f" {session.state}", role))
        return spread(small, (*few, *(_waiting(session.waiting) or line(("none waiting", Role.DIM)))), width)
    end = line(*_counts(session, 4), (f"  {session.per_minute:>3}/min", Role.DIM))
    waiting = _waiting(session.waiting)
    tail = (*end, *line(" ", " " * (10 - width_of(waiting)), *waiting))
    name_room = 12 if width >= 74 else 8
    front = line(
        (f"{mark} ", role),
        (pad(session.state, 8) + " ", role),
        (pad(session.agent, name_room) + " ", Role.STRONG),
    )
    room = width - width_of(front) - width_of(tail) - 1
    command = pad(" ".join(session.command), room) if room >= 16 else ""
    return spread((*front, Span(command, Role.DIM)), tail, width)


def _counts(session: SessionView, room: int = 0) -> Line:
    """Acts by verdict; numbers stand in columns of `room` cells."""
    return line(
        (f"{session.allowed:>{room}} allow", Role.ALLOW if session.allowed else Role.DIM),
        "  ",
        (f"{session.denied:>{room}} deny", Role.DENY if session.denied else Role.DIM),
        "  ",
        (f"{session.asked:>{room}} ask", Role.ASK if session.asked else Role.DIM),
    )


def _waiting(count: int) -> Line:
    return line((f"{count} waiting", Role.KEY)) if count else BLANK


def queue_items(requests: Sequence[RequestView], scene: Scene, width: int) -> list[Item]:
    """One row for each waiting request."""
    items = []
    name_room = 10
    for request in requests:
        left = scene.seconds_left(request)
        time = line((f" {clock_text(left)}", Role.DENY if left < 10 else Role.DIM))
        act = request.summary.replace("\n", " ⏎ ")
        front = line((pad(request.agent, name_room) + " ", Role.ACCENT), act)
        items.append(Item(request.id, (spread(front, time, width),)))
    return items


def card_title(
    request: RequestView | None, position: int, count: int, scene: Scene, hint: str, *, bar: bool
) -> tuple[Line, Line]:
    """The card's title and, at the right, a hint and the countdown, with a `bar` where there is room."""
    if request is None:
        return line(("Waiting", Role.TITLE)), BLANK
    left = scene.seconds_left(request)
    of = f" {position} of {count}" if count > 1 else ""
    title = line(("Waiting", Role.TITLE), (of, Role.INK), (f" · {request.agent}", Role.ACCENT))
    whole = max(_whole_seconds(request), left, 1.0)
    full = round(_BAR * left / whole)
    role = Role.DENY if left < 10 else Role.ASK
    return title, line(
        (hint, Role.DIM),
        ("  " if hint else "", Role.DIM),
        ("━" * full if bar else "", role),
        ("━" * (_BAR - full) if bar else "", Role.FAINT),
        (f" {clock_text(left)}" if left else " expired", role),
    )


def _whole_seconds(request: RequestView) -> float:
    from vaultroom.clock import parse_rfc3339

    try:
        return (parse_rfc3339(request.expires_at) - parse_rfc3339(request.created_at)) / 1e9
    except ValueError:
        return 0.0


def grant_items(grants: Sequence[GrantView], scene: Scene, width: int) -> list[Item]:
    """Two rows for each remembered answer."""
    items = []
    for grant in grants:
        left = grant.seconds_left
        lasts = "until the session ends"
        if left is not None:
            lasts = f"{clock_text(max(0.0, left - (scene.now - scene.received_at)))} left"
        session = scene.session(grant.session)
        used = "not used yet" if not grant.hits else f"answered {grant.hits}×"
        agent = session.agent if session else "?"
        pieces = wrap(grant.label, width)
        rows: list[Line] = [line((piece, Role.ASK if grant.window else Role.INK)) for piece in pieces]
        where = f" · in {grant.directory}" if grant.directory else ""
        rule = f" · rule {grant.rule}" if grant.rule else ""
        about = f"  {agent} · {used} · {lasts} · by {grant.by}{rule}{where}"
        rows.append(tuple(cut(line((about, Role.DIM)), width)))
        items.append(Item(grant.id, tuple(rows)))
    return items


def status_line(scene: Scene, session: SessionView | None, width: int) -> Line:
    """Host, policy, log and surfaces; what does not fit at this width is left out, the last part first."""
    name = line(("Vaultroom", Role.TITLE))
    if scene.lost:
        return tuple(cut((*name, *line("  ", ("no host", Role.DENY))), width))
    host = "attached to the host" if scene.attached else "host"
    parts: list[Line] = [line(("● ", Role.ALLOW), (host, Role.INK))]
    if session is not None:
        policy = posixpath.basename(session.policy) or session.policy
        parts.append(line(policy, (f" {session.policy_hash[:6]}", Role.DIM)))
    elif len({one.policy_hash for one in scene.sessions}) > 1:
        parts.append(line("several policies"))
    if scene.state is not None:
        view = scene.state.host
        seq, _, digest = view.head.partition(":")
        head = line(("log ", Role.DIM), f"{seq}", (f":{digest[:6]}", Role.DIM)) if view.head else BLANK
        parts.append(head or line(("log ", Role.DIM), "empty"))
        asks = ", ".join(view.surfaces) or "nobody"
        parts.append(line(("asks ", Role.DIM), (asks, Role.INK if view.surfaces else Role.ASK)))
    kept = name
    for part in parts:
        longer = (*kept, Span("  "), *part)
        if width_of(longer) > width:
            break
        kept = longer
    return kept


def output_title(session: SessionView | None, closed: bool) -> tuple[Line, Line]:
    if session is None:
        return line(("Output", Role.TITLE)), BLANK
    end = line(("ended", Role.DIM)) if closed else BLANK
    return line(("Output", Role.TITLE), (f" {session.agent} · {' '.join(session.command)}", Role.DIM)), end


def count_title(title: str, count: int, hint: str) -> tuple[Line, Line]:
    shown = f" {count}" if count else ""
    return line((title, Role.TITLE), (shown, Role.INK)), line((hint, Role.DIM))

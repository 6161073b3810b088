"""What the tests of the audit log share: entries, a host that can be killed, and a log worth attacking."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from vaultroom import clock
from vaultroom.audit.record import Entry, SessionStart, act_entry, note_entry, outcome_entry
from vaultroom.audit.writer import AuditWriter
from vaultroom.events import Action, Decision, Effect, Event, FacetVerdict, Source, Verdict, new_ulid
from vaultroom.signing import SigningKey

POLICY = b"version: 1\n"
POLICY_HASH = hashlib.sha256(POLICY).hexdigest()
OTHER_POLICY = b"version: 1\ndefaults: {action: deny}\n"
OTHER_HASH = hashlib.sha256(OTHER_POLICY).hexdigest()


def session_start(session_id: str, *, segment: int = 1, name: str = "claude") -> SessionStart:
    return SessionStart(session_id, name, (name, "--fast"), POLICY_HASH, POLICY, "/home/user", segment)


def an_event(session_id: str, **changes: object) -> Event:
    values: dict[str, object] = {
        "id": new_ulid(),
        "session_id": session_id,
        "ts": clock.now_ns(),
        "source": Source.SHIM,
        "action": Action.SHELL_EXEC,
        "cmd": "git",
        "argv": ("git", "push"),
        "raw": "git push",
        "cwd": "/home/user",
        "pid": 7,
    }
    return Event(**(values | changes))  # type: ignore[arg-type]


def a_verdict(effect: Effect = Effect.ALLOW, rule: str = "workdir-is-free") -> Verdict:
    return Verdict(effect, rule, "a message", 33, 20, (FacetVerdict(0, effect, rule, 20),))


def an_entry(session_id: str, effect: Effect = Effect.ALLOW, **changes: object) -> Entry:
    return act_entry(an_event(session_id, **changes), a_verdict(effect), policy_hash=POLICY_HASH)


def open_writer(db_path: Path, key: SigningKey, **options: float) -> AuditWriter:
    writer = AuditWriter(db_path, key, **options)
    writer.start()
    return writer


@dataclass(frozen=True)
class Log:
    """A log on the disk with the key of its installation."""

    db: Path
    key: SigningKey
    sealed: str
    unsealed: str
    taken_over: str

    @property
    def head(self) -> Path:
        return self.db.with_name(self.db.name + ".head")

    @property
    def wal(self) -> Path:
        return self.db.with_name(self.db.name + "-wal")

    def copy_to(self, folder: Path) -> Log:
        """A copy to attack."""
        folder.mkdir(exist_ok=True)
        for path in (self.db, self.head, self.wal):
            if path.exists():
                shutil.copy(path, folder / path.name)
        return Log(folder / self.db.name, self.key, self.sealed, self.unsealed, self.taken_over)


def build_log(db_path: Path) -> Log:
    """Three interleaved sessions: one sealed, one left unsealed, one taken over by a second host."""
    key = SigningKey.generate()
    sealed, unsealed, taken_over = (new_ulid() for _ in range(3))
    writer = open_writer(db_path, key)
    writer.open_session(session_start(sealed)).result()
    add_rows(writer, sealed, 3)
    writer.open_session(session_start(taken_over, name="codex")).result()
    add_rows(writer, taken_over, 2)
    add_rows(writer, sealed, 2)
    writer.stop()

    writer = open_writer(db_path, key)
    writer.open_session(session_start(taken_over, segment=2, name="codex")).result()
    writer.open_session(session_start(sealed, segment=2)).result()
    writer.open_session(session_start(unsealed, name="gemini")).result()
    event = an_event(sealed)
    writer.submit(
        act_entry(event, a_verdict(Effect.REQUIRE_APPROVAL, "ask"), policy_hash=POLICY_HASH)
    ).result()
    decision = Decision(event.id, Effect.ALLOW, "tui", 1_234_567_890, False, "allowed_once", "fine")
    writer.submit(outcome_entry(event, "ask", decision, policy_hash=POLICY_HASH, shown="ab" * 32)).result()
    note = note_entry(sealed, Action.POLICY_CHANGE, {"from": POLICY_HASH}, policy_hash=OTHER_HASH)
    writer.submit(note, policy_text=OTHER_POLICY).result()
    add_rows(writer, unsealed, 4)
    add_rows(writer, taken_over, 3)
    writer.close_session(taken_over, "host-lost", None).result()
    writer.close_session(sealed, "exit", 0).result()
    add_rows(writer, unsealed, 1)
    writer.stop()
    return Log(db_path, key, sealed, unsealed, taken_over)


def add_rows(writer: AuditWriter, session_id: str, count: int) -> list[int]:
    return [writer.submit(an_entry(session_id)).result() for _ in range(count)]

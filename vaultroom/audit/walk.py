"""Walking the rows of a log in the order they were written, with every session's state at hand. Pure.

The walk reads the table itself, not its indexes, in constant memory: one state for each session. JSON
parsing is most of its cost, so that the loop does each step once and in plain sight.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from vaultroom.audit import chain
from vaultroom.audit.chain import Head
from vaultroom.audit.report import Check
from vaultroom.events.codec import canonical_json
from vaultroom.signing import verifies

Row = tuple[Any, ...]
SessionRow = tuple[Any, ...]
"""id, started_at, ended_at, agent_name, agent_command, policy_hash, pubkey, head_hash, head_sig."""

_SESSION_MEMBERS = ("id", "started_at", "ended_at", "agent_name", "agent_command", "policy_hash", "pubkey")


class Divergence(Exception):
    """A row that is not what the writer left; the text says how."""

    def __init__(self, check: Check, reason: str, seq: int | None = None) -> None:
        super().__init__(reason)
        self.check = check
        self.reason = reason
        self.seq = seq


@dataclass(slots=True)
class SessionState:
    """What the walk knows of one session. `marks` are rows that others have seen: seq → hash, and who."""

    id: str
    row: SessionRow | None
    head: Head | None
    marks: dict[int, tuple[bytes, Check]] = field(default_factory=dict)
    rows: int = 0
    seq: int = 0
    row_hash: bytes = b""
    segment: int = 0
    key: bytes = b""
    columns: dict[str, Any] = field(default_factory=dict)
    closed: bool = False
    divergence: Divergence | None = None


class Walk:
    """The walk over one log.

    `install_key` is the public key that must have signed every session key; None: each is checked against
    the key it names itself. `whole` is False when only some sessions' rows are walked: links between
    sessions are not checked then.
    """

    def __init__(self, states: dict[str, SessionState], install_key: bytes | None, *, whole: bool) -> None:
        self.states = states
        self.rows = 0
        self.first_use: dict[str, str] = {}
        """Policy hash → ts of the first row that names it."""
        self.notices: list[str] = []
        self.miscount = ""
        """Where the links between sessions first count other rows than there are; empty: nowhere."""
        self._install_key = install_key
        self._whole = whole

    def walk(self, rows: Iterable[Row]) -> None:
        """Take every row in; what diverges is kept in its session's state."""
        states = self.states
        first_use = self.first_use
        scan = json.JSONDecoder().raw_decode
        sha256 = hashlib.sha256
        total = 0
        for row in rows:
            total += 1
            (
                id_,
                session_id,
                ts,
                seq,
                source,
                action,
                text,
                rule,
                verdict,
                final,
                by,
                wait,
                micros,
                prev,
                hash_,
            ) = row
            state = states.get(session_id)
            if state is None:
                state = states[session_id] = SessionState(session_id, None, None)
            state.rows += 1
            if state.divergence is not None:
                continue
            try:
                if seq != state.seq + 1:
                    raise _misplaced(seq, state.seq + 1)
                if prev != state.row_hash and seq != 1:
                    raise Divergence(Check.ROWS, "its prev_hash is not the hash of the row before")
                payload = text.encode()
                if sha256(prev + payload + (verdict + (rule or "") + ts).encode()).digest() != hash_:
                    raise Divergence(Check.ROWS, "its content does not have the hash it carries")
                data, end = scan(text, 0)
                record = data["record"]
                if (
                    end != len(text)
                    or data["id"] != id_
                    or data["session_id"] != session_id
                    or data["ts"] != ts
                    or data["source"] != source
                    or data["action"] != action
                    or record["seq"] != seq
                    or record["verdict"] != verdict
                    or record.get("rule") != rule
                ):
                    raise _column(row, data, record)
                kind = record["kind"]
                if kind == "act":
                    if (
                        record["eval_micros"] != micros
                        or final is not None
                        or by is not None
                        or wait is not None
                    ):
                        raise _column(row, data, record)
                    if state.closed or seq == 1:
                        raise _out_of_session(seq)
                else:
                    self._other(state, kind, row, data, record, total)
                policy = record.get("policy")
                if policy is not None and policy not in first_use:
                    first_use[policy] = ts
                state.seq = seq
                state.row_hash = hash_
                if seq in state.marks:
                    seen, check = state.marks.pop(seq)
                    if seen != hash_:
                        raise Divergence(check, f"it is not the row that the {check} saw")
            except Divergence as divergence:
                divergence.seq = divergence.seq or state.seq + (state.seq != seq)
                state.divergence = divergence
            except (TypeError, ValueError, KeyError, AttributeError, StopIteration, RecursionError):
                state.divergence = Divergence(
                    Check.ROWS, "it cannot be read as a row of the log", state.seq + 1
                )
        self.rows = total

    def finish(self, state: SessionState) -> None:
        """Check what a session's rows must agree with: its `sessions` row, its signed head, its marks."""
        if state.divergence is not None:
            return
        try:
            self._finish(state)
        except Divergence as divergence:
            state.divergence = divergence
        except (TypeError, ValueError, KeyError, AttributeError):
            state.divergence = Divergence(Check.ROWS, "its sessions row cannot be read")

    def _other(
        self,
        state: SessionState,
        kind: str,
        row: Row,
        data: dict[str, Any],
        record: dict[str, Any],
        total: int,
    ) -> None:
        """The rows that are not acts: outcomes, notes, and the two ends of a session."""
        seq, final, by, wait, micros, prev = row[3], row[9], row[10], row[11], row[12], row[13]
        if state.closed or (seq == 1) != (kind == "session.open" and state.segment == 0):
            raise _out_of_session(seq)
        if kind == "outcome":
            expected = (data["final_effect"], data["approved_by"], data["waited"] // 1_000_000, None)
        else:
            expected = (None, None, None, None)
        if (final, by, wait, micros) != expected:
            raise _column(row, data, record)
        if kind == "session.open":
            self._opened(state, data["ts"], record, prev, total)
        elif kind == "session.close":
            if record["ended_at"] != data["ts"] or any(
                record[name] != state.columns[name] for name in _SESSION_MEMBERS if name != "ended_at"
            ):
                raise Divergence(Check.ROWS, "its closing row does not repeat what the opening one says")
            state.columns["ended_at"] = record["ended_at"]
            state.closed = True
        elif kind not in ("outcome", "note"):
            raise Divergence(Check.ROWS, f"it is of an unknown kind, {kind!r}")

    def _opened(self, state: SessionState, ts: str, record: dict[str, Any], prev: bytes, total: int) -> None:
        segment, key = record["segment"], bytes.fromhex(record["pubkey"])
        if segment != state.segment + 1:
            raise Divergence(Check.ROWS, f"it opens segment {segment} after segment {state.segment}")
        columns = {name: record[name] for name in _SESSION_MEMBERS}
        if columns["id"] != state.id or columns["started_at"] != state.columns.get("started_at", ts):
            raise Divergence(Check.ROWS, "its opening row names another session or start")
        signer = bytes.fromhex(record["install_key"])
        if self._install_key is not None and signer != self._install_key:
            raise Divergence(Check.KEYS, "its key was signed by another installation")
        statement = chain.key_statement(state.id, segment, key)
        if not verifies(signer, bytes.fromhex(record["key_sig"]), statement):
            raise Divergence(Check.KEYS, "its key is not signed by the key it names")
        if segment == 1:
            self._linked(state.id, record["genesis"], prev, total)
        if record.get("head_file"):
            self.notices.append(
                f"session {state.id} opened with a head file {record['head_file']}: what was cut off before "
                "that cannot be seen"
            )
        self.first_use.setdefault(record["policy_hash"], ts)
        state.segment, state.key, state.columns = segment, key, columns

    def _linked(self, session_id: str, link: dict[str, Any] | None, prev: bytes, total: int) -> None:
        """The first row of a session goes on from the newest signed head that the log had then."""
        head = None if link is None else chain.head_from_link(link)
        if prev != chain.genesis(head):
            raise Divergence(Check.LINKS, "its prev_hash is not the one that its opening row names")
        if not self._whole:
            return
        if head is None:
            if total != 1:
                raise Divergence(
                    Check.LINKS, "it claims to be the log's first session, but there are rows before it"
                )
            return
        if head.rows != total - 1 and not self.miscount:
            self.miscount = (
                f"session {session_id} was opened after {head.rows} rows of the log, "
                f"there are {total - 1} before it"
            )
        before = self.states.get(head.session_id)
        if before is not None and before.divergence is not None:
            return
        if before is None or (before.seq, before.row_hash) != (head.seq, head.row_hash):
            raise Divergence(
                Check.LINKS, f"it follows row {head.seq} of session {head.session_id}, which is not there"
            )
        if not chain.is_signed(head, before.key):
            raise Divergence(
                Check.LINKS, f"it follows a head of session {head.session_id} that is not signed"
            )

    def _finish(self, state: SessionState) -> None:
        row, head = state.row, state.head
        gone = min((seq for seq in state.marks if seq > state.seq), default=0)
        if gone:
            check = state.marks[gone][1]
            raise Divergence(check, f"rows are missing: the {check} saw row {gone}", state.seq + 1)
        if state.marks:
            raise Divergence(Check.WITNESS, "the witness names a row that cannot exist")
        if head is not None and head.seq > state.seq:
            raise Divergence(
                Check.HEADS, f"rows are missing: its signed head is row {head.seq}", state.seq + 1
            )
        if row is None:
            raise Divergence(Check.ROWS, "it has rows, but no row in sessions")
        if not state.seq:
            raise Divergence(Check.ROWS, "it has no rows", 1)
        if head is None:
            raise Divergence(Check.HEADS, "it has no signed head")
        if head.seq < state.seq:
            raise Divergence(Check.HEADS, "rows follow that its signed head does not cover", head.seq + 1)
        if head.row_hash != state.row_hash or not chain.is_signed(head, state.key):
            raise Divergence(Check.HEADS, "its newest row is not signed by its key")
        columns = dict(zip(_SESSION_MEMBERS, row, strict=False))
        if not state.closed and (columns["ended_at"], row[7], row[8]) != (None, None, None):
            raise Divergence(Check.HEADS, "it is sealed, but its closing row is missing", state.seq + 1)
        expected = state.columns | {
            "agent_command": canonical_json(state.columns["agent_command"]).decode(),
            "pubkey": state.key,
        }
        wrong = next((name for name in _SESSION_MEMBERS if columns[name] != expected[name]), None)
        if wrong:
            raise Divergence(Check.ROWS, f"sessions.{wrong} is not what its rows say")
        if state.closed and (row[7] != state.row_hash or not verifies(state.key, row[8], row[7])):
            raise Divergence(Check.HEADS, "its seal is not a signature over its closing row")


def _misplaced(found: Any, expected: int) -> Divergence:
    if type(found) is not int or found < expected:
        return Divergence(Check.ROWS, f"row {found!r} stands where row {expected} belongs", expected)
    return Divergence(Check.ROWS, f"it is missing: row {found} follows row {expected - 1}", expected)


def _out_of_session(seq: int) -> Divergence:
    return Divergence(
        Check.ROWS, "its first row does not open the session" if seq == 1 else "it follows the closing row"
    )


def _column(row: Row, data: dict[str, Any], record: dict[str, Any]) -> Divergence:
    """Name the column that does not say what the payload says."""
    said = {
        "id": (row[0], data["id"]),
        "session_id": (row[1], data["session_id"]),
        "ts": (row[2], data["ts"]),
        "seq": (row[3], record["seq"]),
        "source": (row[4], data["source"]),
        "action": (row[5], data["action"]),
        "rule_name": (row[7], record.get("rule")),
        "verdict": (row[8], record["verdict"]),
        "final_effect": (row[9], data.get("final_effect")),
        "approved_by": (row[10], data.get("approved_by")),
        "wait_ms": (row[11], data["waited"] // 1_000_000 if "waited" in data else None),
        "eval_micros": (row[12], record.get("eval_micros")),
    }
    for name, (column, payload) in said.items():
        if column != payload:
            return Divergence(Check.ROWS, f"its column {name} does not say what its payload says")
    return Divergence(Check.ROWS, "its payload is not one JSON object")

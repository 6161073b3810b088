"""Verifying a log: rows, heads, keys, links, policies, tables, head file and witness (design sections 6, 7).

Read-only and free of any screen: `verify` returns a Report. It takes one state of the database, after
reading the head file, so that a host that goes on writing is never taken for tampering.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vaultroom.audit import chain, schema
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import HeadFile, HeadFileError, Tip, head_path, read_head_file
from vaultroom.audit.readonly import readonly
from vaultroom.audit.report import Check, CheckOutcome, Property, Report, SealState, SessionReport
from vaultroom.audit.walk import Divergence, SessionState, Walk
from vaultroom.errors import StoreError
from vaultroom.signing import verifies

_ROWS = f"SELECT {', '.join(schema.EVENT_COLUMNS)} FROM events NOT INDEXED"
_SESSIONS = (
    "SELECT id, started_at, ended_at, agent_name, agent_command, policy_hash, pubkey, head_hash, head_sig "
    "FROM sessions NOT INDEXED"
)
_HEADS = "SELECT session_id, seq, row_hash, rows, ts, sig FROM heads NOT INDEXED"


def verify(
    db_path: Path,
    install_key: bytes | None,
    *,
    session: str | None = None,
    witness: Iterable[Tip] | None = None,
) -> Report:
    """Check the log at `db_path`.

    `install_key` is this installation's public key (32 bytes), None where it is not at hand; `session`
    limits the check to one; `witness` are the heads that were published. Raises StoreError when the log
    cannot be opened at all.
    """
    seen = None if witness is None else tuple(witness)
    return _Verification(db_path, install_key, session, seen).run()


def read_witness(path: Path) -> tuple[Tip, ...]:
    """The published heads in a file: one JSON object with session, seq and hash on each line.

    Raises StoreError when the file cannot be read or a line is something else.
    """
    heads = []
    try:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if line.strip():
                heads.append(_witness_head(line, path, number))
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the witness file {path} cannot be read: {error}") from error
    return tuple(heads)


def _witness_head(line: str, path: Path, number: int) -> Tip:
    try:
        data = json.loads(line)
        session, seq, digest = data["session"], data["seq"], bytes.fromhex(data["hash"])
        if not isinstance(session, str) or type(seq) is not int or seq < 1 or len(digest) != chain.HASH_SIZE:
            raise ValueError("a member has the wrong type")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError(
            f"expected an object with session, seq and hash in {path}, line {number}, found something else"
        ) from None
    return Tip(session, seq, digest)


class _Verification:
    """One run; collects what is broken and what could not be checked, by property."""

    def __init__(
        self, db_path: Path, install_key: bytes | None, session: str | None, witness: tuple[Tip, ...] | None
    ) -> None:
        self._path = db_path
        self._install_key = install_key
        self._session = session
        self._witness = witness
        self._broken: dict[Check, str] = {}
        self._unchecked: dict[Check, str] = {}

    def run(self) -> Report:
        head_file = self._read_head_file()
        with readonly(self._path) as connection:
            try:
                walk = self._look(connection, head_file)
            except sqlite3.Error as error:
                self._break(Check.TABLES, f"the database is damaged: {error}")
                walk = Walk({}, self._install_key, whole=False)
            else:
                self._check_totals(walk, head_file)
        return self._report(walk)

    def _look(self, connection: sqlite3.Connection, head_file: HeadFile | None) -> Walk:
        try:
            walk = self._walk(connection, head_file)
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
            connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            walk = self._walk(connection, head_file)
        self._check_tables(connection, head_file)
        self._check_policies(connection, walk)
        return walk

    # The head file

    def _read_head_file(self) -> HeadFile | None:
        path = head_path(self._path)
        try:
            head = read_head_file(path)
        except FileNotFoundError:
            self._unchecked[Check.HEAD_FILE] = f"{path} is missing: a log that was cut off looks whole"
            return None
        except (OSError, HeadFileError) as error:
            self._unchecked[Check.HEAD_FILE] = str(error)
            return None
        if self._install_key is not None and head.install_key != self._install_key:
            self._break(Check.HEAD_FILE, "it was signed by another installation")
        elif not verifies(head.install_key, head.sig, chain.head_file_statement(head.body)):
            self._break(Check.HEAD_FILE, "its signature does not fit")
        return head

    # The rows

    def _walk(self, connection: sqlite3.Connection, head_file: HeadFile | None) -> Walk:
        heads = {row[0]: Head(*row) for row in connection.execute(_HEADS)}
        states = {
            row[0]: SessionState(row[0], row, heads.pop(row[0], None))
            for row in connection.execute(_SESSIONS)
        }
        for session_id, head in heads.items():
            states[session_id] = SessionState(session_id, None, head)
        if self._session is not None:
            states = {name: state for name, state in states.items() if name == self._session}
        self._mark(states, head_file)
        walk = Walk(states, self._install_key, whole=self._session is None)
        if self._session is None:
            walk.walk(connection.execute(_ROWS + " ORDER BY rowid"))
        else:
            walk.walk(connection.execute(_ROWS + " WHERE session_id = ? ORDER BY rowid", (self._session,)))
        for state in walk.states.values():
            walk.finish(state)
        return walk

    def _mark(self, states: dict[str, SessionState], head_file: HeadFile | None) -> None:
        """Tell each session's state which rows the head file and the witness have seen."""
        tips = [(tip, Check.WITNESS) for tip in self._witness or ()]
        if head_file is not None:
            tips += [(tip, Check.HEAD_FILE) for tip in head_file.unsealed]
            if head_file.sealed is not None:
                tips.append((head_file.sealed, Check.HEAD_FILE))
        for tip, check in tips:
            if self._session not in (None, tip.session_id):
                continue
            state = states.setdefault(tip.session_id, SessionState(tip.session_id, None, None))
            before = state.marks.setdefault(tip.seq, (tip.row_hash, check))
            if before[0] != tip.row_hash:
                self._break(check, f"two different rows {tip.seq} of session {tip.session_id} were seen")

    # The rest of the database

    def _check_tables(self, connection: sqlite3.Connection, head_file: HeadFile | None) -> None:
        if schema.objects(connection) != schema.expected_objects():
            self._break(
                Check.TABLES, "the database has other tables, indexes or triggers than Vaultroom makes"
            )
        damage = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if damage != "ok":
            self._break(Check.TABLES, f"tables and indexes disagree: {damage}")
        applied = tuple(
            connection.execute("SELECT version, applied_at FROM schema_migrations ORDER BY version")
        )
        if head_file is not None and applied != head_file.schema:
            self._break(Check.TABLES, "schema_migrations is not what the head file says")

    def _check_policies(self, connection: sqlite3.Connection, walk: Walk) -> None:
        kept = set()
        whole = self._session is None and not any(state.divergence for state in walk.states.values())
        for hash_, text, first_used in connection.execute(
            "SELECT hash, text, first_used FROM policies NOT INDEXED"
        ):
            kept.add(hash_)
            if not isinstance(text, bytes) or hashlib.sha256(text).hexdigest() != hash_:
                self._break(Check.POLICIES, f"policy {hash_} does not have the hash it is kept by")
            elif whole and walk.first_use.get(hash_) != first_used:
                self._break(Check.POLICIES, f"policy {hash_} was not first used when the log says")
        missing = next((hash_ for hash_ in walk.first_use if hash_ not in kept), None)
        if missing is not None:
            self._break(Check.POLICIES, f"policy {missing} judged and is not kept")

    def _check_totals(self, walk: Walk, head_file: HeadFile | None) -> None:
        if self._session is not None:
            self._unchecked[Check.LINKS] = "only one session was checked"
            return
        if walk.miscount:
            self._break(Check.LINKS, walk.miscount)
        sessions = sum(state.row is not None for state in walk.states.values())
        counted = max((_number(state.head) for state in walk.states.values() if state.head), default=0)
        if counted != walk.rows:
            self._break(Check.LINKS, f"the newest signed head counts {counted} rows, the log has {walk.rows}")
        if head_file is not None and (head_file.rows > walk.rows or head_file.sessions > sessions):
            self._break(
                Check.HEAD_FILE,
                f"the log was cut off or rolled back: {head_file.rows} rows in {head_file.sessions} sessions "
                f"were signed, it has {walk.rows} in {sessions}",
            )

    # The report

    def _report(self, walk: Walk) -> Report:
        sessions = tuple(_session_report(state) for state in walk.states.values())
        if self._session is not None and not sessions:
            raise StoreError(f"expected session {self._session} in {self._path}, found none")
        for state in walk.states.values():
            if state.divergence is not None:
                self._break(state.divergence.check, f"session {state.id}: {state.divergence.reason}")
        if self._install_key is None:
            self._unchecked[Check.KEYS] = "the install key is not available: who signed them is unknown"
        if self._witness is None:
            self._unchecked[Check.WITNESS] = "no witness was given"
        required = set(self._unchecked) - {Check.WITNESS}
        if self._session is not None:
            required.discard(Check.LINKS)
        return Report(
            sessions=sessions,
            properties=tuple(self._property(check) for check in Check),
            rows=walk.rows,
            complete=not required,
            notices=tuple(walk.notices),
        )

    def _property(self, check: Check) -> Property:
        if check in self._broken:
            return Property(check, CheckOutcome.BROKEN, self._broken[check])
        if check in self._unchecked:
            return Property(check, CheckOutcome.NOT_CHECKED, self._unchecked[check])
        return Property(check, CheckOutcome.HOLDS)

    def _break(self, check: Check, reason: str) -> None:
        self._broken.setdefault(check, reason)


def _number(head: Head) -> int:
    """The count in a head that anybody may have changed."""
    value: object = head.rows
    return value if isinstance(value, int) else 0


def _session_report(state: SessionState) -> SessionReport:
    found: Divergence | None = state.divergence
    name: Any = state.row[3] if state.row else ""
    return SessionReport(
        id=str(state.id),
        state=SealState.TAMPERED if found else SealState.SEALED if state.closed else SealState.UNSEALED,
        rows=state.rows,
        first_bad_seq=found.seq if found else None,
        reason=found.reason if found else "",
        agent_name=name if isinstance(name, str) else "",
    )

"""The one chain-keeper: what the writer's thread knows and does, one call after another. No threads here.

Heads in memory move only after a commit. After a failure the database is opened anew and looked at: it may
or may not hold the transaction whose commit failed, and the chain goes on from what it holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultroom import clock
from vaultroom.audit import chain, record, schema
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import (
    HeadFile,
    HeadFileError,
    HeadFileWriter,
    Tip,
    head_path,
    read_head_file,
)
from vaultroom.audit.record import Entry, SessionStart
from vaultroom.audit.store import DuplicateRow, Statement, Store, StoreBusy, tampered
from vaultroom.clock import rfc3339
from vaultroom.errors import StoreError
from vaultroom.events import Action, canonical_json
from vaultroom.signing import SigningKey, verifies

_INSERT_EVENT = f"INSERT INTO events({','.join(schema.EVENT_COLUMNS)}) VALUES "
_EVENT_PLACES = f"({','.join('?' * len(schema.EVENT_COLUMNS))})"
_ROWS_PER_INSERT = 64
_UPSERT_HEAD = (
    "INSERT INTO heads(session_id, seq, row_hash, rows, sig, ts) VALUES (?,?,?,?,?,?) "
    "ON CONFLICT(session_id) DO UPDATE SET seq=excluded.seq, row_hash=excluded.row_hash, "
    "rows=excluded.rows, sig=excluded.sig, ts=excluded.ts"
)
_INSERT_POLICY = "INSERT INTO policies(hash, text, first_used) VALUES (?,?,?)"


@dataclass(frozen=True, slots=True)
class Append:
    """An entry to chain; `policy_text` where its row is the first that names a policy."""

    entry: Entry
    policy_text: bytes | None = None


@dataclass(frozen=True, slots=True)
class Unsealed:
    """A session that its host left without a seal. `segment` is its newest; `seq` its newest row."""

    id: str
    agent_name: str
    agent_command: tuple[str, ...]
    policy_hash: str
    started_at: str
    start_cwd: str
    segment: int
    seq: int


@dataclass(slots=True)
class _Live:
    """A session that this host writes. `columns` is its `sessions` row as the payload repeats it."""

    key: SigningKey
    columns: dict[str, Any]
    tip: Tip


class Ledger:
    """The open log. Raises StoreError where it cannot be opened or is not as it was left."""

    def __init__(self, db_path: Path, install_key: SigningKey, *, busy_seconds: float) -> None:
        self._path = db_path
        self._install_key = install_key
        self._busy_seconds = busy_seconds
        self._store: Store | None = Store(db_path, create=True, busy_seconds=busy_seconds)
        self._live: dict[str, _Live] = {}
        self._head_file = HeadFileWriter(head_path(db_path), install_key)
        self._head_notice = ""
        self._sealed: Tip | None = None
        self.head_file_error: OSError | None = None
        try:
            self._load()
        except BaseException:
            self._store.close()
            raise

    # What it knows

    rows: int
    """Rows in the whole log."""
    newest: Head | None
    """The newest signed head of any session."""
    unsealed: tuple[Unsealed, ...]
    """The sessions that other hosts left unsealed and this one has not taken over."""

    # What it does

    def append(self, batch: Sequence[Append]) -> list[int | Exception]:
        """Chain and commit `batch` as one transaction; for each entry its seq, or why it is not written."""
        try:
            self._recover()
            return self._append(batch)
        except DuplicateRow as error:
            if len(batch) == 1:
                return [error]
            return [self.append([job])[0] for job in batch]
        except StoreError as error:
            return [error] * len(batch)

    def open_session(self, start: SessionStart) -> None:
        """Write the row that opens a session or its next segment.

        Raises StoreError, and ValueError for a start that does not fit what the log holds.
        """
        if hashlib.sha256(start.policy_text).hexdigest() != start.policy_hash:
            raise ValueError(f"expected {start.policy_hash} to be the sha256 of the policy's bytes")
        self._recover()
        if start.segment == 1:
            first, tip = True, Tip(start.id, 0, chain.genesis(self.newest))
            if start.id in self._live or self._read("SELECT 1 FROM sessions WHERE id=?", start.id):
                raise ValueError(f"expected session {start.id} to be new, the log has it already")
        else:
            first, tip = False, self._abandoned_tip(start)
        ts = clock.now_ns()
        columns: dict[str, Any] = {
            "id": start.id,
            "started_at": rfc3339(ts) if first else self._unsealed(start.id).started_at,
            "ended_at": None,
            "agent_name": _clean(start.agent_name),
            "agent_command": list(start.agent_command),
            "policy_hash": start.policy_hash,
        }
        key = SigningKey.generate()
        columns["pubkey"] = key.public.hex()
        extra = {
            **columns,
            "start_cwd": start.start_cwd,
            "segment": start.segment,
            "key_sig": self._install_key.sign(chain.key_statement(start.id, start.segment, key.public)).hex(),
            "install_key": self._install_key.public.hex(),
        }
        if first:
            extra["genesis"] = None if self.newest is None else _link(self.newest)
        if self._head_notice:
            extra["head_file"] = self._head_notice
        entry = record.own_entry("session.open", start.id, Action.SESSION_OPEN, extra, ts)
        row, tip = _chained(entry, tip)
        statements: list[Statement] = [self._session_statement(columns, key, new=first)]
        if start.policy_hash not in self._policies:
            statements.append((_INSERT_POLICY, (start.policy_hash, start.policy_text, rfc3339(ts))))
        head = self._sign(key, tip, self.rows + 1)
        self._write([*statements, _insert([row]), _head_statement(head)])
        self._policies.add(start.policy_hash)
        self._live[start.id] = _Live(key, columns, tip)
        self.unsealed = tuple(session for session in self.unsealed if session.id != start.id)
        self._sessions += first
        self._head_notice = ""
        self._committed(1, head, sync=True)

    def close_session(self, session_id: str, reason: str, exit_code: int | None) -> None:
        """Write the closing row and the seal, and destroy the session's key."""
        self._recover()
        live = self._session(session_id)
        ts = clock.now_ns()
        columns = live.columns | {"ended_at": rfc3339(ts)}
        extra = {**columns, "reason": reason, "exit_code": exit_code}
        entry = record.own_entry("session.close", session_id, Action.SESSION_CLOSE, extra, ts)
        row, tip = _chained(entry, live.tip)
        head = self._sign(live.key, tip, self.rows + 1)
        seal: Statement = (
            "UPDATE sessions SET ended_at=?, head_hash=?, head_sig=? WHERE id=?",
            (columns["ended_at"], tip.row_hash, live.key.sign(tip.row_hash), session_id),
        )
        self._write([_insert([row]), _head_statement(head), seal])
        live.key.destroy()
        del self._live[session_id]
        self._sealed = tip
        self._committed(1, head, sync=True)

    def heads(self) -> tuple[Tip, ...]:
        """The newest row of every session that this host writes."""
        return tuple(live.tip for live in self._live.values())

    def stop(self) -> None:
        """Make the head file durable, drop every key and close the database."""
        if self._store is not None:
            self._write_head_file(sync=True)
            self._store.close()
            self._store = None
        for live in self._live.values():
            live.key.destroy()
        self._live.clear()

    # How

    def _append(self, batch: Sequence[Append]) -> list[int | Exception]:
        tips: dict[str, Tip] = {}
        rows: list[tuple[Any, ...]] = []
        results: list[int | Exception] = []
        new_policies: dict[str, Statement] = {}
        for job in batch:
            entry = job.entry
            try:
                live = self._session(entry.session_id)
                policy = self._new_policy(job, new_policies)
                row, tip = _chained(entry, tips.get(entry.session_id, live.tip))
            except (StoreError, ValueError, TypeError, KeyError) as error:
                results.append(error)
                continue
            new_policies |= policy
            rows.append(row)
            tips[entry.session_id] = tip
            results.append(tip.seq)
        if not rows:
            return results
        ts = rfc3339(clock.now_ns())
        total = self.rows + len(rows)
        heads = [self._sign(self._live[name].key, tip, total, ts) for name, tip in tips.items()]
        statements = list(new_policies.values())
        for start in range(0, len(rows), _ROWS_PER_INSERT):
            statements.append(_insert(rows[start : start + _ROWS_PER_INSERT]))
        statements += map(_head_statement, heads)
        self._write(statements)
        for name, tip in tips.items():
            self._live[name].tip = tip
        self._policies.update(new_policies)
        self._committed(len(rows), max(heads, key=lambda head: head.session_id), sync=False)
        return results

    def _new_policy(self, job: Append, pending: dict[str, Statement]) -> dict[str, Statement]:
        """The policy that this entry's row is the first to name, if it is."""
        hash_ = job.entry.payload["record"].get("policy", "")
        if not hash_ or hash_ in self._policies or hash_ in pending:
            return {}
        if job.policy_text is None or hashlib.sha256(job.policy_text).hexdigest() != hash_:
            raise StoreError(
                f"expected the text of policy {hash_} to be kept before it judges, the log lacks it",
                advice="Hand the policy's bytes in with the row that names it first.",
            )
        return {hash_: (_INSERT_POLICY, (hash_, job.policy_text, rfc3339(job.entry.ts)))}

    def _session(self, session_id: str) -> _Live:
        live = self._live.get(session_id)
        if live is None:
            raise StoreError(f"session {session_id} is not open in the audit log {self._path}")
        return live

    def _unsealed(self, session_id: str) -> Unsealed:
        for session in self.unsealed:
            if session.id == session_id:
                return session
        raise ValueError(f"expected session {session_id} to be unsealed and without a host, it is not")

    def _abandoned_tip(self, start: SessionStart) -> Tip:
        session = self._unsealed(start.id)
        if start.segment != session.segment + 1:
            raise ValueError(
                f"expected segment {session.segment + 1} of session {start.id}, found {start.segment}"
            )
        return self._abandoned[start.id]

    def _session_statement(self, columns: dict[str, Any], key: SigningKey, *, new: bool) -> Statement:
        command = canonical_json(columns["agent_command"]).decode()
        values = (columns["agent_name"], command, columns["policy_hash"], key.public)
        if new:
            return (
                "INSERT INTO sessions(id, started_at, agent_name, agent_command, policy_hash, pubkey) "
                "VALUES (?,?,?,?,?,?)",
                (columns["id"], columns["started_at"], *values),
            )
        return (
            "UPDATE sessions SET agent_name=?, agent_command=?, policy_hash=?, pubkey=? WHERE id=?",
            (*values, columns["id"]),
        )

    def _sign(self, key: SigningKey, tip: Tip, rows: int, ts: str = "") -> Head:
        ts = ts or rfc3339(clock.now_ns())
        sig = key.sign(chain.head_statement(tip.session_id, tip.seq, tip.row_hash, rows, ts))
        return Head(tip.session_id, tip.seq, tip.row_hash, rows, ts, sig)

    def _write(self, statements: list[Statement]) -> None:
        assert self._store is not None
        try:
            self._store.write(statements)
        except (DuplicateRow, StoreBusy):
            raise
        except BaseException:
            self._store.close()
            self._store = None
            raise

    def _committed(self, rows: int, head: Head, *, sync: bool) -> None:
        self.rows += rows
        self.newest = head
        self._write_head_file(sync=sync)

    def _write_head_file(self, *, sync: bool) -> None:
        """After the commit: a failure leaves an older head behind, which the next commit replaces."""
        self._commit += 1
        abandoned = [tip for name, tip in self._abandoned.items() if name not in self._live]
        waiting = {session.id for session in self.unsealed}
        head = HeadFile(
            commit=self._commit,
            rows=self.rows,
            sessions=self._sessions,
            unsealed=(*self.heads(), *(tip for tip in abandoned if tip.session_id in waiting)),
            sealed=self._sealed,
            schema=self._schema,
            ts=rfc3339(clock.now_ns()),
            install_key=self._install_key.public,
        )
        try:
            self._head_file.write(head, sync=sync)
        except OSError as error:
            self.head_file_error = error
        else:
            self.head_file_error = None

    def _read(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        assert self._store is not None
        return self._store.read(sql, parameters)

    def _load(self) -> None:
        """Read what the last host left, and refuse a log that contradicts itself or its head file."""
        self._schema = tuple(
            (int(version), str(applied))
            for version, applied in self._read("SELECT version, applied_at FROM schema_migrations ORDER BY 1")
        )
        self._policies: set[str] = {row[0] for row in self._read("SELECT hash FROM policies")}
        self._load_totals()
        self._load_unsealed()
        newest = self._read(
            "SELECT id, (SELECT max(seq) FROM events WHERE session_id=sessions.id), head_hash FROM sessions "
            "WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1"
        )
        self._sealed = Tip(*newest[0]) if newest else None
        self._commit = 0
        self._compare_head_file()

    def _load_totals(self) -> None:
        self._sessions: int = self._read("SELECT count(*) FROM sessions")[0][0]
        found = self._read(
            "SELECT session_id, seq, row_hash, rows, ts, sig FROM heads "
            "ORDER BY rows DESC, session_id DESC LIMIT 1"
        )
        self.newest = Head(*found[0]) if found else None
        self.rows = self.newest.rows if self.newest else 0
        if self.newest is None and (self._sessions or self._read("SELECT 1 FROM events LIMIT 1")):
            raise tampered(self._path, "it has rows, but no signed head")

    def _load_unsealed(self) -> None:
        self.unsealed = ()
        self._abandoned: dict[str, Tip] = {}
        for session_id, started_at, name, command, policy_hash, pubkey in self._read(
            "SELECT id, started_at, agent_name, agent_command, policy_hash, pubkey FROM sessions "
            "WHERE ended_at IS NULL ORDER BY started_at, id"
        ):
            head = self._checked_head(session_id, pubkey)
            (payload,) = self._read(
                "SELECT payload FROM events WHERE session_id=? AND action='session.open' "
                "ORDER BY seq DESC LIMIT 1",
                session_id,
            )[0]
            opened = json.loads(payload)["record"]
            self._abandoned[session_id] = Tip(session_id, head.seq, head.row_hash)
            self.unsealed += (
                Unsealed(
                    id=session_id,
                    agent_name=name,
                    agent_command=tuple(json.loads(command)),
                    policy_hash=policy_hash,
                    started_at=started_at,
                    start_cwd=opened["start_cwd"],
                    segment=opened["segment"],
                    seq=head.seq,
                ),
            )

    def _checked_head(self, session_id: str, pubkey: bytes) -> Head:
        """The signed head of a session; it must be the session's newest row."""
        heads = self._read(
            "SELECT session_id, seq, row_hash, rows, ts, sig FROM heads WHERE session_id=?", session_id
        )
        last = self._read(
            "SELECT seq, row_hash FROM events WHERE session_id=? ORDER BY seq DESC LIMIT 1", session_id
        )
        if not heads or not last:
            raise tampered(self._path, f"session {session_id} has no signed head or no rows")
        head = Head(*heads[0])
        if last[0] != (head.seq, head.row_hash) or not _is_signed(head, pubkey):
            raise tampered(self._path, f"the signed head of session {session_id} is not its newest row")
        return head

    def _compare_head_file(self) -> None:
        try:
            head = read_head_file(head_path(self._path))
        except FileNotFoundError:
            self._head_notice = "missing" if self.rows else ""
            if not self.rows:
                self._write_head_file(sync=True)
            return
        except (OSError, HeadFileError):
            self._head_notice = "unreadable"
            return
        if head.install_key != self._install_key.public or not verifies(
            head.install_key, head.sig, chain.head_file_statement(head.body)
        ):
            raise tampered(self._path, "its head file is not signed by this home's install key")
        if head.rows > self.rows or head.sessions > self._sessions:
            raise tampered(
                self._path,
                f"it was cut off or rolled back: the head file saw {head.rows} rows, the log has {self.rows}",
            )
        tips = (*head.unsealed, head.sealed) if head.sealed else head.unsealed
        for tip in tips:
            found = self._read(
                "SELECT row_hash FROM events WHERE session_id=? AND seq=?", tip.session_id, tip.seq
            )
            if found != [(tip.row_hash,)]:
                raise tampered(
                    self._path, f"row {tip.seq} of session {tip.session_id} is not the one the head file saw"
                )
        self._commit = head.commit

    def _recover(self) -> None:
        """After a failed transaction: open the database anew and go on from what it holds."""
        if self._store is not None:
            return
        store = Store(self._path, create=False, busy_seconds=self._busy_seconds)
        self._store = store
        try:
            store.settle()
            self._load_totals()
            for name, live in list(self._live.items()):
                head = self._checked_head(name, live.key.public)
                live.tip = Tip(name, head.seq, head.row_hash)
                if self._read("SELECT 1 FROM sessions WHERE id=? AND ended_at IS NOT NULL", name):
                    live.key.destroy()
                    del self._live[name]
            self._policies = {row[0] for row in self._read("SELECT hash FROM policies")}
        except BaseException:
            store.close()
            self._store = None
            raise


def _chained(entry: Entry, tip: Tip) -> tuple[tuple[Any, ...], Tip]:
    """The columns of `entry`'s row as the next one after `tip`, and the new tip."""
    seq = tip.seq + 1
    payload = canonical_json({**entry.payload, "record": {**entry.payload["record"], "seq": seq}})
    ts = entry.payload["ts"]
    digest = chain.row_hash(tip.row_hash, payload, entry.verdict, entry.rule_name, ts)
    row = (
        entry.id,
        entry.session_id,
        ts,
        seq,
        entry.source,
        entry.action,
        payload.decode(),
        entry.rule_name,
        entry.verdict,
        entry.final_effect,
        entry.approved_by,
        entry.wait_ms,
        entry.eval_micros,
        tip.row_hash,
        digest,
    )
    return row, Tip(entry.session_id, seq, digest)


def _insert(rows: Sequence[tuple[Any, ...]]) -> Statement:
    """One statement for all `rows`: each statement costs a switch of threads."""
    sql = _INSERT_EVENT + ",".join([_EVENT_PLACES] * len(rows))
    return sql, [value for row in rows for value in row]


def _head_statement(head: Head) -> Statement:
    return _UPSERT_HEAD, (head.session_id, head.seq, head.row_hash, head.rows, head.sig, head.ts)


def _is_signed(head: Head, pubkey: bytes) -> bool:
    statement = chain.head_statement(head.session_id, head.seq, head.row_hash, head.rows, head.ts)
    return verifies(pubkey, head.sig, statement)


def _link(head: Head) -> dict[str, Any]:
    """A head as an open row names it: everything that its signature covers."""
    return {
        "session": head.session_id,
        "seq": head.seq,
        "hash": head.row_hash.hex(),
        "rows": head.rows,
        "ts": head.ts,
        "sig": head.sig.hex(),
    }


def _clean(text: str) -> str:
    """`text` as a database can hold it: a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode()

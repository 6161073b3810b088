"""The one chain-keeper: what the writer's thread knows and does, one call after another. No threads here.

Heads in memory move only after a commit. After a failure the database is opened anew and looked at: it may
or may not hold the transaction whose commit failed, and the chain goes on from what it holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultroom import clock
from vaultroom.audit import chain, inherited, record, rows
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import HeadFile, HeadFileWriter, Tip, head_path
from vaultroom.audit.inherited import Unsealed
from vaultroom.audit.record import Entry, SessionStart
from vaultroom.audit.store import DuplicateRow, Statement, Store, StoreBusy
from vaultroom.clock import rfc3339
from vaultroom.errors import StoreError
from vaultroom.events import Action
from vaultroom.signing import SigningKey


@dataclass(frozen=True, slots=True)
class Append:
    """An entry to chain; `policy_text` where its row is the first that names a policy."""

    entry: Entry
    policy_text: bytes | None = None


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
            self._load(self._store)
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
            "agent_name": rows.storable(start.agent_name),
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
            extra["genesis"] = None if self.newest is None else chain.link_to(self.newest)
        if self._head_notice:
            extra["head_file"] = self._head_notice
        entry = record.own_entry("session.open", start.id, Action.SESSION_OPEN, extra, ts)
        row, tip = rows.chained(entry, tip)
        statements: list[Statement] = [rows.write_session(columns, key.public, new=first)]
        if start.policy_hash not in self._policies:
            statements.append(rows.insert_policy(start.policy_hash, start.policy_text, rfc3339(ts)))
        head = self._sign(key, tip, self.rows + 1)
        self._write([*statements, *rows.insert_rows([row]), rows.upsert_head(head)])
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
        row, tip = rows.chained(entry, live.tip)
        head = self._sign(live.key, tip, self.rows + 1)
        seal = rows.seal_session(session_id, columns["ended_at"], tip.row_hash, live.key.sign(tip.row_hash))
        self._write([*rows.insert_rows([row]), rows.upsert_head(head), seal])
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
        new_rows: list[tuple[Any, ...]] = []
        results: list[int | Exception] = []
        new_policies: dict[str, Statement] = {}
        for job in batch:
            entry = job.entry
            try:
                live = self._session(entry.session_id)
                policy = self._new_policy(job, new_policies)
                row, tip = rows.chained(entry, tips.get(entry.session_id, live.tip))
            except (StoreError, ValueError, TypeError, KeyError) as error:
                results.append(error)
                continue
            new_policies |= policy
            new_rows.append(row)
            tips[entry.session_id] = tip
            results.append(tip.seq)
        if not new_rows:
            return results
        ts = rfc3339(clock.now_ns())
        total = self.rows + len(new_rows)
        heads = [self._sign(self._live[name].key, tip, total, ts) for name, tip in tips.items()]
        self._write(
            [*new_policies.values(), *rows.insert_rows(new_rows), *(rows.upsert_head(head) for head in heads)]
        )
        for name, tip in tips.items():
            self._live[name].tip = tip
        self._policies.update(new_policies)
        self._committed(len(new_rows), max(heads, key=lambda head: head.session_id), sync=False)
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
        return {hash_: rows.insert_policy(hash_, job.policy_text, rfc3339(job.entry.ts))}

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

    def _committed(self, count: int, head: Head, *, sync: bool) -> None:
        self.rows += count
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

    def _load(self, store: Store) -> None:
        left = inherited.load(store)
        self.unsealed = left.unsealed
        self._abandoned = left.tips
        self._schema = left.schema
        self._sealed = left.sealed
        self._count(store)
        head_file, self._head_notice = inherited.compare_head_file(
            store, left.totals, self._install_key.public
        )
        self._commit = head_file.commit if head_file else 0
        if not self.rows and head_file is None:
            self._write_head_file(sync=True)

    def _count(self, store: Store) -> None:
        totals = inherited.load_totals(store)
        self.rows, self._sessions, self.newest = totals.rows, totals.sessions, totals.newest
        self._policies = inherited.load_policies(store)

    def _recover(self) -> None:
        """After a failed transaction: open the database anew and go on from what it holds."""
        if self._store is not None:
            return
        store = Store(self._path, create=False, busy_seconds=self._busy_seconds)
        self._store = store
        try:
            store.settle()
            self._count(store)
            for name, live in list(self._live.items()):
                live.tip = inherited.checked_tip(store, name, live.key.public)
                if self._read("SELECT 1 FROM sessions WHERE id=? AND ended_at IS NOT NULL", name):
                    live.key.destroy()
                    del self._live[name]
        except BaseException:
            store.close()
            self._store = None
            raise

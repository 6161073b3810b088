"""Rows and statements: how an entry takes its place in a chain, and how that is said in SQL. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vaultroom.audit import chain, schema
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import Tip
from vaultroom.audit.record import Entry
from vaultroom.audit.store import Statement
from vaultroom.events import canonical_json

ROWS_PER_INSERT = 64
"""Rows in one statement at most: each statement costs a switch of threads."""

_INSERT_EVENT = f"INSERT INTO events({','.join(schema.EVENT_COLUMNS)}) VALUES "
_EVENT_PLACES = f"({','.join('?' * len(schema.EVENT_COLUMNS))})"
_UPSERT_HEAD = (
    "INSERT INTO heads(session_id, seq, row_hash, rows, sig, ts) VALUES (?,?,?,?,?,?) "
    "ON CONFLICT(session_id) DO UPDATE SET seq=excluded.seq, row_hash=excluded.row_hash, "
    "rows=excluded.rows, sig=excluded.sig, ts=excluded.ts"
)


def chained(entry: Entry, tip: Tip) -> tuple[tuple[Any, ...], Tip]:
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


def insert_rows(rows: Sequence[tuple[Any, ...]]) -> list[Statement]:
    """The statements that insert `rows`."""
    statements: list[Statement] = []
    for start in range(0, len(rows), ROWS_PER_INSERT):
        part = rows[start : start + ROWS_PER_INSERT]
        sql = _INSERT_EVENT + ",".join([_EVENT_PLACES] * len(part))
        statements.append((sql, [value for row in part for value in row]))
    return statements


def insert_policy(hash_: str, text: bytes, first_used: str) -> Statement:
    """Keep a policy; `first_used` is the ts of the row that names it first."""
    return "INSERT INTO policies(hash, text, first_used) VALUES (?,?,?)", (hash_, text, first_used)


def upsert_head(head: Head) -> Statement:
    """Replace a session's signed head."""
    return _UPSERT_HEAD, (head.session_id, head.seq, head.row_hash, head.rows, head.sig, head.ts)


def write_session(columns: dict[str, Any], public_key: bytes, *, new: bool) -> Statement:
    """A session's row as its newest opening row says it."""
    command = canonical_json(columns["agent_command"]).decode()
    values = (columns["agent_name"], command, columns["policy_hash"], public_key)
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


def seal_session(session_id: str, ended_at: str, head_hash: bytes, head_sig: bytes) -> Statement:
    """The seal: the closing row's hash and the session key's signature over it."""
    return (
        "UPDATE sessions SET ended_at=?, head_hash=?, head_sig=? WHERE id=?",
        (ended_at, head_hash, head_sig, session_id),
    )


def storable(text: str) -> str:
    """`text` as a database can hold it: a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode()

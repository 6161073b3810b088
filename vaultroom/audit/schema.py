"""The tables of the audit log: those of specification section 3.4, and two of our own.

`heads` holds the newest signed head of every session; `policies` every policy that judged, by hash.
"""

from __future__ import annotations

import sqlite3
from functools import cache

VERSION = 1
"""The newest schema version that this program knows."""

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)

DDL = (
    """\
CREATE TABLE IF NOT EXISTS sessions (
    id            TEXT PRIMARY KEY,            -- ULID
    started_at    TEXT NOT NULL,               -- RFC3339Nano UTC
    ended_at      TEXT,
    agent_name    TEXT NOT NULL,
    agent_command TEXT NOT NULL,               -- JSON array
    policy_hash   TEXT NOT NULL,               -- sha256 of the policy's bytes
    pubkey        BLOB,                        -- Ed25519 session public key (32 B)
    head_hash     BLOB,                        -- final chain head
    head_sig      BLOB                         -- Ed25519 sig over head_hash
)""",
    """\
CREATE TABLE IF NOT EXISTS events (
    id            TEXT PRIMARY KEY,            -- ULID == Event.ID
    session_id    TEXT NOT NULL REFERENCES sessions(id),
    ts            TEXT NOT NULL,
    seq           INTEGER NOT NULL,            -- per-session monotonic
    source        TEXT NOT NULL,
    action        TEXT NOT NULL,
    payload       TEXT NOT NULL,               -- Event.CanonicalJSON()
    rule_name     TEXT,
    verdict       TEXT NOT NULL,               -- allow|deny|require_approval
    final_effect  TEXT,                        -- post-approval outcome
    approved_by   TEXT,
    wait_ms       INTEGER,
    eval_micros   INTEGER,
    prev_hash     BLOB NOT NULL,               -- 32 B; genesis = sha256("agentvault:v1")
    row_hash      BLOB NOT NULL,               -- sha256(prev_hash || payload || verdict || rule_name || ts)
    UNIQUE(session_id, seq)
)""",
    "CREATE INDEX IF NOT EXISTS idx_events_ts      ON events(ts)",
    "CREATE INDEX IF NOT EXISTS idx_events_verdict ON events(verdict)",
    "CREATE INDEX IF NOT EXISTS idx_events_action  ON events(action)",
    """\
CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY,
    applied_at TEXT NOT NULL
)""",
    """\
CREATE TABLE IF NOT EXISTS heads (
    session_id    TEXT PRIMARY KEY REFERENCES sessions(id),
    seq           INTEGER NOT NULL,            -- of the session's newest row
    row_hash      BLOB NOT NULL,               -- of that row
    rows          INTEGER NOT NULL,            -- in the whole log after that commit
    sig           BLOB NOT NULL,               -- Ed25519 by the session key over all of this
    ts            TEXT NOT NULL                -- of the commit
)""",
    """\
CREATE TABLE IF NOT EXISTS policies (
    hash          TEXT PRIMARY KEY,            -- sha256 of text
    text          BLOB NOT NULL,
    first_used    TEXT NOT NULL                -- ts of the first row that names it
)""",
)

MIGRATED = (
    "INSERT OR IGNORE INTO schema_migrations(version, applied_at) "
    "VALUES (1, strftime('%Y-%m-%dT%H:%M:%fZ','now'))"
)

EVENT_COLUMNS = (
    "id",
    "session_id",
    "ts",
    "seq",
    "source",
    "action",
    "payload",
    "rule_name",
    "verdict",
    "final_effect",
    "approved_by",
    "wait_ms",
    "eval_micros",
    "prev_hash",
    "row_hash",
)


def objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Type, name and text of everything that the database declares, SQLite's own tables left out."""
    found = connection.execute(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    )
    return {(str(kind), str(name), str(sql)) for kind, name, sql in found}


@cache
def expected_objects() -> frozenset[tuple[str, str, str]]:
    """What `objects` gives for a log that this program made."""
    connection = sqlite3.connect(":memory:")
    try:
        for statement in DDL:
            connection.execute(statement)
        return frozenset(objects(connection))
    finally:
        connection.close()

"""What the last host left: read at the start, and refused where it contradicts itself or its head file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from vaultroom.audit import chain
from vaultroom.audit.chain import Head
from vaultroom.audit.head_file import HeadFile, HeadFileError, Tip, head_path, read_head_file
from vaultroom.audit.store import Store, tampered
from vaultroom.signing import verifies

_HEAD = "SELECT session_id, seq, row_hash, rows, ts, sig FROM heads "


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


@dataclass(frozen=True, slots=True)
class Totals:
    """Rows and sessions in the whole log, and the newest signed head of any session."""

    rows: int
    sessions: int
    newest: Head | None


@dataclass(frozen=True, slots=True)
class Inherited:
    """Everything that a new host needs to know. `tips` are the newest rows of `unsealed`, by session."""

    totals: Totals
    schema: tuple[tuple[int, str], ...]
    unsealed: tuple[Unsealed, ...]
    tips: dict[str, Tip]
    sealed: Tip | None


def load(store: Store) -> Inherited:
    """Read the log. Raises StoreError when it is not as a host left it."""
    try:
        found = [_unsealed(store, *row) for row in store.read(_UNSEALED)]
        return Inherited(
            totals=load_totals(store),
            schema=tuple((int(version), str(applied)) for version, applied in store.read(_SCHEMA)),
            unsealed=tuple(session for session, _ in found),
            tips={session.id: tip for session, tip in found},
            sealed=_newest_sealed(store),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise tampered(store.path, f"a session's rows cannot be read ({error})") from error


def load_totals(store: Store) -> Totals:
    """Counts, from the newest signed head."""
    sessions = int(store.read("SELECT count(*) FROM sessions")[0][0])
    found = store.read(_HEAD + "ORDER BY rows DESC, session_id DESC LIMIT 1")
    newest = Head(*found[0]) if found else None
    if newest is None and (sessions or store.read("SELECT 1 FROM events LIMIT 1")):
        raise tampered(store.path, "it has rows, but no signed head")
    return Totals(newest.rows if newest else 0, sessions, newest)


def load_policies(store: Store) -> set[str]:
    """The hashes of all policies that are kept."""
    return {hash_ for (hash_,) in store.read("SELECT hash FROM policies")}


def checked_tip(store: Store, session_id: str, public_key: bytes) -> Tip:
    """A session's newest row. Raises StoreError unless it is the signed head of that key."""
    heads = store.read(_HEAD + "WHERE session_id=?", (session_id,))
    last = store.read(
        "SELECT seq, row_hash FROM events WHERE session_id=? ORDER BY seq DESC LIMIT 1", (session_id,)
    )
    if not heads or not last:
        raise tampered(store.path, f"session {session_id} has no signed head or no rows")
    head = Head(*heads[0])
    if last[0] != (head.seq, head.row_hash) or not chain.is_signed(head, public_key):
        raise tampered(store.path, f"the signed head of session {session_id} is not its newest row")
    return Tip(session_id, head.seq, head.row_hash)


def compare_head_file(store: Store, totals: Totals, install_key: bytes) -> tuple[HeadFile | None, str]:
    """The head file, which the log must extend, and a notice: `missing` or `unreadable` where it is.

    Raises StoreError when the log was cut off, rolled back or replaced.
    """
    try:
        head = read_head_file(head_path(store.path))
    except FileNotFoundError:
        return None, "missing" if totals.rows else ""
    except (OSError, HeadFileError):
        return None, "unreadable"
    statement = chain.head_file_statement(head.body)
    if head.install_key != install_key or not verifies(install_key, head.sig, statement):
        raise tampered(store.path, "its head file is not signed by this home's install key")
    if head.rows > totals.rows or head.sessions > totals.sessions:
        raise tampered(
            store.path,
            f"it was cut off or rolled back: the head file saw {head.rows} rows, the log has {totals.rows}",
        )
    for tip in (*head.unsealed, head.sealed) if head.sealed else head.unsealed:
        found = store.read(
            "SELECT row_hash FROM events WHERE session_id=? AND seq=?", (tip.session_id, tip.seq)
        )
        if found != [(tip.row_hash,)]:
            raise tampered(
                store.path, f"row {tip.seq} of session {tip.session_id} is not the one the head file saw"
            )
    return head, ""


_SCHEMA = "SELECT version, applied_at FROM schema_migrations ORDER BY version"
_UNSEALED = (
    "SELECT id, started_at, agent_name, agent_command, policy_hash, pubkey FROM sessions "
    "WHERE ended_at IS NULL ORDER BY started_at, id"
)


def _unsealed(
    store: Store,
    session_id: str,
    started_at: str,
    agent_name: str,
    agent_command: str,
    policy_hash: str,
    public_key: bytes,
) -> tuple[Unsealed, Tip]:
    tip = checked_tip(store, session_id, public_key)
    (payload,) = store.read(
        "SELECT payload FROM events WHERE session_id=? AND action='session.open' ORDER BY seq DESC LIMIT 1",
        (session_id,),
    )[0]
    opened = json.loads(payload)["record"]
    session = Unsealed(
        id=session_id,
        agent_name=agent_name,
        agent_command=tuple(json.loads(agent_command)),
        policy_hash=policy_hash,
        started_at=started_at,
        start_cwd=opened["start_cwd"],
        segment=opened["segment"],
        seq=tip.seq,
    )
    return session, tip


def _newest_sealed(store: Store) -> Tip | None:
    found = store.read(
        "SELECT id, (SELECT max(seq) FROM events WHERE session_id=sessions.id), head_hash FROM sessions "
        "WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1"
    )
    if not found:
        return None
    session_id, seq, head_hash = found[0]
    if not isinstance(seq, int) or not isinstance(head_hash, bytes):
        raise tampered(store.path, f"session {session_id} is sealed without a head")
    return Tip(session_id, seq, head_hash)

"""The hash chain and the statements that keys sign (specification section 3.4, design section 6). Pure.

A session's rows form one chain: each row's hash covers the one before. A *head* is a chain's newest row;
its session key signs it at every commit. Statements start with a domain line of their own and go on as
canonical JSON, so that no signature can be taken for another kind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from vaultroom.events.codec import canonical_json
from vaultroom.signing import verifies

HASH_SIZE = 32
"""Bytes of a row hash."""

_ORIGIN = b"agentvault:v1"
_HEAD_DOMAIN = b"vaultroom:head:v1\n"
_KEY_DOMAIN = b"vaultroom:session-key:v1\n"
_HEAD_FILE_DOMAIN = b"vaultroom:head-file:v1\n"

_sha256 = hashlib.sha256


@dataclass(frozen=True, slots=True)
class Head:
    """The newest row of one session, as its session key signed it.

    `rows` is how many rows the whole log had after that commit, `ts` the commit's time (RFC 3339). `sig`
    is 64 bytes over `head_statement`.
    """

    session_id: str
    seq: int
    row_hash: bytes
    rows: int
    ts: str
    sig: bytes = b""


def genesis(link: Head | None) -> bytes:
    """The `prev_hash` of a session's first row.

    `link` is the newest signed head of any session when it opened; None for the log's first session.
    """
    if link is None:
        return _sha256(_ORIGIN).digest()
    return _sha256(_ORIGIN + link.row_hash + link.sig).digest()


def row_hash(prev_hash: bytes, payload: bytes, verdict: str, rule_name: str | None, ts: str) -> bytes:
    """sha256(prev_hash ‖ payload ‖ verdict ‖ rule_name ‖ ts) over UTF-8; no rule is the empty text."""
    return _sha256(prev_hash + payload + (verdict + (rule_name or "") + ts).encode()).digest()


def head_statement(session_id: str, seq: int, hash_: bytes, rows: int, ts: str) -> bytes:
    """What a session key signs at every commit."""
    return _HEAD_DOMAIN + canonical_json([session_id, seq, hash_.hex(), rows, ts])


def is_signed(head: Head, public_key: bytes) -> bool:
    """Whether a session's key signed `head`."""
    statement = head_statement(head.session_id, head.seq, head.row_hash, head.rows, head.ts)
    return verifies(public_key, head.sig, statement)


def key_statement(session_id: str, segment: int, public_key: bytes) -> bytes:
    """What the install key signs when a session, or a further segment of one, gets its key."""
    return _KEY_DOMAIN + canonical_json([session_id, segment, public_key.hex()])


def head_file_statement(body: bytes) -> bytes:
    """What the install key signs after every commit: the body of the head file."""
    return _HEAD_FILE_DOMAIN + body


def link_to(head: Head) -> dict[str, Any]:
    """A head as an open row names it: everything that its signature covers."""
    return {
        "session": head.session_id,
        "seq": head.seq,
        "hash": head.row_hash.hex(),
        "rows": head.rows,
        "ts": head.ts,
        "sig": head.sig.hex(),
    }


def head_from_link(link: dict[str, Any]) -> Head:
    """The head that an opening row names: the inverse of `link_to`.

    Raises KeyError, ValueError or TypeError for any other shape.
    """
    return Head(
        link["session"],
        link["seq"],
        bytes.fromhex(link["hash"]),
        link["rows"],
        link["ts"],
        bytes.fromhex(link["sig"]),
    )


def witness_line(head: Head) -> str:
    """A head as it is published to witnesses: one line of JSON, which `verify --witness` reads."""
    return canonical_json(
        {"session": head.session_id, "seq": head.seq, "hash": head.row_hash.hex(), "ts": head.ts}
    ).decode("ascii")

"""`<db>.head`: what the log looked like at its newest commit, signed by the install key (design section 6).

A database that was cut off or rolled back contradicts it. The file has three fixed slots. Each commit
overwrites one of two in turn, without a sync: a crash may tear one of them or bring an older one back, and
an older head is fine as long as the database extends it. The first slot is written only at syncing points
(a session opens or closes, the host stops), between two syncs, so that one valid slot is left whatever
happens. A slot is a line with length, sha256 and signature of its body, then the body: canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultroom.audit.chain import HASH_SIZE, head_file_statement
from vaultroom.audit.store import sync_folder
from vaultroom.events.codec import canonical_json
from vaultroom.signing import SigningKey

_MAGIC = b"vaultroom-head-1 "
_LINE = len(_MAGIC) + 8 + 1 + 64 + 1 + 128 + 1
_SLOTS = 3
_ANCHOR = 0
_SMALLEST_SLOT = 4096
_LARGEST_FILE = 64 * 1024 * 1024


class HeadFileError(ValueError):
    """A head file without a single valid slot."""


@dataclass(frozen=True, slots=True)
class Tip:
    """A session's newest row: its number and hash."""

    session_id: str
    seq: int
    row_hash: bytes


@dataclass(frozen=True, slots=True)
class HeadFile:
    """One statement of the head file.

    `commit` counts commits; `rows` and `sessions` count the whole log; `unsealed` holds every session that
    was not sealed, `sealed` the one that was sealed last; `schema` is `schema_migrations` row by row;
    `install_key` is the public key (32 bytes) that made `sig`.
    """

    commit: int
    rows: int
    sessions: int
    unsealed: tuple[Tip, ...]
    sealed: Tip | None
    schema: tuple[tuple[int, str], ...]
    ts: str
    install_key: bytes
    body: bytes = b""
    sig: bytes = b""

    def encode(self) -> bytes:
        """The canonical body."""
        return canonical_json(
            {
                "v": 1,
                "commit": self.commit,
                "rows": self.rows,
                "sessions": self.sessions,
                "unsealed": [_tip_to_list(tip) for tip in self.unsealed],
                "sealed": None if self.sealed is None else _tip_to_list(self.sealed),
                "schema": [list(row) for row in self.schema],
                "ts": self.ts,
                "install_key": self.install_key.hex(),
            }
        )


def head_path(db_path: Path) -> Path:
    """Where the head file of a database lies."""
    return db_path.with_name(db_path.name + ".head")


def read_head_file(path: Path) -> HeadFile:
    """The newest valid slot.

    Raises FileNotFoundError or another OSError when it cannot be read, HeadFileError when no slot is
    valid. The signature is not checked here.
    """
    with open(path, "rb") as file:
        content = file.read(_LARGEST_FILE)
    size = len(content) // _SLOTS
    found = [_read_slot(content[start : start + size]) for start in range(0, size * _SLOTS, size or 1)]
    valid = [slot for slot in found if slot is not None]
    if not valid:
        raise HeadFileError(f"expected a signed head in {path}, found no slot that is whole")
    return max(valid, key=lambda slot: slot.commit)


class HeadFileWriter:
    """Writes the slots in turn. Raises OSError where the file cannot be written."""

    def __init__(self, path: Path, key: SigningKey) -> None:
        self._path = path
        self._key = key
        self._slot_size = 0
        self._slot = 1

    def write(self, head: HeadFile, *, sync: bool) -> None:
        """Write `head`, which is newer than all before it; with `sync` it is on the disk afterwards."""
        body = head.encode()
        sig = self._key.sign(head_file_statement(body))
        line = b"%s%08d %s %s\n" % (
            _MAGIC,
            len(body),
            hashlib.sha256(body).hexdigest().encode(),
            sig.hex().encode(),
        )
        data = line + body
        try:
            descriptor = os.open(self._path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            self._rebuild(data)
            return
        try:
            if not self._fits(descriptor, len(data)):
                self._rebuild(data)
                return
            data = data.ljust(min(self._slot_size, len(data) + 64), b"\n")
            if sync:
                os.fsync(descriptor)
                _write_all(descriptor, data, _ANCHOR * self._slot_size)
                os.fsync(descriptor)
            else:
                _write_all(descriptor, data, self._slot * self._slot_size)
                self._slot = 3 - self._slot
        finally:
            os.close(descriptor)

    def _fits(self, descriptor: int, length: int) -> bool:
        self._slot_size, rest = divmod(os.fstat(descriptor).st_size, _SLOTS)
        return rest == 0 and length <= self._slot_size

    def _rebuild(self, data: bytes) -> None:
        """A new file with room to spare, put in the place of the old one."""
        size = _SMALLEST_SLOT
        while size < 2 * len(data):
            size *= 2
        temporary = self._path.with_name(self._path.name + ".new")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_all(descriptor, data.ljust(size * _SLOTS, b"\n"), 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, self._path)
        sync_folder(self._path.parent)


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    if hasattr(os, "pwrite"):
        written = os.pwrite(descriptor, data, offset)
    else:
        os.lseek(descriptor, offset, os.SEEK_SET)
        written = os.write(descriptor, data)
    if written != len(data):
        raise OSError(f"wrote {written} of {len(data)} bytes of the head file")


def _read_slot(slot: bytes) -> HeadFile | None:
    """The statement in a slot; None when the slot is empty or torn."""
    if not slot.startswith(_MAGIC) or slot[_LINE - 1 : _LINE] != b"\n":
        return None
    try:
        length, digest, sig = slot[len(_MAGIC) : _LINE - 1].decode("ascii").split(" ")
        body = slot[_LINE : _LINE + int(length)]
        if len(body) != int(length) or hashlib.sha256(body).hexdigest() != digest:
            return None
        return _from_dict(json.loads(body), body, bytes.fromhex(sig))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _from_dict(data: dict[str, Any], body: bytes, sig: bytes) -> HeadFile:
    if data["v"] != 1:
        raise ValueError("a head file of another version")
    sealed = data["sealed"]
    return HeadFile(
        commit=_count(data["commit"]),
        rows=_count(data["rows"]),
        sessions=_count(data["sessions"]),
        unsealed=tuple(_tip_from_list(tip) for tip in data["unsealed"]),
        sealed=None if sealed is None else _tip_from_list(sealed),
        schema=tuple((_count(version), str(applied)) for version, applied in data["schema"]),
        ts=str(data["ts"]),
        install_key=bytes.fromhex(data["install_key"]),
        body=body,
        sig=sig,
    )


def _tip_to_list(tip: Tip) -> list[Any]:
    return [tip.session_id, tip.seq, tip.row_hash.hex()]


def _tip_from_list(values: list[Any]) -> Tip:
    session_id, seq, digest = values
    row_hash = bytes.fromhex(digest)
    if not isinstance(session_id, str) or len(row_hash) != HASH_SIZE:
        raise ValueError("a head that is no head")
    return Tip(session_id, _count(seq), row_hash)


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a count that is no count")
    return value

"""A disk that loses power: rebuilds a folder from a trace of audit_trace.c, keeping only what was synced.

What was written after a file's last sync may have reached the disk or not, sector by sector, in any order.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path

SECTOR = 512
_HEADER = struct.Struct("<cQQH")


@dataclass(frozen=True)
class Operation:
    """`kind`: w write, t truncate (to `offset`), s sync, r rename (to the path in `data`), u unlink."""

    kind: str
    path: str
    offset: int
    data: bytes


def read_trace(path: Path) -> list[Operation]:
    content = path.read_bytes()
    operations, place = [], 0
    while place < len(content):
        kind, offset, length, size = _HEADER.unpack_from(content, place)
        place += _HEADER.size
        name = content[place : place + size].decode()
        place += size
        data = content[place : place + length]
        place += len(data) if kind in (b"w", b"r") else 0
        operations.append(Operation(kind.decode(), name, offset, data))
    return operations


class Disk:
    """Synced contents by path, and what is still on its way."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._synced: dict[str, bytearray] = {}
        self._waiting: dict[str, list[Operation]] = {}
        self._names: list[Operation] = []

    def take(self, operation: Operation) -> None:
        path = operation.path
        if operation.kind in ("r", "u"):
            self._names.append(operation)
        elif operation.kind == "s" and path == self._folder:
            self._apply_names(len(self._names))
        elif operation.kind == "s":
            content = self._synced.setdefault(path, bytearray())
            for waiting in self._waiting.pop(path, []):
                _apply(content, waiting)
        else:
            self._waiting.setdefault(path, []).append(operation)

    def lose_power(self, target: Path, choice: random.Random) -> None:
        """Write to `target` one of the states that the disk may be in now."""
        after = Disk(self._folder)
        after._synced = {path: bytearray(content) for path, content in self._synced.items()}
        share = choice.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        for path, operations in self._waiting.items():
            content = after._synced.setdefault(path, bytearray())
            for operation in operations:
                for piece in _sectors(operation):
                    if choice.random() < share:
                        _apply(content, piece)
        after._names = list(self._names)
        after._apply_names(choice.randint(0, len(self._names)))
        for path, content in after._synced.items():
            (target / Path(path).name).write_bytes(content)

    def _apply_names(self, count: int) -> None:
        for operation in self._names[:count]:
            for contents in (self._synced, self._waiting):
                found = contents.pop(operation.path, None)
                if operation.kind == "r":
                    contents.pop(operation.data.decode(), None)
                    if found is not None:
                        contents[operation.data.decode()] = found  # type: ignore[assignment]
        del self._names[:count]


def _sectors(operation: Operation) -> list[Operation]:
    if operation.kind != "w":
        return [operation]
    pieces, place, end = [], operation.offset, operation.offset + len(operation.data)
    while place < end:
        stop = min(end, place - place % SECTOR + SECTOR)
        data = operation.data[place - operation.offset : stop - operation.offset]
        pieces.append(Operation("w", operation.path, place, data))
        place = stop
    return pieces


def _apply(content: bytearray, operation: Operation) -> None:
    if operation.kind == "t":
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))
        return
    end = operation.offset + len(operation.data)
    content.extend(bytes(max(0, end - len(content))))
    content[operation.offset : end] = operation.data

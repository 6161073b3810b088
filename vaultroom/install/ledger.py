"""What `vaultroom init` did, so that it can be listed and undone: `installed.json` in the configuration."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vaultroom.errors import VaultroomError
from vaultroom.install.files import read_bytes, write_atomically
from vaultroom.install.part import Part, PartKind
from vaultroom.paths import Home

NAME: Final = "installed.json"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One change. `before` and `after` are SHA-256 in hex, `before` empty where there was no file.

    `name` is the agent, or `policy`. `folders` are those that had to be made for the file, outermost first.
    """

    name: str
    file: Path
    part: Part
    before: str
    after: str
    backup: Path | None = None
    folders: tuple[Path, ...] = ()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_ledger(home: Home) -> tuple[Entry, ...]:
    """Raises VaultroomError where the ledger cannot be understood: guessing would lose what it knows."""
    path = home.config / NAME
    data = read_bytes(path)
    if data is None:
        return ()
    try:
        value = json.loads(data)
        if value["version"] != _VERSION:
            raise ValueError(f"expected version {_VERSION}, found {value['version']!r}")
        return tuple(_entry(item) for item in value["entries"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise VaultroomError(
            f"cannot read {path}: {type(error).__name__}: {error}",
            advice="It lists what `vaultroom init` changed; move it away to begin anew.",
        ) from None


def write_ledger(home: Home, entries: tuple[Entry, ...]) -> None:
    """An empty ledger is removed. Raises OSError."""
    path = home.config / NAME
    if not entries:
        path.unlink(missing_ok=True)
        return
    value = {"version": _VERSION, "entries": [_object(entry) for entry in entries]}
    write_atomically(path, json.dumps(value, indent=2).encode("ascii") + b"\n", mode=0o600)


def _object(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "file": os.fspath(entry.file),
        "what": {"kind": entry.part.kind.value, "path": list(entry.part.path), "value": entry.part.value},
        "before": entry.before,
        "after": entry.after,
        "backup": os.fspath(entry.backup) if entry.backup else "",
        "folders": [os.fspath(folder) for folder in entry.folders],
    }


def _entry(item: Mapping[str, Any]) -> Entry:
    what = item["what"]
    return Entry(
        name=str(item["name"]),
        file=Path(item["file"]),
        part=Part(PartKind(what["kind"]), tuple(what["path"]), what["value"]),
        before=str(item["before"]),
        after=str(item["after"]),
        backup=Path(item["backup"]) if item["backup"] else None,
        folders=tuple(Path(folder) for folder in item["folders"]),
    )

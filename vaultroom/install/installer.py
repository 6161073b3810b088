"""Installing and removing: plan everything first, write nothing where one plan fails.

A plan is the file's whole new text, made from what was read. Applying checks that the file is still what
was read, writes the ledger before the file, and keeps a backup beside it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vaultroom.errors import VaultroomError
from vaultroom.install.agents import FoundAgent, hook_part
from vaultroom.install.clients import Clients
from vaultroom.install.files import make_folders, read_bytes, read_text, write_atomically
from vaultroom.install.ledger import Entry, digest, read_ledger, write_ledger
from vaultroom.install.part import Part, PartKind, Unusable
from vaultroom.paths import Home

POLICY: Final = "policy"
_BACKUP: Final = ".vaultroom-backup"


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of one file. `text` is None where nothing has to change.

    `base` is the file's text without any part of ours: what removing leads back to; None for no file.
    `note` says why nothing is changed.
    """

    name: str
    file: Path
    part: Part
    found: str | None
    base: str | None
    text: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """One line of the list: `wrote`, `changed`, `kept`, `restored`, `removed`, `left` and what about it."""

    verb: str
    file: Path
    note: str


def plan_hooks(agents: Sequence[FoundAgent], clients: Clients, ledger: Iterable[Entry]) -> tuple[Change, ...]:
    """The changes that put a hook into each agent's settings. Raises VaultroomError, naming file and line."""
    known = {entry.name: entry for entry in ledger}
    changes = []
    for agent in agents:
        plugin = clients.plugin() if agent.name == "opencode" else ""
        part = hook_part(agent.name, clients.command(agent.name), plugin)
        changes.append(_plan(agent.name, agent.settings, part, known.get(agent.name)))
    return tuple(changes)


def plan_policy(home: Home, starter: str) -> Change:
    """The starter policy in its place; one that is there already stays as it is."""
    part = Part(PartKind.FILE, (), starter)
    if os.path.lexists(home.user_policy):
        return Change(POLICY, home.user_policy, part, None, None, None, "it is there already")
    return Change(POLICY, home.user_policy, part, None, None, starter)


def _plan(name: str, file: Path, part: Part, known: Entry | None) -> Change:
    found = read_text(file)
    try:
        if found is None:
            return Change(name, file, part, None, None, part.added_to(None))
        base = part.removed_from(found)
        if base is not None:
            if known is not None and known.part == part and known.file == file:
                return Change(name, file, part, found, None, None, "the hook is there already")
            return Change(name, file, part, found, None if part.kind is PartKind.FILE else base, found)
        older = known.part.removed_from(found) if known is not None and known.file == file else None
        if older is not None:
            base = None if part.kind is PartKind.FILE else older
            return Change(name, file, part, found, base, part.added_to(base))
        if part.kind is not PartKind.FILE and part.has_trace_in(found):
            return Change(name, file, part, found, None, None, "you changed the hook in it; left as it is")
        return Change(name, file, part, found, found, part.added_to(found))
    except Unusable as error:
        where = f"{file}:{error.line}" if error.line else str(file)
        raise VaultroomError(
            f"{where}: {error}", advice="Mend or move it and try again; nothing was written."
        ) from None


def apply(
    home: Home, changes: Sequence[Change], clients: Clients, *, native: bool = False
) -> tuple[Done, ...]:
    """Write what was planned. Raises VaultroomError or OSError; what was done by then is in the ledger."""
    home.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    done = []
    for change in changes:
        if change.name != POLICY:
            client = clients.write(change.name, native=native)
            if not os.access(client, os.X_OK):
                raise VaultroomError(f"expected the hook client {client} to be executable")
        done.append(_apply(home, change))
    return tuple(done)


def _apply(home: Home, change: Change) -> Done:
    if change.text is None:
        return Done("kept", change.file, change.note)
    if read_text(change.file) != change.found:
        raise VaultroomError(f"{change.file} was changed by somebody else meanwhile", advice="Try again.")
    entries = tuple(entry for entry in read_ledger(home) if entry.file != change.file)
    folders = make_folders(change.file.parent)
    data = change.text.encode("utf-8")
    before = None if change.base is None else change.base.encode("utf-8")
    backup = _write_backup(change.file, before) if before is not None else None
    entry = Entry(
        name=change.name,
        file=change.file,
        part=change.part,
        before="" if before is None else digest(before),
        after=digest(data),
        backup=backup,
        folders=folders or _folders_of(home, change.file),
    )
    write_ledger(home, (*entries, entry))
    write_atomically(change.file, data, mode=0o600)
    if change.name == POLICY:
        return Done("wrote", change.file, "the starter policy")
    note = f"a hook for {change.name}" + (f"; backup: {backup.name}" if backup else "")
    return Done("wrote" if change.found is None else "changed", change.file, note)


def _folders_of(home: Home, file: Path) -> tuple[Path, ...]:
    """The folders that an earlier change of the same file had to make."""
    return next((entry.folders for entry in read_ledger(home) if entry.file == file), ())


def _write_backup(file: Path, data: bytes) -> Path:
    real = Path(os.path.realpath(file))
    backup = file.with_name(file.name + _BACKUP)
    if backup.is_symlink():
        raise VaultroomError(f"expected no link at {backup}, where the backup goes")
    write_atomically(backup, data, mode=0o600)
    shutil.copymode(real, backup)
    return backup


def remove(home: Home, clients: Clients) -> tuple[Done, ...]:
    """Undo all that the ledger lists, the newest first. What a person changed since is left, and said."""
    done = []
    left: list[Entry] = []
    for entry in reversed(read_ledger(home)):
        result = _undo(entry)
        done.append(result)
        if result.verb == "left":
            left.insert(0, entry)
    write_ledger(home, tuple(left))
    if not any(entry.name != POLICY for entry in left):
        clients.remove()
    return tuple(done)


def _undo(entry: Entry) -> Done:
    try:
        data = read_bytes(entry.file)
        if data is None:
            _drop_backup(entry)
            return Done("removed", entry.file, "it was gone already")
        found = digest(data)
        if found == entry.before:
            _drop_backup(entry)
            return Done("restored", entry.file, "it was as before already")
        if found == entry.after:
            return _undo_exactly(entry)
        return _undo_part(entry, data)
    except (VaultroomError, OSError, UnicodeDecodeError) as error:
        return Done("left", entry.file, f"it cannot be undone: {error}")


def _undo_exactly(entry: Entry) -> Done:
    if not entry.before:
        os.unlink(os.path.realpath(entry.file))
        _drop_folders(entry)
        return Done("removed", entry.file, "init had written it")
    kept = read_bytes(entry.backup) if entry.backup else None
    if kept is None or digest(kept) != entry.before:
        return _undo_part(entry, read_bytes(entry.file) or b"")
    write_atomically(entry.file, kept, mode=0o600)
    _drop_backup(entry)
    return Done("restored", entry.file, "byte for byte as before")


def _undo_part(entry: Entry, data: bytes) -> Done:
    text = data.decode("utf-8")
    if entry.part.kind is PartKind.FILE:
        return Done("left", entry.file, "you changed it since; remove it yourself if you do not want it")
    try:
        without = entry.part.removed_from(text)
    except Unusable as error:
        return Done("left", entry.file, f"line {error.line}: {error}")
    if without is None:
        if entry.part.has_trace_in(text):
            return Done("left", entry.file, "you changed the hook since; take it out yourself")
        _drop_backup(entry)
        return Done("removed", entry.file, "the hook was taken out already")
    if not entry.before and without.strip() in ("", "{}"):
        os.unlink(os.path.realpath(entry.file))
        _drop_folders(entry)
        return Done("removed", entry.file, "nothing else was in it")
    write_atomically(entry.file, without.encode("utf-8"), mode=0o600)
    note = "the hook is out; your other changes stay"
    if entry.backup is not None and os.path.lexists(entry.backup):
        note += f"; the old state is in {entry.backup.name}"
    return Done("restored", entry.file, note)


def _drop_backup(entry: Entry) -> None:
    """Remove the backup where it still is what we wrote."""
    if entry.backup is None or entry.backup.is_symlink():
        return
    kept = read_bytes(entry.backup)
    if kept is not None and digest(kept) == entry.before:
        entry.backup.unlink()


def _drop_folders(entry: Entry) -> None:
    for folder in reversed(entry.folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def switched_off(agent: str, values: Mapping[str, object]) -> str:
    """The setting that switches an agent's hooks off; empty where they are on."""
    if agent == "claude" and values.get("disableAllHooks") is True:
        return "disableAllHooks is true"
    if agent == "gemini":
        config = values.get("hooksConfig")
        if isinstance(config, dict):
            if config.get("enabled") is False:
                return "hooksConfig.enabled is false"
            disabled = config.get("disabled")
            if isinstance(disabled, list) and "vaultroom" in disabled:
                return "hooksConfig.disabled names vaultroom"
    if agent == "codex":
        features = values.get("features")
        if isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks")):
            return "features.hooks is false"
    return ""

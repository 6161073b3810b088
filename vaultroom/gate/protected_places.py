"""Which files decide what agents may do: Vaultroom's own, and the hook settings of the agents.

Two kinds. *Names* count in every folder, since an agent reads settings from each work tree: they are
matched without looking at the disk. *Places* of this home and user are listed once, when a session is made.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from vaultroom.paths import Home

LEDGER_NAME: Final = "installed.json"
"""In the configuration folder: what `vaultroom init` did."""
_LARGEST: Final = 1 << 20

SETTINGS_FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    ".claude": ("settings.json", "settings.local.json", "managed-settings.json"),
    ".codex": ("config.toml", "hooks.json", "hooks/", "requirements.toml"),
    ".gemini": ("settings.json", "hooks/"),
    ".opencode": ("plugin/", "plugins/"),
    "opencode": ("plugin/", "plugins/"),
}
"""Folder name → what in it holds hooks; a trailing slash means everything below."""
_BARE: Final = {"opencode": ".config"}
"""Folder names that count only below this folder."""


def settings_name(path: str, *, above: bool) -> bool:
    """Whether `path` is a hook settings file of an agent, in whichever folder.

    `above`: the act reaches what lies below `path` or removes it, so the settings folder itself counts too.
    """
    parts = fold(path).split("/")
    for position, part in enumerate(parts):
        names = SETTINGS_FOLDERS.get(part)
        if names is None or (part in _BARE and parts[position - 1] != _BARE[part]):
            continue
        rest = parts[position + 1 :]
        if not rest:
            return above
        if any(rest[0] == name.rstrip("/") and (name.endswith("/") or len(rest) == 1) for name in names):
            return True
    return False


def fold(path: str) -> str:
    """`path` as a forgiving file system compares it: without regard to case, composed accents."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()


def user_places(home: Home, user_home: str, environ: Mapping[str, str]) -> Iterator[str]:
    """The real paths of settings, trusted policies and programs that no agent of this user may write.

    A file that cannot be read adds nothing: the folders it lies in are closed anyway.
    """
    for path in (*_settings(user_home, environ), *_trusted(home), *_installed(home), *_programs()):
        yield os.path.realpath(path)


def _settings(user_home: str, environ: Mapping[str, str]) -> Iterator[str]:
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(user_home, ".config")
    folders = {
        ".claude": environ.get("CLAUDE_CONFIG_DIR"),
        ".codex": environ.get("CODEX_HOME"),
        ".gemini": None,
        "opencode": os.path.join(config, "opencode"),
    }
    for name, moved in folders.items():
        for inner in SETTINGS_FOLDERS[name]:
            yield os.path.join(moved or os.path.join(user_home, name), inner.rstrip("/"))


def _trusted(home: Home) -> Iterator[str]:
    """The policies of work trees that the user approved; see `vaultroom policy trust`."""
    for line in _text(home.trusted_policies).split("\n"):
        _, _, place = line.partition("  ")
        if place.startswith("/"):
            yield place


def _installed(home: Home) -> Iterator[str]:
    """The files that `vaultroom init` changed, and their backups."""
    try:
        entries = json.loads(_text(home.config / LEDGER_NAME) or "{}").get("entries", [])
        for entry in entries:
            for member in ("file", "backup"):
                if isinstance(entry.get(member), str) and entry[member].startswith("/"):
                    yield entry[member]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return


def _programs() -> Iterator[str]:
    """Vaultroom's own code where it is installed; a checkout that somebody works on stays writable."""
    package = Path(__file__).resolve().parent.parent
    if package.parent.name in ("site-packages", "dist-packages"):
        yield str(package)
    scripts = sysconfig.get_path("scripts")
    if scripts and sys.prefix != sys.base_prefix:
        yield os.path.join(scripts, "vaultroom")


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""

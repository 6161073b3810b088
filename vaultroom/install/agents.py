"""The agents that `init` knows: where their settings lie, and what goes into them (docs/init.md)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vaultroom.install.part import Part, PartKind

HOOK_SECONDS: Final = 600
"""How long an agent waits for a hook: long enough for a person to answer."""
AGENTS: Final = ("claude", "codex", "gemini", "opencode")
WITHOUT_HOOKS: Final = (
    "aider",
    "amp",
    "copilot",
    "crush",
    "cursor-agent",
    "droid",
    "goose",
    "kiro-cli",
    "openhands",
    "qwen",
)
"""Other agents' programs: nothing is installed for them; `vaultroom run` covers them with shims alone."""

NOTES: Final[Mapping[str, str]] = {
    "codex": "codex runs a new hook only once you trust it: start codex, type /hooks and trust it.",
    "opencode": "opencode loads the plugin at its next start.",
}
"""What is left for the person to do."""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent on this machine. `program` is empty where only its settings folder exists."""

    name: str
    program: str
    folder: Path
    settings: Path
    """The file that the hook goes into."""


def find_agents(environ: Mapping[str, str], user_home: Path) -> tuple[FoundAgent, ...]:
    """The known agents whose program is on PATH or whose settings folder exists."""
    found = []
    for name in AGENTS:
        folder, settings = _places(name, environ, user_home)
        program = shutil.which(name, path=environ.get("PATH", os.defpath)) or ""
        if program or folder.is_dir():
            found.append(FoundAgent(name, program, folder, settings))
    return tuple(found)


def agents_without_hooks(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Agents on PATH that no hook covers."""
    path = environ.get("PATH", os.defpath)
    return tuple(name for name in WITHOUT_HOOKS if shutil.which(name, path=path))


def hook_part(agent: str, command: str, plugin: str) -> Part:
    """What goes into the agent's settings. `command` is its hook's; `plugin` is opencode's whole file."""
    if agent == "claude":
        hook = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
        return Part(PartKind.JSON, ("hooks", "PreToolUse"), {"matcher": "*", "hooks": [hook]})
    if agent == "gemini":
        hook = {"name": "vaultroom", "type": "command", "command": command, "timeout": HOOK_SECONDS * 1000}
        return Part(PartKind.JSON, ("hooks", "BeforeTool"), {"matcher": ".*", "hooks": [hook]})
    if agent == "codex":
        return Part(PartKind.TOML, (), _codex_block(command))
    return Part(PartKind.FILE, (), plugin)


def hook_command_in(part: Part) -> str:
    """The command of a JSON hook entry."""
    value = part.value
    return str(value["hooks"][0]["command"]) if isinstance(value, dict) else ""


def _codex_block(command: str) -> str:
    return (
        "[[hooks.PreToolUse]]\n"
        "[[hooks.PreToolUse.hooks]]\n"
        'type = "command"\n'
        f"command = {json.dumps(command, ensure_ascii=False)}\n"
        f"timeout = {HOOK_SECONDS}\n"
    )


def _places(name: str, environ: Mapping[str, str], user_home: Path) -> tuple[Path, Path]:
    if name == "claude":
        folder = Path(environ.get("CLAUDE_CONFIG_DIR") or user_home / ".claude")
        return folder, folder / "settings.json"
    if name == "codex":
        folder = Path(environ.get("CODEX_HOME") or user_home / ".codex")
        return folder, folder / "config.toml"
    if name == "gemini":
        folder = user_home / ".gemini"
        return folder, folder / "settings.json"
    folder = Path(environ.get("XDG_CONFIG_HOME") or user_home / ".config") / "opencode"
    return folder, folder / "plugin" / "vaultroom.js"

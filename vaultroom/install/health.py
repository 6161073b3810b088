"""What `vaultroom doctor` finds: one `Check` for each thing looked at, and the looks at files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vaultroom.errors import VaultroomError
from vaultroom.install.agents import FoundAgent
from vaultroom.install.files import read_text
from vaultroom.install.installer import switched_off
from vaultroom.install.probe import Held, ask, client_of, commands_in, settings_of
from vaultroom.paths import Home


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Nothing is wrong, and it is worth knowing."""
    OPEN = "open"
    """Acts pass unseen through a channel that is installed."""
    BROKEN = "broken"
    """Something does not work; acts are refused or would be."""


@dataclass(frozen=True, slots=True)
class Check:
    """`text` says what was found, `fix` what to do about it (empty where nothing has to be done)."""

    name: str
    state: State
    text: str
    fix: str = ""

    @property
    def fails(self) -> bool:
        return self.state in (State.OPEN, State.BROKEN)


def check_folders(home: Home) -> Check:
    """The home's folders and keys: the user's own, and closed to others."""
    wrong = [text for path, most in _private(home) if (text := _too_open(path, most))]
    if wrong:
        fix = " && ".join(f"chmod go-rwx '{path}'" for path, most in _private(home) if _too_open(path, most))
        return Check("files", State.BROKEN, "; ".join(wrong), fix)
    if not (home.keys / "install.key").exists():
        return Check("files", State.NOTE, "there is no key yet; the first session makes it")
    return Check("files", State.OK, "folders and keys are closed to others")


def _private(home: Home) -> Iterator[tuple[Path, int]]:
    for folder in (home.data, home.run, home.keys, home.sessions, home.shims, home.hooks):
        yield folder, 0o700
    yield home.keys / "install.key", 0o600
    yield home.user_policy, 0o755
    yield home.trusted_policies, 0o755


def _too_open(path: Path, most: int) -> str:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return ""
    if found.st_uid != os.geteuid():
        return f"{path} belongs to user {found.st_uid}"
    mode = stat.S_IMODE(found.st_mode)
    return f"{path} has mode {mode:04o}" if mode & ~most & 0o077 else ""


def check_hook(agent: FoundAgent, home: Home, *, cwd: str, environ: Mapping[str, str]) -> Check | None:
    """Send the probe through an agent's hook as it is installed; None where none is installed."""
    name = f"{agent.name} hook"
    again = "vaultroom init"
    try:
        commands = commands_in(agent.name, agent.settings, home.hooks)
        off = "" if agent.name == "opencode" else _off(agent)
    except (VaultroomError, ValueError) as error:
        fix = f"mend {agent.settings}; until then {agent.name} may run without any hook"
        return Check(name, State.OPEN, f"its settings cannot be read: {error}", fix)
    if not commands:
        return None
    if off:
        return Check(name, State.OPEN, f"{off} in {agent.settings}: no hook runs", "take that setting out")
    for command in commands:
        client = client_of(agent.name, command, home.hooks)
        answer = ask(agent.name, command, cwd=cwd, environ=environ)
        if answer.held is Held.OPEN:
            fix = f"take the hook out of {agent.settings}, then: vaultroom init"
            return Check(name, State.OPEN, f"the probe would have run: {answer.said}", fix)
        if not os.access(client, os.X_OK):
            text = f"its client {client} is missing, so every call is refused"
            return Check(name, State.BROKEN, text, again)
        if answer.held is Held.REFUSED:
            return Check(name, State.BROKEN, f"it refuses, but not by the host: {answer.said}", again)
    return Check(name, State.OK, f"denied the probe, by {agent.settings}")


def codex_trust(settings: Path) -> Check:
    """Codex skips a hook that nobody trusted. Its own record can be seen; whether it still fits cannot."""
    text = read_text(settings) or ""
    hooks = settings_of("codex", text).get("hooks")
    entries = hooks.get("PreToolUse", []) if isinstance(hooks, dict) else []
    states = hooks.get("state", {}) if isinstance(hooks, dict) else {}
    group = max(len(entries) - 1, 0)
    keys = {f"{place}:pre_tool_use:{group}:0" for place in (settings, os.path.realpath(settings))}
    state = next((value for name, value in states.items() if name in keys), None)
    fix = "start codex, type /hooks and trust the hook of vaultroom"
    if not isinstance(state, dict) or not state.get("trusted_hash"):
        text = "codex has no record that you trust the hook, so it skips it"
        return Check("codex trust", State.OPEN, text, fix)
    if state.get("enabled") is False:
        return Check("codex trust", State.OPEN, "the hook is switched off in codex", fix)
    return Check(
        "codex trust", State.OK, "codex has a record of your trust; only codex can tell that it fits"
    )


def _off(agent: FoundAgent) -> str:
    return switched_off(agent.name, settings_of(agent.name, read_text(agent.settings) or "{}"))


def not_covered(unguarded: Iterable[str], without_hooks: Iterable[str]) -> tuple[str, ...]:
    """What no channel of Vaultroom sees here, in words."""
    lines = [
        "shims alone: programs started by an absolute path (/bin/rm) or through system calls;"
        " hooks see the first, neither sees the second",
        "what an allowed script or build does by itself, beyond the programs that have a shim",
        "zsh, fish and PowerShell read some lines otherwise than bash, as which they are judged",
        "the network, unless the agent runs under `vaultroom run`",
        "an agent that is started with its hooks switched off, or with settings of another place",
    ]
    for name in unguarded:
        lines.append(f"{name} is on this machine and has no hook: vaultroom init, or vaultroom run -- {name}")
    for name in without_hooks:
        lines.append(f"{name} has no hook that Vaultroom knows: start it with vaultroom run -- {name}")
    return tuple(lines)

from __future__ import annotations

import os
from pathlib import Path

from vaultroom.install.agents import FoundAgent
from vaultroom.install.health import State, check_folders, check_hook, codex_trust, not_covered
from vaultroom.install.probe import PROBE_RULE
from vaultroom.paths import Home


def _home(root: Path) -> Home:
    home = Home(config=root / "config", data=root / "data", run=root / "run")
    home.prepare()
    home.hooks.mkdir(mode=0o700)
    return home


def _agent(name: str, settings: Path) -> FoundAgent:
    return FoundAgent(name, "", settings.parent, settings)


def test_modes(tmp_path: Path) -> None:
    home = _home(tmp_path)
    assert check_folders(home).state is State.NOTE
    key = home.keys / "install.key"
    key.write_bytes(b"x")
    key.chmod(0o600)
    assert check_folders(home).state is State.OK
    key.chmod(0o640)
    found = check_folders(home)
    assert found.state is State.BROKEN
    assert found.fix == f"chmod go-rwx '{key}'"
    key.chmod(0o600)
    home.user_policy.write_text("version: 1\n")
    home.user_policy.chmod(0o666)
    assert check_folders(home).state is State.BROKEN


def _check(home: Home, settings: Path, client: str, *, extra: str = "", ending: str = "|| exit 2") -> State:
    path = home.hooks / "claude"
    if client:
        path.write_text(f"#!/bin/sh\ncat >/dev/null\n{client}\n")
        path.chmod(0o700)
    else:
        path.unlink(missing_ok=True)
    hook = f'{{"hooks":[{{"type":"command","command":"{path} {ending}"}}]}}'
    settings.write_text(f'{{{extra}"hooks":{{"PreToolUse":[{hook}]}}}}')
    check = check_hook(_agent("claude", settings), home, cwd=str(settings.parent), environ=os.environ)
    assert check is not None
    assert check.fails == bool(check.fix)
    return check.state


def test_hooks_that_hold_are_told_from_those_that_lock_out_and_those_that_are_open(tmp_path: Path) -> None:
    home = _home(tmp_path)
    settings = tmp_path / "settings.json"
    deny = f"echo '{PROBE_RULE}' >&2; exit 2"
    assert _check(home, settings, deny) is State.OK
    assert _check(home, settings, "exit 2") is State.BROKEN
    assert _check(home, settings, "exit 0") is State.OPEN
    assert _check(home, settings, "exit 1") is State.BROKEN, "|| exit 2 turns it into a deny"
    assert _check(home, settings, "exit 1", ending="") is State.OPEN
    assert _check(home, settings, "") is State.BROKEN, "a missing client locks out"
    assert _check(home, settings, "", ending="") is State.OPEN
    assert _check(home, settings, deny, extra='"disableAllHooks": true, ') is State.OPEN


def test_no_hook_and_a_broken_file(tmp_path: Path) -> None:
    home = _home(tmp_path)
    settings = tmp_path / "settings.json"
    assert check_hook(_agent("claude", settings), home, cwd="/", environ=os.environ) is None
    settings.write_text("{")
    found = check_hook(_agent("claude", settings), home, cwd="/", environ=os.environ)
    assert found is not None
    assert found.state is State.OPEN


def test_codex_trust(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    hook = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "x"\n'
    settings.write_text(hook)
    assert codex_trust(settings).state is State.OPEN
    trusted = f'{hook}[hooks.state."{settings}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:00"\n'
    settings.write_text(trusted)
    assert codex_trust(settings).state is State.OK
    settings.write_text(trusted + "enabled = false\n")
    assert codex_trust(settings).state is State.OPEN


def test_what_is_not_covered_names_the_agents() -> None:
    lines = "\n".join(not_covered(["gemini"], ["aider"]))
    assert "gemini is on this machine and has no hook" in lines
    assert "vaultroom run -- aider" in lines
    assert "/bin/rm" in lines

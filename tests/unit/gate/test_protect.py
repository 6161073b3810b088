from __future__ import annotations

import pytest

from tests.kit.events import shell, touching
from vaultroom.events import Action, Effect
from vaultroom.gate.protect import (
    DOCTOR_PROBE,
    HOOK_SETTINGS,
    OTHER_TERMINALS,
    RULES,
    SELF_APPROVAL,
    SELF_FILES,
    SELF_HOST,
    SELF_SECRETS,
    Guard,
)

GUARD = Guard.of(
    closed=["/home/dev/.config/vaultroom", "/home/dev/vault", "/home/dev/.claude/settings.json"],
    secret=["/home/dev/vault/keys"],
    host_pids=[4711],
)


@pytest.mark.parametrize(
    ("action", "path", "recursive", "rule"),
    [
        (Action.FS_WRITE, "/home/dev/.config/vaultroom/policy.yaml", False, SELF_FILES),
        (Action.FS_WRITE, "/home/dev/.config/vaultroom", False, SELF_FILES),
        (Action.FS_DELETE, "/home/dev", True, SELF_FILES),
        (Action.FS_DELETE, "/", True, SELF_FILES),
        (Action.FS_DELETE, "/home/dev", False, SELF_FILES),
        (Action.FS_WRITE, "/home", True, SELF_FILES),
        (Action.FS_READ, "/home/dev/vault/keys/install.key", False, SELF_SECRETS),
        (Action.FS_READ, "/home/dev/vault", True, SELF_SECRETS),
        (Action.FS_READ, "/home/dev/.config/vaultroom/policy.yaml", False, ""),
        (Action.FS_WRITE, "/home/dev/.config/vaultroom2/x", False, ""),
        (Action.FS_WRITE, "/home/dev/x", False, ""),
        (Action.FS_WRITE, "/home", False, ""),
        (Action.FS_WRITE, "/home/dev/.Config/VAULTROOM/policy.yaml", False, SELF_FILES),
        (Action.FS_WRITE, "/home/dev/.claude/settings.json", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/proj/.claude/settings.local.json", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/proj/.CLAUDE/Settings.json", False, HOOK_SETTINGS),
        (Action.FS_DELETE, "/home/dev/proj/.claude", True, HOOK_SETTINGS),
        (Action.FS_DELETE, "/home/dev/.codex", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/.codex/config.toml", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/.codex/hooks/x.sh", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/.gemini/settings.json", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/proj/.opencode/plugin/x.js", False, HOOK_SETTINGS),
        (Action.FS_WRITE, "/home/dev/.config/opencode/plugins/x.js", False, HOOK_SETTINGS),
        (Action.FS_READ, "/home/dev/.claude/settings.json", False, ""),
        (Action.FS_WRITE, "/home/dev/.claude/projects/x.jsonl", False, ""),
        (Action.FS_WRITE, "/home/dev/proj/.claude", False, ""),
        (Action.FS_WRITE, "/home/dev/proj/.claude/commands/settings.json", False, ""),
        (Action.FS_WRITE, "/home/dev/proj/settings.json", False, ""),
        (Action.FS_WRITE, "/home/dev/proj/opencode/plugin/x.js", False, ""),
        (Action.FS_WRITE, "/dev/pts/3", False, OTHER_TERMINALS),
        (Action.FS_WRITE, "/dev/tty2", False, OTHER_TERMINALS),
        (Action.FS_WRITE, "/dev/tty", False, ""),
        (Action.FS_WRITE, "/dev/ttyUSB0", False, ""),
        (Action.FS_WRITE, "/dev/null", False, ""),
    ],
)
def test_places(action: Action, path: str, recursive: bool, rule: str) -> None:
    event = touching(shell("tool", "x"), (action, path), recursive=recursive)
    verdicts = GUARD.verdicts(event)
    assert [v.rule_name for v in verdicts] == ([rule] if rule else [])
    assert all(v.effect is Effect.DENY and v.index == 1 for v in verdicts)


@pytest.mark.parametrize(
    ("argv", "rule"),
    [
        (("vaultroom", "approve", "allow", "X"), SELF_APPROVAL),
        (("/usr/bin/vaultroom", "--no-color", "approve", "list"), SELF_APPROVAL),
        (("python3", "-m", "vaultroom", "approve", "allow", "X"), SELF_APPROVAL),
        (("python3.12", "/opt/bin/vaultroom", "approve"), SELF_APPROVAL),
        (("vaultroom", "policy", "trust", "p.yaml"), SELF_APPROVAL),
        (("vaultroom", "daemon"), SELF_APPROVAL),
        (("vaultroom", "policy", "check", "p.yaml"), ""),
        (("vaultroom", "verify"), ""),
        (("echo", "vaultroom", "approve"), ""),
        (("tmux", "send-keys", "-t", "0", "a"), OTHER_TERMINALS),
        (("tmux", "-L", "x", "send", "a"), OTHER_TERMINALS),
        (("screen", "-S", "x", "-X", "stuff", "a"), OTHER_TERMINALS),
        (("tmux", "ls"), ""),
        (("screen", "-ls"), ""),
        (("vaultroom", "--config", "x", "approve", "allow", "X"), SELF_APPROVAL),
        (("vaultroom", "policy", "--config", "x", "trust", "p"), SELF_APPROVAL),
        (("vaultroom", "init", "--remove"), SELF_APPROVAL),
        (("vaultroom",), SELF_APPROVAL),
        (("vaultroom", "--no-color"), SELF_APPROVAL),
        (("vaultroom", "--version"), ""),
        (("vaultroom", "log", "--action", "init"), ""),
        (("python3", "-mvaultroom", "approve", "list"), SELF_APPROVAL),
        (("python3", "-I", "-m", "vaultroom", "approve", "list"), SELF_APPROVAL),
        (("uv", "run", "vaultroom", "approve", "allow", "X"), SELF_APPROVAL),
        (("uv", "run", "python", "-m", "vaultroom", "approve"), SELF_APPROVAL),
        (("script", "-qc", "vaultroom approve allow X", "/dev/null"), SELF_APPROVAL),
        (("bash", "-c", "sleep 1; vaultroom approve allow X"), SELF_APPROVAL),
        (("tmux", "new-session", "-d", "vaultroom approve allow X; true"), SELF_APPROVAL),
        (("systemd-run", "--user", "/usr/bin/vaultroom", "policy", "trust", "p"), SELF_APPROVAL),
        (("tmux", "new-session", "-d", "-s", "vaultroom"), ""),
        (("uv", "pip", "install", "vaultroom"), ""),
        (("script", "-qc", "npm test", "/dev/null"), ""),
        (("python3", "-m", "pytest", "tests/test_vaultroom.py"), ""),
        (("tmux", "send-k", "-t", "0", "a"), OTHER_TERMINALS),
        (("tmux", "ls", ";", "send", "y"), OTHER_TERMINALS),
        (("tmux", "ls;", "paste"), OTHER_TERMINALS),
        (("tmux", "if-shell", "true", "send-keys y"), OTHER_TERMINALS),
        (("tmux", "source-file", "x.conf"), OTHER_TERMINALS),
        (("tmux", "-C", "attach"), OTHER_TERMINALS),
        (("tmux", "new-session", "-d", "-s", "dev", "npm run dev"), ""),
        (("tmux", "capture-pane", "-p"), ""),
        (("screen", "-S", "x", "-dm", "npm", "start"), ""),
        (("zellij", "action", "write-chars", "y"), OTHER_TERMINALS),
        (("wezterm", "cli", "send-text", "y"), OTHER_TERMINALS),
        (("xdotool", "key", "y"), OTHER_TERMINALS),
        (("kill", "-9", "4711"), SELF_HOST),
        (("kill", "-s", "TERM", "-4711"), SELF_HOST),
        (("kill", "-9", "-1"), SELF_HOST),
        (("kill", "-1", "1234"), ""),
        (("kill", "4712"), ""),
        (("kill", "-l"), ""),
        (("pkill", "vaultroom"), SELF_HOST),
        (("pkill", "-f", "[v]aultroom"), SELF_HOST),
        (("killall", "-9", "vaultroom"), SELF_HOST),
        (("pkill", "node"), ""),
        (("pkill", "-f", "vite"), ""),
        (("systemctl", "--user", "stop", "vaultroom"), SELF_HOST),
        (("pip", "uninstall", "-y", "vaultroom"), SELF_HOST),
        (("python3", "-m", "pip", "uninstall", "vaultroom"), SELF_HOST),
        (("vaultroom-doctor-probe",), DOCTOR_PROBE),
        (("/tmp/x/vaultroom-doctor-probe", "a"), DOCTOR_PROBE),
    ],
)
def test_commands(argv: tuple[str, ...], rule: str) -> None:
    assert [v.rule_name for v in GUARD.verdicts(shell(*argv))] == ([rule] if rule else [])


def test_every_rule_says_what_it_covers() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.name.startswith("builtin:")
        assert rule.message.endswith(".")
        assert rule.covers

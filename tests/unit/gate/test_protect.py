from __future__ import annotations

import pytest

from tests.kit.events import shell, touching
from vaultroom.events import Action, Effect
from vaultroom.gate.protect import (
    OTHER_TERMINALS,
    SELF_APPROVAL,
    SELF_FILES,
    SELF_SECRETS,
    Guard,
)

GUARD = Guard.of(closed=["/home/dev/.config/vaultroom", "/home/dev/vault"], secret=["/home/dev/vault/keys"])


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
    ],
)
def test_commands(argv: tuple[str, ...], rule: str) -> None:
    assert [v.rule_name for v in GUARD.verdicts(shell(*argv))] == ([rule] if rule else [])

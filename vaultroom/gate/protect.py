"""The built-in rules: an agent cannot answer for itself (design, law 6).

They stand above every policy and cannot be switched off. Pure: the protected places are handed in, with
symbolic links resolved; `protected_places` lists them and `protected_commands` knows the commands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from vaultroom.events import Action, Effect, Event, Facet, FacetVerdict
from vaultroom.gate.protected_commands import (
    answers_for_itself,
    is_probe,
    stops_the_host,
    types_elsewhere,
)
from vaultroom.gate.protected_places import fold, settings_name

SELF_FILES: Final = "builtin:self-files"
SELF_SECRETS: Final = "builtin:self-secrets"
HOOK_SETTINGS: Final = "builtin:hook-settings"
SELF_APPROVAL: Final = "builtin:self-approval"
SELF_HOST: Final = "builtin:self-host"
OTHER_TERMINALS: Final = "builtin:other-terminals"
DOCTOR_PROBE: Final = "builtin:doctor-probe"


@dataclass(frozen=True, slots=True)
class BuiltinRule:
    """A built-in rule: its name in the log, what the agent is told, and what it covers, for people."""

    name: str
    message: str
    covers: str


RULES: Final[tuple[BuiltinRule, ...]] = (
    BuiltinRule(
        SELF_FILES,
        "Vaultroom's policies, keys, sockets, shims and log are off-limits to agents.",
        "writing or deleting Vaultroom's folders, log, shims, sockets and installed program, the policy of"
        " the session and every policy that was approved with `vaultroom policy trust`",
    ),
    BuiltinRule(
        SELF_SECRETS,
        "Vaultroom's keys and server data are not readable for agents.",
        "reading the keys and the session files, also by copying or searching a folder above them",
    ),
    BuiltinRule(
        HOOK_SETTINGS,
        "The settings that hold an agent's hooks are off-limits to agents.",
        "writing or deleting, in the home and in every work tree: .claude/settings*.json,"
        " .codex/config.toml and hooks, .gemini/settings.json and hooks, .opencode/plugin and"
        " ~/.config/opencode/plugin",
    ),
    BuiltinRule(
        SELF_APPROVAL,
        "An agent cannot answer for itself.",
        "vaultroom approve, daemon, init, server, policy trust and the room itself, also as"
        " python -m vaultroom or behind uv run, script, tmux and the like",
    ),
    BuiltinRule(
        SELF_HOST,
        "An agent cannot stop or remove Vaultroom.",
        "kill of the host or of every process, pkill and killall of vaultroom, stopping its service,"
        " pip uninstall vaultroom",
    ),
    BuiltinRule(
        OTHER_TERMINALS,
        "An agent cannot type into other terminals.",
        "tmux send-keys, paste-buffer, source-file and control mode, screen -X, zellij action write,"
        " wezterm and kitty send-text, xdotool and its kin, writing to /dev/pts and virtual consoles",
    ),
    BuiltinRule(
        DOCTOR_PROBE,
        "This is the probe of `vaultroom doctor`, which is always denied.",
        "the program name vaultroom-doctor-probe, which does nothing and does not exist",
    ),
)
_MESSAGES = {rule.name: rule.message for rule in RULES}
_CHANGES = (Action.FS_WRITE, Action.FS_DELETE)


@dataclass(frozen=True, slots=True)
class Guard:
    """The places that belong to Vaultroom: absolute paths, without a trailing slash, links resolved.

    `closed` may not be written or deleted, `secret` may not even be read. `host_pids` are the processes
    that an agent may not signal.
    """

    closed: tuple[str, ...]
    secret: tuple[str, ...]
    host_pids: frozenset[int] = frozenset()

    @classmethod
    def of(cls, closed: Iterable[str], secret: Iterable[str], host_pids: Iterable[int] = ()) -> Guard:
        return cls(
            tuple(sorted({fold(place) for place in closed})),
            tuple(sorted({fold(place) for place in secret})),
            frozenset(host_pids),
        )

    def verdicts(self, event: Event) -> tuple[FacetVerdict, ...]:
        """A deny for each facet that a built-in rule forbids; empty when none does."""
        found = []
        for index, facet in enumerate(event.judged_facets()):
            name = self._forbidden(facet)
            if name:
                found.append(
                    FacetVerdict(
                        index=index,
                        effect=Effect.DENY,
                        rule_name=name,
                        message=_MESSAGES[name],
                        why=f"built-in rule {name}",
                    )
                )
        return tuple(found)

    def _forbidden(self, facet: Facet) -> str:
        if facet.action in _CHANGES:
            return self._forbidden_change(facet)
        if facet.action is Action.FS_READ and self._hits(facet, self.secret):
            return SELF_SECRETS
        if facet.action is Action.SHELL_EXEC and not facet.derived:
            return self._forbidden_command(facet)
        return ""

    def _forbidden_change(self, facet: Facet) -> str:
        above = facet.recursive or facet.action is Action.FS_DELETE
        if facet.path and settings_name(facet.path, above=above):
            return HOOK_SETTINGS
        if self._hits(facet, self.closed):
            return SELF_FILES
        return OTHER_TERMINALS if _is_terminal(facet.path) else ""

    def _forbidden_command(self, facet: Facet) -> str:
        argv = facet.argv
        cmd = facet.cmd or (argv[0].rsplit("/", 1)[-1] if argv else "")
        if is_probe(argv):
            return DOCTOR_PROBE
        if stops_the_host(cmd, argv, self.host_pids):
            return SELF_HOST
        if answers_for_itself(argv):
            return SELF_APPROVAL
        return OTHER_TERMINALS if types_elsewhere(cmd, argv) else ""

    @staticmethod
    def _hits(facet: Facet, places: tuple[str, ...]) -> bool:
        if not facet.path:
            return False
        path = fold(facet.path)
        above = path.rstrip("/") + "/"
        reaches_below = facet.recursive or facet.action is Action.FS_DELETE
        return any(
            path == place or path.startswith(place + "/") or (reaches_below and place.startswith(above))
            for place in places
        )


def _is_terminal(path: str) -> bool:
    """A pseudo-terminal or a virtual console; /dev/tty is the agent's own."""
    return path.startswith("/dev/pts/") or path.removeprefix("/dev/tty").isdecimal() or path == "/dev/console"

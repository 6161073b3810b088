"""The built-in rules: an agent cannot answer for itself (design, law 6).

They stand above every policy and cannot be switched off: no writing to Vaultroom's policies, keys,
sockets, shims or log, no reading of its keys, no answering of approvals from inside a session, no keys
typed into other terminals. Pure: the protected places are handed in, with symbolic links resolved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vaultroom.events import Action, Effect, Event, Facet, FacetVerdict

SELF_FILES = "builtin:self-files"
SELF_SECRETS = "builtin:self-secrets"
SELF_APPROVAL = "builtin:self-approval"
OTHER_TERMINALS = "builtin:other-terminals"

_OWN_PROGRAMS = frozenset({"vaultroom"})
_ANSWERING = frozenset({"approve", "daemon", "init", "server"})
_ANSWERING_POLICY = frozenset({"trust"})
_INTERPRETERS = ("python", "pypy")


@dataclass(frozen=True, slots=True)
class BuiltinRule:
    """A built-in rule: its name in the log, and what the agent is told."""

    name: str
    message: str


RULES: tuple[BuiltinRule, ...] = (
    BuiltinRule(SELF_FILES, "Vaultroom's policies, keys, sockets, shims and log are off-limits to agents."),
    BuiltinRule(SELF_SECRETS, "Vaultroom's keys and server data are not readable for agents."),
    BuiltinRule(SELF_APPROVAL, "An agent cannot answer for itself."),
    BuiltinRule(OTHER_TERMINALS, "An agent cannot type into other terminals."),
)
_MESSAGES = {rule.name: rule.message for rule in RULES}


@dataclass(frozen=True, slots=True)
class Guard:
    """The places that belong to Vaultroom: absolute paths, without a trailing slash, links resolved.

    `closed` may not be written or deleted, `secret` may not even be read.
    """

    closed: tuple[str, ...]
    secret: tuple[str, ...]

    @classmethod
    def of(cls, closed: Iterable[str], secret: Iterable[str]) -> Guard:
        return cls(tuple(sorted(set(closed))), tuple(sorted(set(secret))))

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
        if facet.action in (Action.FS_WRITE, Action.FS_DELETE) and self._hits(facet, self.closed):
            return SELF_FILES
        if facet.action is Action.FS_READ and self._hits(facet, self.secret):
            return SELF_SECRETS
        if facet.action is Action.SHELL_EXEC and not facet.derived:
            if _answers_for_itself(facet.argv):
                return SELF_APPROVAL
            if _types_elsewhere(facet.cmd, facet.argv):
                return OTHER_TERMINALS
        return ""

    @staticmethod
    def _hits(facet: Facet, places: tuple[str, ...]) -> bool:
        path = facet.path
        if not path:
            return False
        above = path.rstrip("/") + "/"
        removes_above = facet.recursive or facet.action is Action.FS_DELETE
        return any(
            path == place or path.startswith(place + "/") or (removes_above and place.startswith(above))
            for place in places
        )


def _answers_for_itself(argv: tuple[str, ...]) -> bool:
    words = [word for word in argv if not word.startswith("-")]
    for position, word in enumerate(words[:2]):
        name = word.rsplit("/", 1)[-1]
        after_interpreter = (
            position == 1 and name == "vaultroom" and words[0].rsplit("/", 1)[-1].startswith(_INTERPRETERS)
        )
        if (position == 0 and name in _OWN_PROGRAMS) or after_interpreter:
            command = words[position + 1 : position + 3]
            if command[:1] and command[0] in _ANSWERING:
                return True
            if command[:1] == ["policy"] and command[1:] and command[1] in _ANSWERING_POLICY:
                return True
    return False


def _types_elsewhere(cmd: str, argv: tuple[str, ...]) -> bool:
    if cmd == "tmux":
        return any(
            word in ("send-keys", "send", "paste-buffer", "pasteb", "send-prefix") for word in argv[1:]
        )
    if cmd == "screen":
        return any(word == "-X" or (word.startswith("-") and word.endswith("X")) for word in argv[1:])
    return False

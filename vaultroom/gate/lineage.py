"""What the announced acts of a session lend to the acts that they cause (design section 4, one act).

A hook announces a command before the agent runs it; the command's programs then ask through shims. An
approval of the first answers the second where it is exactly the same: the same target under the same rule
(argv, folder and what it touches), below the agent that announced it, within the act's lifetime, once. A
denial is never inherited, and neither is a plain allow: the policy says that again by itself.

Which act caused which is otherwise only told to people: by ancestry and time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from vaultroom import clock, platform
from vaultroom.approvals.answer import RequestState, Resolution
from vaultroom.approvals.grants import GrantKey, Memory
from vaultroom.events import Action, Event, Source

LIFETIME_SECONDS = 600.0
"""How long an announced command counts as running: the longest that agents let one run by default."""
MOST_ACTS = 256
BY = "hook"
"""Who answered, in the log, where an announced act's approval did."""

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "env", "timeout"})

Key = tuple[str, Action, str]


@dataclass(slots=True)
class _Announced:
    event_id: str
    agent_pid: int
    until: float
    commands: frozenset[tuple[tuple[str, ...], str]]
    lent: Counter[Key] = field(default_factory=Counter)


class Lineage:
    """The announced acts of one session that may still run. Used on the supervisor's loop alone."""

    def __init__(
        self,
        *,
        ancestors_of: Callable[[int], list[int] | None] = platform.ancestors_of,
        process_name: Callable[[int], str | None] = platform.process_name,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._ancestors_of = ancestors_of
        self._process_name = process_name
        self._monotonic = monotonic
        self._acts: deque[_Announced] = deque(maxlen=MOST_ACTS)
        self._has_hooks = False

    def saw(self, event: Event) -> None:
        """An act arrives; from the first hook on, what nobody announced stands out."""
        self._has_hooks = self._has_hooks or event.source is Source.HOOK

    def announce(self, event: Event, approved: Iterable[GrantKey] = ()) -> None:
        """A hook's act was let through; `approved` is what was asked about it and allowed."""
        if event.source is not Source.HOOK or event.action is not Action.SHELL_EXEC:
            return
        agent = calling_process(event.pid, ancestors_of=self._ancestors_of, process_name=self._process_name)
        if agent is None:
            return
        commands = frozenset(
            (facet.argv, facet.cwd or event.cwd)
            for facet in event.judged_facets()
            if facet.action is Action.SHELL_EXEC and not facet.derived
        )
        until = self._monotonic() + LIFETIME_SECONDS
        self._acts.append(_Announced(event.id, agent, until, commands, Counter(map(_key, approved))))

    def borrow(self, event: Event, memory: Memory) -> Resolution | None:
        """The approval of the act that caused this one, used up; None where it is not exactly the same."""
        if event.source is not Source.SHIM or not memory.possible:
            return None
        wanted = Counter(map(_key, memory.keys))
        for act in self._above(event):
            if (event.argv, event.cwd) in act.commands and wanted <= act.lent:
                act.lent -= wanted
                return Resolution(RequestState.ALLOWED_ONCE, by=BY)
        return None

    def marks(self, event: Event) -> dict[str, Any]:
        """For the record of an execution: the announced act that caused it, or that there is none."""
        if event.source is not Source.SHIM or not self._has_hooks:
            return {}
        acts = self._above(event)
        if not acts:
            return {"orphan": True}
        exact = (act for act in acts if (event.argv, event.cwd) in act.commands)
        return {"caused_by": next(exact, acts[0]).event_id}

    def _above(self, event: Event) -> list[_Announced]:
        """The live acts of the agent that this event's process descends from, the newest first."""
        now = self._monotonic()
        while self._acts and self._acts[0].until <= now:
            self._acts.popleft()
        chain = self._ancestors_of(event.pid) if self._acts and event.pid > 0 else None
        above = set(chain[1:]) if chain else set()
        return [act for act in reversed(self._acts) if act.agent_pid in above]


def calling_process(
    pid: int,
    names: frozenset[str] = frozenset(),
    *,
    ancestors_of: Callable[[int], list[int] | None] = platform.ancestors_of,
    process_name: Callable[[int], str | None] = platform.process_name,
) -> int | None:
    """The agent whose hook runs as `pid`: the nearest ancestor that bears one of `names`, with those right
    above it that do too; else the nearest that is no shell. None where the ancestry cannot be read.
    """
    chain = ancestors_of(pid) if pid > 0 else None
    if not chain:
        return None
    above = [(ancestor, process_name(ancestor)) for ancestor in chain[1:] if ancestor > 1]
    agent = next((index for index, (_, name) in enumerate(above) if name in names), None)
    if agent is not None:
        while agent + 1 < len(above) and above[agent + 1][1] in names:
            agent += 1
        return above[agent][0]
    return next((ancestor for ancestor, name in above if name not in _SHELLS), None)


def _key(key: GrantKey) -> Key:
    return key.rule, key.action, key.target

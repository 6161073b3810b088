"""Grants: what "allow this rule" leaves behind (specification section 1.5, design section 4).

A grant belongs to one session, lives in memory and is never written into a policy. An act is answered
by grants only when every asking facet has one. Never remembered: opaque acts, the built-in rules, the
rate budget, and whatever `targets` cannot bind. An auto-approve window is a grant for everything that
the session asks for some minutes, within the same limits.
"""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from vaultroom import clock
from vaultroom.approvals.answer import check_minutes
from vaultroom.approvals.scripts import FileDigest, no_files
from vaultroom.approvals.summary import facet_line
from vaultroom.approvals.targets import target_of
from vaultroom.events import Action, Effect, Event, Verdict, new_ulid
from vaultroom.visible import visible

MAX_GRANTS = 1000
"""Grants in one book; the least recently used goes first, which only means being asked again."""


@dataclass(frozen=True, slots=True)
class GrantKey:
    """What a grant answers. `label` says it to people: masked and visible, no part of the key."""

    rule: str
    action: Action
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What allowing an act's rule would leave behind: one key for each asking facet.

    Without keys nothing can be remembered, and `refusal` says why.
    """

    keys: tuple[GrantKey, ...] = ()
    refusal: str = ""

    @property
    def possible(self) -> bool:
        return bool(self.keys)


NO_MEMORY = Memory(refusal="Nothing can be remembered.")


@dataclass(frozen=True, slots=True)
class Grant:
    """One remembered answer. `target` is empty for an auto-approve window, which answers every ask.

    `deadline` is the end on the monotonic clock, in seconds; None: it holds until the session ends.
    """

    id: str
    session_id: str
    rule: str
    action: Action | None
    target: str
    label: str
    by: str
    deadline: float | None = None
    directory: str = ""
    hits: int = 0

    @property
    def is_window(self) -> bool:
        return not self.target


@dataclass(frozen=True, slots=True)
class Covered:
    """Grants answer this act. `by` is `grant`, or `auto` where a window was needed."""

    grants: tuple[str, ...]
    by: str


def memory_of(judged: Event, masked: Event, verdict: Verdict, digest: FileDigest = no_files) -> Memory:
    """What could be remembered about an asked act.

    `judged` is the event as the policy saw it, `masked` the one that people see; `digest` may read the
    disk, so call this off the loop where it does.
    """
    if verdict.effect is not Effect.REQUIRE_APPROVAL:
        return Memory(refusal="This act does not ask.")
    asking = verdict.asking()
    if any(_never(rule) for rule in (verdict.rule_name, *(facet.rule_name for facet in asking))):
        return Memory(refusal="What a built-in rule or the rate budget asks is never remembered.")
    facets, shown = judged.judged_facets(), masked.judged_facets()
    if not asking or len(facets) != len(shown):
        return Memory(refusal="No single part of this act asks, so there is nothing to bind to.")
    keys = []
    for entry in asking:
        target = target_of(judged, facets[entry.index], digest)
        if target is None:
            return Memory(refusal="It cannot be read statically what would run, so it is asked each time.")
        facet = shown[entry.index]
        where = f" in {visible(facet.cwd or masked.cwd)}" if target.startswith("cmd:") else ""
        label = f"{facet_line(facet)}{where}"
        keys.append(GrantKey(rule=entry.rule_name, action=facet.action, target=target, label=label))
    return Memory(keys=tuple(keys))


def describe(memory: Memory, *, minutes: int | None = None, directory: str = "") -> tuple[str, ...]:
    """The exact text of what allowing the rule will remember, one line for each grant."""
    if not memory.possible:
        return (memory.refusal,)
    until = f"for {minutes} min" if minutes is not None else "until this session ends"
    inside = f", while working in {visible(directory)}" if directory else ""
    return tuple(
        f"{key.label} — exactly this, under {rule_title(key.rule)}, {until}{inside}" for key in memory.keys
    )


def rule_title(rule: str) -> str:
    """A rule's name for a text; the empty name means that a default decided."""
    return f"rule {visible(rule)}" if rule else "the default"


def _never(rule: str) -> bool:
    return rule.startswith(("builtin:", "budget:"))


class GrantBook:
    """All grants of a host. Used from the supervisor's loop alone; what it hands out is frozen."""

    def __init__(
        self,
        *,
        limit: int = MAX_GRANTS,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._limit = limit
        self._monotonic = monotonic
        self._grants: OrderedDict[str, Grant] = OrderedDict()

    def remember(
        self, session_id: str, memory: Memory, by: str, *, minutes: int | None = None, directory: str = ""
    ) -> tuple[Grant, ...]:
        """Leave one grant for each key, and hand them back. Raises ValueError where nothing can be kept."""
        if not memory.possible:
            raise ValueError(memory.refusal)
        folder = posixpath.normpath(directory) if directory else ""
        grants = [
            replace(
                self._new(session_id, by, minutes),
                rule=key.rule,
                action=key.action,
                target=key.target,
                label=key.label,
                directory=folder,
            )
            for key in memory.keys
        ]
        return self._keep(grants)

    def open_window(self, session_id: str, minutes: int, by: str) -> Grant:
        """Answer what the session asks for `minutes` (1 to 60; else ValueError). Denials stay denials."""
        check_minutes(minutes)
        label = f"everything that this session asks, for {minutes} min"
        (grant,) = self._keep([replace(self._new(session_id, by, minutes), label=label)])
        return grant

    def answer(self, session_id: str, memory: Memory, cwd: str) -> Covered | None:
        """The grants that answer every asking facet of an act in `cwd`, counting a hit on each; else None."""
        if not memory.possible:
            return None
        live = [grant for grant in self.list() if grant.session_id == session_id]
        window = next((grant for grant in live if grant.is_window), None)
        used: dict[str, Grant] = {}
        for key in memory.keys:
            found = next((grant for grant in live if _answers(grant, key, cwd)), window)
            if found is None:
                return None
            used[found.id] = found
        for grant in used.values():
            self._grants[grant.id] = replace(grant, hits=grant.hits + 1)
            self._grants.move_to_end(grant.id)
        by_window = any(grant.is_window for grant in used.values())
        return Covered(grants=tuple(used), by="auto" if by_window else "grant")

    def list(self, session_id: str | None = None) -> tuple[Grant, ...]:
        """The grants that hold now, least recently used first."""
        now = self._monotonic()
        self._drop(g for g in self._grants.values() if g.deadline is not None and g.deadline <= now)
        return tuple(g for g in self._grants.values() if session_id in (None, g.session_id))

    def revoke(self, grant_id: str) -> bool:
        """Forget one grant; False where there is none."""
        return self._grants.pop(grant_id, None) is not None

    def drop_session(self, session_id: str) -> int:
        """Forget all that a session left; how many grants that were."""
        return self._drop(g for g in self._grants.values() if g.session_id == session_id)

    def _new(self, session_id: str, by: str, minutes: int | None) -> Grant:
        return Grant(
            id=new_ulid(),
            session_id=session_id,
            rule="",
            action=None,
            target="",
            label="",
            by=by,
            deadline=None if minutes is None else self._monotonic() + minutes * 60,
        )

    def _keep(self, grants: Iterable[Grant]) -> tuple[Grant, ...]:
        kept = []
        for grant in grants:
            self._drop(old for old in self._grants.values() if _same(old, grant))
            self._grants[grant.id] = grant
            kept.append(grant)
        while len(self._grants) > self._limit:
            self._grants.popitem(last=False)
        return tuple(kept)

    def _drop(self, grants: Iterable[Grant]) -> int:
        ids = [grant.id for grant in grants]
        for grant_id in ids:
            del self._grants[grant_id]
        return len(ids)


def _answers(grant: Grant, key: GrantKey, cwd: str) -> bool:
    if (grant.rule, grant.action, grant.target) != (key.rule, key.action, key.target):
        return False
    if not grant.directory:
        return True
    inside = posixpath.normpath(cwd)
    return inside == grant.directory or inside.startswith(grant.directory.rstrip("/") + "/")


def _same(old: Grant, new: Grant) -> bool:
    """Whether `new` replaces `old`: the same answer with the same bounds, or a newer window."""
    return (old.session_id, old.rule, old.action, old.target, old.directory) == (
        new.session_id, new.rule, new.action, new.target, new.directory,
    )  # fmt: skip

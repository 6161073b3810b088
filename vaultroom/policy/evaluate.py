"""Judging: an event in, a verdict out (specification section 4.3, design section 4). Pure and thread-safe.

The first rule that matches a facet decides it; the strictest facet decides the event. Any error on the
way is a deny. `docs/decisions/policy-engine.md` says why it is built this way and how fast it is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vaultroom import clock
from vaultroom.errors import PolicyError
from vaultroom.events import Action, Effect, Event, Facet, FacetVerdict, Source, Verdict
from vaultroom.policy.cel import CelEvalError
from vaultroom.policy.compiled import CompiledRule, compile_rule, index_by_action
from vaultroom.policy.matchers.hosts import HostSet, normalise_host
from vaultroom.policy.matchers.paths import GlobUse, PathIndex
from vaultroom.policy.model import Policy, ToolPolicy
from vaultroom.policy.view import build_view

_UNNAMED: Final = "derived, and no rule names it"
_CANNOT_JUDGE: Final = "builtin:cannot-judge"


def identity(path: str) -> str:
    """The `resolve` of an engine that knows no file system."""
    return path


class Engine:
    """One policy, ready to judge the acts of a session that starts in `cwd`.

    `resolve` gives the real path of a folder (the host passes `os.path.realpath`): globs match as written
    and with their literal beginning resolved. It is called while the engine is made, never while judging.
    """

    def __init__(self, policy: Policy, *, cwd: str, resolve: Callable[[str], str] = identity) -> None:
        """Raises PolicyError when the policy is too large to be made ready."""
        if not posixpath.isabs(cwd):
            raise ValueError(f"expected an absolute start directory, found {cwd!r}")
        self.policy: Final = policy
        self.cwd: Final = posixpath.normpath(cwd)
        rules = [compile_rule(position, rule, policy.engine) for position, rule in enumerate(policy.rules)]
        self._candidates: Final = index_by_action(policy, rules)
        uses = [
            GlobUse(position, item.value, rules[position].is_strict)
            for position, rule in enumerate(policy.rules)
            for item in rule.match.path or ()
        ]
        try:
            self._paths: Final = PathIndex(uses, cwd=self.cwd, resolve=resolve)
        except ValueError as error:
            raise PolicyError(f"{policy.name}: the path globs cannot be made ready: {error}") from None
        self._allowed_hosts: Final = HostSet(policy.egress.allow_hosts)
        self._tool_policies: Final = {
            (server.name, tool.tool): tool for server in policy.mcp_servers for tool in server.tool_policies
        }

    def evaluate(self, event: Event, *, fallback: Effect | None = None) -> Verdict:
        """What the policy says. `fallback` decides acts of source `system` that no rule matches.

        Never raises: an error while judging is a deny that says so.
        """
        begun = clock.perf_ns()
        facets = event.judged_facets()
        judged = [self._judge_safely(event, facets, index, fallback) for index in range(len(facets))]
        if self._tool_policies:
            judged = self._apply_tool_policy(event, facets, judged)
        return _strictest(tuple(judged), begun)

    def _judge_safely(
        self, event: Event, facets: tuple[Facet, ...], index: int, fallback: Effect | None
    ) -> FacetVerdict:
        try:
            return self._judge(event, facets, index, fallback)
        except Exception as error:  # whatever it was: doubt is deny
            message = f"the act could not be judged: {str(error) or type(error).__name__}"
            return FacetVerdict(
                index, Effect.DENY, _CANNOT_JUDGE, 0, message, why="an error while judging is a deny"
            )

    def _judge(
        self, event: Event, facets: tuple[Facet, ...], index: int, fallback: Effect | None
    ) -> FacetVerdict:
        facet = facets[index]
        parent = facet if facet.parent is None else facets[facet.parent]
        path = _clean_path(facet.path, facet.cwd or event.cwd or self.cwd) if facet.path else ""
        host = _clean_host(facet) if facet.host else ""
        matching_paths = None
        view = None
        for rule in self._candidates.get((facet.action, facet.derived), ()):
            if facet.opaque and not rule.judges_opaque:
                continue
            if rule.has_path:
                if not path:
                    continue
                if matching_paths is None:
                    matching_paths = self._paths.matching(path, recursive=facet.recursive)
                if not matching_paths & rule.bit:
                    continue
            if rule.tools is not None and facet.tool not in rule.tools:
                continue
            if rule.hosts is not None and not (host and rule.hosts.matches(host)):
                continue
            if rule.not_hosts is not None and not _is_outside(rule, rule.not_hosts, host, facet):
                continue
            if rule.judge is not None:
                if rule.commands is not None and parent.cmd not in rule.commands:
                    continue
                if view is None:
                    view = build_view(event, facet, parent, path=path, host=host)
                try:
                    if not rule.judge.evaluate(view):
                        continue
                except CelEvalError as error:
                    return self._failed(index, rule, error)
            return FacetVerdict(index, rule.effect, rule.name, rule.line, rule.message, why=rule.why)
        if facet.derived:
            return FacetVerdict(index, Effect.ALLOW, counts=False, why=_UNNAMED)
        return self._default(event, facet, index, host, fallback)

    def _failed(self, index: int, rule: CompiledRule, error: CelEvalError) -> FacetVerdict:
        """A reached rule whose expression has no value denies the act."""
        where = f"{self.policy.name}:{rule.line}"
        if rule.expression is not None:
            spot = rule.expression.place(error.line, error.column)
            where = f"{self.policy.name}:{spot.line}:{spot.column}"
        message = f"rule {rule.name!r} could not be evaluated at {where}: {error.message}"
        return FacetVerdict(
            index, Effect.DENY, rule.name, rule.line, message, why="a rule that cannot be evaluated denies"
        )

    def _default(
        self, event: Event, facet: Facet, index: int, host: str, fallback: Effect | None
    ) -> FacetVerdict:
        effect, origin = self._default_effect(event, facet, host, fallback)
        why = f"no rule matches; {origin}"
        if facet.opaque and effect is Effect.ALLOW:
            effect = Effect.REQUIRE_APPROVAL
            why = f"no rule matches; {origin}, but what it does cannot be read beforehand"
        message = "" if effect is Effect.ALLOW else why
        return FacetVerdict(index, effect, message=message, why=why)

    def _default_effect(
        self, event: Event, facet: Facet, host: str, fallback: Effect | None
    ) -> tuple[Effect, str]:
        if event.source is Source.SERVER:
            return Effect.REQUIRE_APPROVAL, "requests to the approval server ask"
        if event.source is Source.SYSTEM:
            effect = fallback or Effect.DENY
            return effect, f"the system registry says {effect}"
        if facet.action is Action.NET_EGRESS:
            if host and self._allowed_hosts.matches(host):
                return Effect.ALLOW, "egress.allow_hosts lists the host"
            effect = self.policy.egress.default or Effect.DENY
            return effect, f"egress.default is {effect}"
        effect = self.policy.defaults.action
        return effect, f"defaults.action is {effect}"

    def _apply_tool_policy(
        self, event: Event, facets: tuple[Facet, ...], judged: list[FacetVerdict]
    ) -> list[FacetVerdict]:
        """What is left when the MCP server's own policy for the tool replaces all but a rule's deny."""
        found = self._tool_policy(event, facets)
        if found is None or any(_is_standing_deny(one) for one in judged):
            return judged
        server, policy, decisive = found
        effect, why = policy.effect, "the server's policy for this tool decides"
        if effect is Effect.ALLOW and any(facet.opaque for facet in facets if not facet.derived):
            effect = Effect.REQUIRE_APPROVAL
            why += ", but what the call does cannot be read beforehand"
        name = f"mcp:{server}/{policy.tool}"
        return [
            FacetVerdict(decisive, effect, name, policy.line, why=why)
            if one.index == decisive
            else replace(one, counts=False)
            for one in judged
        ]

    def _tool_policy(self, event: Event, facets: tuple[Facet, ...]) -> tuple[str, ToolPolicy, int] | None:
        if not event.tool and not any(facet.tool for facet in facets):
            return None
        for server, tool in ((event.server, event.tool), *((facet.server, facet.tool) for facet in facets)):
            policy = self._tool_policies.get((server, tool))
            if policy is not None:
                named = [i for i, facet in enumerate(facets) if (facet.server, facet.tool) == (server, tool)]
                calls = [i for i in named if facets[i].action is Action.MCP_TOOL]
                return server, policy, (calls or named or [0])[0]
        return None


def _is_standing_deny(one: FacetVerdict) -> bool:
    """A deny that no tool policy replaces: a rule's or an error's. A default (no name) gives way."""
    return one.counts and one.effect is Effect.DENY and bool(one.rule_name)


def _strictest(judged: tuple[FacetVerdict, ...], begun: int) -> Verdict:
    """The strictest facet that counts decides; of several the first. `begun` is when judging began, in ns."""
    decisive = None
    for one in judged:
        if one.counts and (decisive is None or one.effect.strictness > decisive.effect.strictness):
            decisive = one
    micros = (clock.perf_ns() - begun) // 1000
    if decisive is None:
        return Verdict(
            Effect.DENY, _CANNOT_JUDGE, "the act has nothing that can be judged", micros, 0, judged
        )
    return Verdict(
        effect=decisive.effect,
        rule_name=decisive.rule_name,
        message=decisive.message,
        eval_micros=micros,
        line=decisive.line,
        facets=judged,
        decisive=decisive.index,
    )


def _is_outside(rule: CompiledRule, not_hosts: HostSet, host: str, facet: Facet) -> bool:
    """Whether `not_host` holds. A connection to an unknown host is outside for a rule that holds back."""
    if host:
        return not not_hosts.matches(host)
    return rule.is_strict and facet.action is Action.NET_EGRESS


def _clean_path(path: str, base: str) -> str:
    """`path` absolute, without `.`, `..` and doubled slashes. Events bring it so; no deny relies on that."""
    if path[0] == "/" and "//" not in path and "/." not in path and (path[-1] != "/" or path == "/"):
        return path
    cleaned = posixpath.normpath(posixpath.join(base, path))
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def _clean_host(facet: Facet) -> str:
    """The host's one spelling. One that cannot be read raises ValueError, but is empty for an opaque act."""
    try:
        return normalise_host(facet.host)
    except ValueError:
        if facet.opaque:
            return ""
        raise

"""How verdicts are shown: a JSON object that programs rely on, lines for people (design section 7)."""

from __future__ import annotations

from typing import Any

from vaultroom.cli.policy_commands.loading import place_of
from vaultroom.events import Event, Facet, FacetVerdict, Verdict
from vaultroom.policy.model import Policy
from vaultroom.visible import visible


def verdict_object(event: Event, verdict: Verdict) -> dict[str, Any]:
    """The object of design section 7. A derived facet that has no say has the verdict null."""
    pairs = zip(event.judged_facets(), verdict.facets, strict=True)
    return {
        "verdict": verdict.effect.value,
        "rule": verdict.rule_name,
        "line": verdict.line,
        "message": verdict.message,
        "facets": [_facet_object(facet, judged) for facet, judged in pairs],
    }


def _facet_object(facet: Facet, judged: FacetVerdict) -> dict[str, Any]:
    name, value = _target(facet)
    return {
        "action": facet.action.value,
        name: value,
        "derived": facet.derived,
        "opaque": facet.opaque,
        "verdict": judged.effect.value if judged.counts else None,
        "rule": judged.rule_name,
    }


def _target(facet: Facet) -> tuple[str, str]:
    """What the facet is about: the member of its action, or what there is."""
    if facet.action.startswith("fs."):
        return "path", facet.path
    if facet.action == "net.egress":
        return "host", facet.host
    if facet.action == "mcp.tool":
        return "tool", facet.tool
    return "cmd", facet.cmd


def verdict_lines(policy: Policy, event: Event, verdict: Verdict) -> list[str]:
    """The verdict and, one line each, how every facet was judged and why."""
    lines = [f"{verdict.effect} {place_of(policy, verdict)}"]
    if verdict.message:
        lines.append(f"  {visible(verdict.message)}")
    for facet, judged in zip(event.judged_facets(), verdict.facets, strict=True):
        marks = [word for word, on in (("derived", facet.derived), ("opaque", facet.opaque)) if on]
        note = f" ({', '.join(marks)})" if marks else ""
        effect = judged.effect.value if judged.counts else "no say"
        target = visible(_target(facet)[1])
        lines.append(f"  {facet.action} {target}{note}: {effect}: {visible(judged.why)}")
    return lines

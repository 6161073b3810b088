"""Verdict: what the policy says about an event (specification section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"

    @property
    def strictness(self) -> int:
        """0 allow, 1 require_approval, 2 deny: the strictest facet decides an act."""
        return _STRICTNESS[self]


_STRICTNESS = {Effect.ALLOW: 0, Effect.REQUIRE_APPROVAL: 1, Effect.DENY: 2}


@dataclass(frozen=True, slots=True)
class FacetVerdict:
    """How one facet was judged.

    `counts` is False for a derived facet that no rule names: it has no say. `why` is a short text for
    `policy explain`; `line` is the rule's line in the policy, 0 where no rule decided.
    """

    index: int
    effect: Effect
    rule_name: str = ""
    line: int = 0
    message: str = ""
    counts: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says, with the rule and the trace of why.

    `rule_name` is empty when a default decided, else a rule's name or a built-in's (`builtin:…`,
    `budget:rate`, `mcp:<server>/<tool>`). `eval_micros` is how long judging took. `facets` holds one
    entry for each judged facet, in order; `decisive` is the index of the one that decided.
    """

    effect: Effect
    rule_name: str = ""
    message: str = ""
    eval_micros: int = 0
    line: int = 0
    facets: tuple[FacetVerdict, ...] = ()
    decisive: int = 0

    def asking(self) -> tuple[FacetVerdict, ...]:
        """The facets that need a person."""
        return tuple(f for f in self.facets if f.counts and f.effect is Effect.REQUIRE_APPROVAL)

"""The nouns of Vaultroom: event, facet, action, verdict, decision. No I/O."""

from vaultroom.events.action import AGENT_ACTIONS, FILE_ACTIONS, Action, Source
from vaultroom.events.codec import (
    canonical_json,
    event_from_dict,
    event_to_dict,
    facets_from_list,
    facets_to_list,
)
from vaultroom.events.decision import Decision
from vaultroom.events.environment import NO_ENVIRONMENT, Environment
from vaultroom.events.event import Event
from vaultroom.events.facet import NO_ARGUMENTS, Facet
from vaultroom.events.ulid import is_ulid, new_ulid
from vaultroom.events.verdict import Effect, FacetVerdict, Verdict

__all__ = [
    "AGENT_ACTIONS",
    "FILE_ACTIONS",
    "NO_ARGUMENTS",
    "NO_ENVIRONMENT",
    "Action",
    "Decision",
    "Effect",
    "Environment",
    "Event",
    "Facet",
    "FacetVerdict",
    "Source",
    "Verdict",
    "canonical_json",
    "event_from_dict",
    "event_to_dict",
    "facets_from_list",
    "facets_to_list",
    "is_ulid",
    "new_ulid",
]

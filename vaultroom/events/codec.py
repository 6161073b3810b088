"""Events as canonical JSON and back (specification sections 3.2 and 3.4).

Canonical: sorted keys, no white space, UTF-8, no NaN; fields with their zero value are left out except
`cwd` and `pid`. A lone surrogate (an undecodable byte of a path or argument) is written as its `\\udcXX`
escape, which is valid JSON and reads back as the same text.

A facet is written relative to its base: a derived facet's base is its parent, a primary facet's base is
the event. A field that equals the base's is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vaultroom.clock import parse_rfc3339, rfc3339
from vaultroom.events.action import Action, Source
from vaultroom.events.event import Event
from vaultroom.events.facet import Facet

_EVENT_FIELDS = (
    "cmd",
    "raw",
    "subcommand",
    "path",
    "host",
    "port",
    "server",
    "tool",
    "opaque",
    "agent",
    "agent_id",
    "tool_use_id",
)
_FACET_FIELDS = (
    "action",
    "cmd",
    "subcommand",
    "path",
    "host",
    "port",
    "server",
    "tool",
    "cwd",
    "opaque",
    "recursive",
)
_FACET_KEYS = frozenset(_FACET_FIELDS) | {"argv", "tool_args", "of"}
_INTEGERS = frozenset({"port", "pid"})
_BOOLEANS = frozenset({"opaque", "recursive"})


def canonical_json(value: Any) -> bytes:
    """Deterministic JSON bytes. Raises ValueError or TypeError for what JSON cannot hold."""
    text = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=_plain,
    )
    return text.encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be written to the log")


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event's JSON object, without its environment and without its facets."""
    result: dict[str, Any] = {
        "id": event.id,
        "session_id": event.session_id,
        "ts": rfc3339(event.ts),
        "source": event.source.value,
        "action": event.action.value,
        "cwd": event.cwd,
        "pid": event.pid,
    }
    for name in _EVENT_FIELDS:
        value = getattr(event, name)
        if value:
            result[name] = value
    if event.argv:
        result["argv"] = list(event.argv)
    if event.tool_args:
        result["tool_args"] = event.tool_args
    return result


def event_from_dict(data: Mapping[str, Any], facets: tuple[Facet, ...] = ()) -> Event:
    """The event that `event_to_dict` wrote. Unknown members are ignored (`record` is one).

    Raises ValueError, naming the member, when one is missing or has the wrong type.
    """
    values: dict[str, Any] = {
        "id": _text(data, "id"),
        "session_id": _text(data, "session_id"),
        "ts": parse_rfc3339(_text(data, "ts")),
        "source": Source(_text(data, "source")),
        "action": Action(_text(data, "action")),
        "facets": facets,
    }
    for name in (*_EVENT_FIELDS, "cwd", "pid"):
        if name in data:
            values[name] = _typed(data, name)
    if "argv" in data:
        values["argv"] = _strings(data, "argv")
    if "tool_args" in data:
        values["tool_args"] = _object(data, "tool_args")
    return Event(**values)


def facets_to_list(event: Event) -> list[dict[str, Any]]:
    """The event's judged facets as JSON objects, each relative to its base."""
    facets = event.judged_facets()
    whole = event.as_facet()
    result = []
    for facet in facets:
        base = whole if facet.parent is None else facets[facet.parent]
        entry: dict[str, Any] = {}
        for name in _FACET_FIELDS:
            value = getattr(facet, name)
            if value != getattr(base, name):
                entry[name] = value.value if name == "action" else value
        if facet.argv is not base.argv and facet.argv != base.argv:  # thousands may share one long argv
            entry["argv"] = list(facet.argv)
        if facet.tool_args is not base.tool_args and facet.tool_args != base.tool_args:
            entry["tool_args"] = facet.tool_args
        if facet.parent is not None:
            entry["of"] = facet.parent
        result.append(entry)
    return result


def facets_from_list(event: Event, entries: list[dict[str, Any]]) -> tuple[Facet, ...]:
    """The inverse of `facets_to_list`; members other than a facet's own (verdicts, say) are ignored."""
    whole = event.as_facet()
    facets: list[Facet] = []
    for entry in entries:
        parent = entry.get("of")
        if parent is not None and not (isinstance(parent, int) and 0 <= parent < len(facets)):
            raise ValueError(f"expected 'of' to be the index of an earlier facet, found {parent!r}")
        base = whole if parent is None else facets[parent]
        values: dict[str, Any] = {name: getattr(base, name) for name in _FACET_FIELDS}
        values |= {"argv": base.argv, "tool_args": base.tool_args}
        for name in _FACET_KEYS & entry.keys():
            if name == "action":
                values[name] = Action(_text(entry, name))
            elif name == "argv":
                values[name] = _strings(entry, name)
            elif name == "tool_args":
                values[name] = _object(entry, name)
            elif name != "of":
                values[name] = _typed(entry, name)
        facets.append(Facet(**values, derived=parent is not None, parent=parent))
    if len(facets) == 1 and facets[0] == whole:
        return ()
    return tuple(facets)


def _typed(data: Mapping[str, Any], name: str) -> Any:
    value = data[name]
    wanted = int if name in _INTEGERS else bool if name in _BOOLEANS else str
    if type(value) is not wanted:
        raise ValueError(f"expected {name!r} to be a {wanted.__name__}, found a {type(value).__name__}")
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    if name not in data:
        raise ValueError(f"expected a member {name!r}, found none")
    value = data[name]
    if type(value) is not str:
        raise ValueError(f"expected {name!r} to be a str, found a {type(value).__name__}")
    return value


def _strings(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data[name]
    if not isinstance(value, list) or not all(type(item) is str for item in value):
        raise ValueError(f"expected {name!r} to be a list of strings")
    return tuple(value)


def _object(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data[name]
    if not isinstance(value, dict):
        raise ValueError(f"expected {name!r} to be an object, found a {type(value).__name__}")
    return value

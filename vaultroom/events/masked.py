"""An event as it may be written down and shown: with its secrets masked (design, law 8)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from vaultroom.events.action import FILE_ACTIONS, Source
from vaultroom.events.event import Event
from vaultroom.events.facet import Facet
from vaultroom.masking import mask_arguments, mask_argv, mask_text

_TEXTS = ("raw", "path")
_CONTENTS = frozenset(
    {
        *("content", "old_string", "new_string", "new_source", "edits"),
        *("oldString", "newString", "patchText", "command"),
    }
)
"""Arguments of file tools that hold what files hold: kept as digest and length (law 8)."""


def mask_event(event: Event) -> tuple[Event, tuple[str, ...]]:
    """The event with secrets masked, and the paths of the members that changed.

    A path is written like `argv[2]`, `raw`, `tool_args.password` or `facets[1].argv[2]`. A derived facet
    repeats its parent's arguments; a change in them is named once, at the parent. The environment is kept
    as it is, since it cannot be written down.
    """
    changed: list[str] = []
    known: dict[int, tuple[str, ...] | None] = {}
    values: dict[str, Any] = {}
    for name in _TEXTS:
        text = getattr(event, name)
        masked = mask_text(text) if text else text
        if masked != text:
            values[name] = masked
            changed.append(name)
    event = _without_contents(event, changed)
    values |= _masked_members(event, known, changed, prefix="", told=None)
    facets = []
    for index, facet in enumerate(event.facets):
        told = event if facet.parent is None else event.facets[facet.parent]
        members = _masked_members(facet, known, changed, prefix=f"facets[{index}].", told=told)
        path = mask_text(facet.path) if facet.path else facet.path
        if path != facet.path:
            members["path"] = path
            changed.append(f"facets[{index}].path")
        facets.append(replace(facet, **members) if members else facet)
    if facets:
        values["facets"] = tuple(facets)
    return (replace(event, **values) if changed else event), tuple(changed)


def _without_contents(event: Event, changed: list[str]) -> Event:
    """A hook's act on files, with digests in place of what would be written."""
    if event.source is not Source.HOOK or event.action not in FILE_ACTIONS:
        return event

    held = {name: _digest(value) for name, value in event.tool_args.items() if name in _CONTENTS}
    if not held:
        return event
    arguments = {**event.tool_args, **held}
    changed.extend(f"tool_args{_step(name)}" for name in held)
    facets = tuple(
        replace(facet, tool_args=arguments) if facet.tool_args == event.tool_args else facet
        for facet in event.facets
    )
    return replace(event, tool_args=arguments, facets=facets)


def _digest(value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    data = text.encode("utf-8", "surrogatepass")
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _masked_members(
    judged: Event | Facet,
    known: dict[int, tuple[str, ...] | None],
    changed: list[str],
    *,
    prefix: str,
    told: Event | Facet | None,
) -> dict[str, Any]:
    """The masked argv and tool_args; notes what changed unless `told`, which the facet repeats, said so
    already.
    """
    values: dict[str, Any] = {}
    if judged.argv:
        if id(judged.argv) not in known:  # thousands of derived facets share one argv, and hashing it is slow
            masked = mask_argv(judged.argv)
            known[id(judged.argv)] = None if masked == judged.argv else masked
        argv = known[id(judged.argv)]
        if argv is not None:
            values["argv"] = argv
            if told is None or (told.argv is not judged.argv and told.argv != judged.argv):
                pairs = zip(judged.argv, argv, strict=True)
                changed.extend(
                    f"{prefix}argv[{index}]" for index, (old, new) in enumerate(pairs) if old != new
                )
    if judged.tool_args:
        arguments = mask_arguments(judged.tool_args)
        if arguments != judged.tool_args:
            values["tool_args"] = arguments
            if told is None or told.tool_args != judged.tool_args:
                changed.extend(_differences(judged.tool_args, arguments, f"{prefix}tool_args"))
    return values


def _differences(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys():
        for key, value in before.items():
            yield from _differences(value, after[key], path + _step(key))
    elif isinstance(before, (list, tuple)) and isinstance(after, list) and len(before) == len(after):
        for index, value in enumerate(before):
            yield from _differences(value, after[index], f"{path}[{index}]")
    elif before != after:
        yield path


def _step(key: str) -> str:
    return f".{key}" if key.replace("-", "_").isidentifier() else f"[{json.dumps(key)}]"

"""An event as it may be written down and shown: with its secrets masked (design, law 8)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from vaultroom.events.event import Event
from vaultroom.events.facet import Facet
from vaultroom.masking import MASK, mask_arguments, mask_argv, mask_path, mask_text

_TEXTS = ("path", "cmd", "subcommand", "host", "server", "tool", "cwd")
"""Texts of events and facets that what an agent typed may end in."""


def mask_event(event: Event) -> tuple[Event, tuple[str, ...]]:
    """The event with secrets masked, and the paths of the members that changed.

    A path is written like `argv[2]`, `raw`, `tool_args.password` or `facets[1].argv[2]`. A facet repeats
    members of the event or of its parent; a change in them is named once, there. The environment is kept
    as it is, since it cannot be written down.
    """
    changed: list[str] = []
    known: dict[int, tuple[str, ...] | None] = {}
    texts: dict[str, str] = {}
    raw = _masked_line(event)
    values: dict[str, Any] = {}
    if raw != event.raw:
        values["raw"] = raw
        changed.append("raw")
    values |= _masked_texts(event, texts, changed, prefix="", told=None)
    values |= _masked_members(event, known, changed, prefix="", told=None)
    facets = []
    for index, facet in enumerate(event.facets):
        told = event if facet.parent is None else event.facets[facet.parent]
        prefix = f"facets[{index}]."
        members = _masked_members(facet, known, changed, prefix=prefix, told=told)
        members |= _masked_texts(facet, texts, changed, prefix=prefix, told=told)
        facets.append(replace(facet, **members) if members else facet)
    if facets:
        values["facets"] = tuple(facets)
    return (replace(event, **values) if changed else event), tuple(changed)


def _masked_line(event: Event) -> str:
    """The masked `raw`. Where it is `argv` in one line, it is made anew from the masked arguments: they say
    more surely than a line with quotes what is a secret.
    """
    if not event.raw:
        return event.raw
    masked = mask_text(event.raw)
    if event.argv:
        argv = mask_argv(event.argv)
        if (masked != event.raw or argv != event.argv) and _line(event.argv) == event.raw:
            return _line(argv)
    return masked


def _line(argv: tuple[str, ...]) -> str:
    """The arguments in one line, quoted where a shell needs it; a mask alone needs no quotes."""
    words = []
    for word in argv:
        bare = word.replace(MASK, "_")
        words.append(word if shlex.quote(bare) == bare else shlex.quote(word))
    return " ".join(words)


def _masked_texts(
    judged: Event | Facet,
    known: dict[str, str],
    changed: list[str],
    *,
    prefix: str,
    told: Event | Facet | None,
) -> dict[str, str]:
    values: dict[str, str] = {}
    for name in _TEXTS:
        text = getattr(judged, name)
        if not text:
            continue
        masked = known.get(text)
        if masked is None:
            masked = known[text] = mask_path(text)
        if masked != text:
            values[name] = masked
            if told is None or getattr(told, name) != text:
                changed.append(prefix + name)
    return values


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

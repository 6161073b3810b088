"""What text surfaces say about an act, and how lines are wrapped (specification section 4.4).

All of it passes `visible()`. Lists cut, cards (see `card`) wrap: who answers has seen the whole.
"""

from __future__ import annotations

import json
import shlex
import unicodedata

from vaultroom.events import Action, Event, Facet
from vaultroom.visible import visible

_VERBS = {
    Action.FS_READ: "read",
    Action.FS_WRITE: "write",
    Action.FS_DELETE: "delete",
    Action.NET_EGRESS: "connect to",
}
_MIN_WIDTH = 20


def one_line(event: Event, width: int) -> str:
    """The act in one line of at most `width` cells (2 at least); `…` marks what a list has no room for."""
    return _cut(" ⏎ ".join(act_text(event).split("\n")), width)


def facet_line(facet: Facet) -> str:
    """One facet in one line, whole."""
    return " ⏎ ".join(_facet_text(facet).split("\n"))


def act_text(event: Event) -> str:
    """The whole act as people read it, visible, possibly several lines: `$ git push`, `delete /a`, …"""
    if event.action is Action.SHELL_EXEC and event.raw:
        return "$ " + visible(event.raw, keep_newlines=True)
    return _facet_text(event.as_facet())


def _facet_text(facet: Facet) -> str:
    if facet.action is Action.SHELL_EXEC:
        return "$ " + visible(shlex.join(facet.argv) if facet.argv else facet.cmd, keep_newlines=True)
    if facet.action is Action.NET_EGRESS:
        port = f":{facet.port}" if facet.port else ""
        return f"connect to {visible(facet.host)}{port}"
    if facet.action is Action.MCP_TOOL:
        name = visible(f"{facet.server}/{facet.tool}" if facet.server else facet.tool)
        return f"{name} {_arguments(facet)}".rstrip()
    below = " and everything below it" if facet.recursive else ""
    verb = _VERBS.get(facet.action, facet.action.value)
    return f"{verb} {visible(facet.path)}{below}"


def _arguments(facet: Facet) -> str:
    if not facet.tool_args:
        return ""
    try:
        text = json.dumps(dict(facet.tool_args), ensure_ascii=False, indent=2, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError) as error:
        return f"(arguments that cannot be shown: {type(error).__name__})"
    return visible(text, keep_newlines=True)


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """`text` (visible; line feeds separate lines) in lines of at most `width` cells; nothing is lost.

    Continuation lines start with `indent`.
    """
    room = max(width, _MIN_WIDTH)
    lines: list[str] = []
    for part in text.split("\n"):
        line, used = "", 0
        for char in part:
            size = cells(char)
            if used + size > room:
                lines.append(line)
                line, used = indent, len(indent)
            line += char
            used += size
        lines.append(line)
    return lines


def cells(text: str) -> int:
    """Terminal cells that `text` takes at most. Combining marks count as one: they cannot pile up."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WFA" else 1 for char in text)


def _cut(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    kept, used = "", cells("…")
    for char in text:
        used += cells(char)
        if used > width:
            break
        kept += char
    return kept + "…"

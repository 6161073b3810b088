"""The event as an expression sees it: one plain dict for each judged facet (design section 4)."""

from __future__ import annotations

from typing import Any

from vaultroom.events import Event, Facet


def build_view(event: Event, facet: Facet, parent: Facet, *, path: str, host: str) -> dict[str, Any]:
    """A fresh view of `facet` with every field of `cel.FIELDS`.

    A derived facet shows the command of its `parent` (a primary facet is its own parent), and every facet
    the event's whole command line. `path` and `host` are the facet's in their normal spelling. The view
    belongs to one thread.
    """
    return {
        "action": facet.action.value,
        "source": event.source.value,
        "cmd": parent.cmd,
        "raw": event.raw,
        "subcommand": parent.subcommand,
        "path": path,
        "host": host,
        "server": facet.server,
        "tool": facet.tool,
        "cwd": facet.cwd or event.cwd,
        "session_id": event.session_id,
        "agent": event.agent,
        "agent_id": event.agent_id,
        "argv": list(parent.argv),
        "port": facet.port,
        "pid": event.pid,
        "tool_args": dict(facet.tool_args),
        "opaque": facet.opaque,
        "derived": facet.derived,
        "recursive": facet.recursive,
    }

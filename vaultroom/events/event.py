"""Event: one act of an agent, frozen (specification section 3.2, design section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vaultroom.events.action import Action, Source
from vaultroom.events.environment import NO_ENVIRONMENT, Environment
from vaultroom.events.facet import Facet, no_arguments


@dataclass(frozen=True, slots=True)
class Event:
    """One act. The supervisor, not the client, sets `id`, `ts`, `session_id` and `pid`.

    `ts` is nanoseconds since 1970 UTC. `raw` is the whole command line. `facets` is what the act does;
    empty means: the event itself is its single primary facet. `agent` is the session's label, `agent_id`
    the sub-agent's id and `tool_use_id` the agent's own id for the call (both where a hook or MCP gives
    one). `env` is readable while judging and cannot be serialised.
    """

    id: str
    session_id: str
    ts: int
    source: Source
    action: Action
    cmd: str = ""
    argv: tuple[str, ...] = ()
    raw: str = ""
    subcommand: str = ""
    path: str = ""
    host: str = ""
    port: int = 0
    server: str = ""
    tool: str = ""
    tool_args: Mapping[str, Any] = field(default_factory=no_arguments, hash=False)
    cwd: str = ""
    pid: int = 0
    opaque: bool = False
    agent: str = ""
    agent_id: str = ""
    tool_use_id: str = ""
    facets: tuple[Facet, ...] = ()
    env: Environment = field(default=NO_ENVIRONMENT, repr=False, compare=False)

    def as_facet(self) -> Facet:
        """The event seen as one primary facet."""
        return Facet(
            action=self.action,
            cmd=self.cmd,
            argv=self.argv,
            subcommand=self.subcommand,
            path=self.path,
            host=self.host,
            port=self.port,
            server=self.server,
            tool=self.tool,
            tool_args=self.tool_args,
            cwd=self.cwd,
            opaque=self.opaque,
        )

    def judged_facets(self) -> tuple[Facet, ...]:
        """The facets that the policy judges: never empty."""
        return self.facets or (self.as_facet(),)

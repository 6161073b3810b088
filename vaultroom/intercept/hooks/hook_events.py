"""A hook frame → an Event, and an outcome → the frame that answers it.

Who and when (id, session, time, process) is what the supervisor knows. What cannot be understood raises
FrameError: a recorded deny that says what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vaultroom.errors import FrameError
from vaultroom.events import Action, Event, Source
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks.adapter import Adapter, HookAnswer, HookCall, denial_text
from vaultroom.intercept.hooks.known import ADAPTERS
from vaultroom.intercept.hooks.payload import shown
from vaultroom.intercept.hooks.tools import tool_act
from vaultroom.shell import FileView

FRAME_KIND = "hook"
LONGEST_WAIT = 86_400
_MEMBERS = frozenset({"type", "agent", "payload", "cwd", "bytes", "seconds"})


@dataclass(frozen=True, slots=True)
class HookFrame:
    """A frame of the thin client.

    `cwd` is the client's own folder, `size` the payload's true length in bytes (a payload too large for a
    frame is left out), `seconds` how long the client waits.
    """

    adapter: Adapter
    payload: str
    cwd: str
    size: int
    seconds: int

    def call(self) -> HookCall:
        """Raises FrameError."""
        if self.size > 0 and not self.payload:
            raise FrameError(
                f"expected a payload that fits into a frame of 8 MiB, this one has {self.size} bytes"
            )
        return self.adapter.read(self.payload)


def read_frame(frame: dict[str, Any]) -> HookFrame:
    """The frame's members, checked. Raises FrameError."""
    if frame.keys() != _MEMBERS or frame["type"] != FRAME_KIND:
        odd = sorted(frame.keys() ^ _MEMBERS)
        raise FrameError(f"expected a hook frame with {', '.join(sorted(_MEMBERS))}; at odds: {odd!r:.80}")
    adapter = ADAPTERS.get(frame["agent"]) if isinstance(frame["agent"], str) else None
    if adapter is None:
        raise FrameError(f"expected an agent of {', '.join(ADAPTERS)}, found {shown(frame['agent'])}")
    payload, cwd, size, seconds = frame["payload"], frame["cwd"], frame["bytes"], frame["seconds"]
    if not isinstance(payload, str) or not isinstance(cwd, str) or not cwd.startswith("/"):
        raise FrameError("expected 'payload' to be a string and 'cwd' an absolute path in the hook frame")
    if type(size) is not int or type(seconds) is not int or not 0 < seconds <= LONGEST_WAIT:
        raise FrameError(f"expected whole 'bytes' and 1 to {LONGEST_WAIT} 'seconds' in the hook frame")
    return HookFrame(adapter=adapter, payload=payload, cwd=cwd, size=size, seconds=seconds)


def hook_event(
    call: HookCall,
    adapter: Adapter,
    *,
    event_id: str,
    session_id: str,
    ts: int,
    pid: int,
    agent: str,
    view: FileView,
) -> Event:
    """The event of one announced tool call. Looks at files: call it in a thread. Raises FrameError."""
    cwd = view.realpath(call.cwd)
    act = tool_act(adapter.tools, call.tool, call.server, call.input, cwd=cwd, view=view)
    first = act.facets[0]
    return Event(
        id=event_id,
        session_id=session_id,
        ts=ts,
        source=Source.HOOK,
        action=first.action,
        cmd=first.cmd,
        argv=first.argv,
        raw=act.raw,
        subcommand=first.subcommand,
        path=first.path,
        host=first.host,
        port=first.port,
        server=first.server,
        tool=first.tool,
        tool_args=first.tool_args,
        cwd=cwd,
        pid=pid,
        opaque=any(facet.opaque for facet in act.facets if not facet.derived),
        agent=agent,
        agent_id=call.agent_id,
        tool_use_id=call.tool_use_id,
        facets=act.facets if len(act.facets) > 1 or first.recursive else (),
    )


def refused_event(*, event_id: str, session_id: str, ts: int, pid: int, agent: str, cwd: str) -> Event:
    """What stands in the log for a hook frame that was not understood."""
    return Event(
        id=event_id,
        session_id=session_id,
        ts=ts,
        source=Source.HOOK,
        action=Action.MCP_TOOL,
        cwd=cwd,
        pid=pid,
        agent=agent,
        opaque=True,
    )


def answer_frame(agent: Any, outcome: Outcome) -> dict[str, Any]:
    """The frame that answers; the thin client relies on this order of its members."""
    adapter = ADAPTERS.get(agent) if isinstance(agent, str) else None
    if adapter is not None:
        answer = adapter.answer(outcome)
    else:
        answer = HookAnswer(code=2, stderr=f"{denial_text(outcome)}\n")
    return {"type": FRAME_KIND, "code": answer.code, "stdout": answer.stdout, "stderr": answer.stderr}

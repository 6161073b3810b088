"""Claude Code: `PreToolUse` in its settings.

A deny is said twice: exit code 2 with the reason on stderr stops the call whatever becomes of stdout, and
the JSON is what newer versions show. An allow says nothing: Claude Code's own permissions still hold, and
in its bypass mode the call runs. Any other exit code, and silence, is no answer to it at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from vaultroom.errors import FrameError
from vaultroom.events import Action
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks import payload as read
from vaultroom.intercept.hooks.adapter import Denial, HookAnswer, HookCall, denial_text, denied
from vaultroom.intercept.hooks.tools import Fetch, File, Search, Shell, Tool

EVENT = "PreToolUse"
_MCP = "mcp__"
_JSON = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":'

TOOLS: Mapping[str, Tool] = {
    "Bash": Shell("command"),
    "PowerShell": Shell("command"),
    "Write": File(Action.FS_WRITE, "file_path"),
    "Edit": File(Action.FS_WRITE, "file_path"),
    "MultiEdit": File(Action.FS_WRITE, "file_path"),
    "NotebookEdit": File(Action.FS_WRITE, "notebook_path"),
    "Read": File(Action.FS_READ, "file_path"),
    "NotebookRead": File(Action.FS_READ, "notebook_path"),
    "Grep": Search("path"),
    "Glob": Search("path", pattern="pattern"),
    "LS": Search("path"),
    "WebFetch": Fetch("url"),
}


class Claude:
    name = "claude"
    processes = frozenset({"claude", "node"})
    tools = TOOLS
    denial = Denial(f'{_JSON}"deny","permissionDecisionReason":', "}}", 2)
    native = _JSON + '"ask","permissionDecisionReason":"No Vaultroom host answers."}}\n'
    hook_seconds = 60
    honours_exit_2 = True

    def read(self, payload: str) -> HookCall:
        return claude_like(self.name, payload)

    def answer(self, outcome: Outcome) -> HookAnswer:
        return HookAnswer() if outcome.allowed else denied(self.denial, denial_text(outcome))


def claude_like(agent: str, payload: str) -> HookCall:
    """The payload of Claude Code, which others have taken over. Raises FrameError."""
    data = read.parse_object(payload)
    event = read.name_member(data, "hook_event_name")
    if event != EVENT:
        raise FrameError(f"expected the hook event {EVENT!r}, found {event!r:.60}")
    server, tool = mcp_name(read.name_member(data, "tool_name"), data.get("mcp_server"))
    return HookCall(
        agent=agent,
        session=read.name_member(data, "session_id"),
        cwd=read.folder_member(data, "cwd"),
        tool=tool,
        server=server,
        input=read.object_member(data, "tool_input"),
        tool_use_id=read.optional_text(data, "tool_use_id"),
        agent_id=read.optional_text(data, "agent_id"),
    )


def mcp_name(tool: str, server: object) -> tuple[str, str]:
    """(server, tool) of `mcp__server__tool`; ("", tool) of any other.

    A server's name may hold two underscores too: what the payload says of the server (`{"name": …}`) counts
    where it fits.
    """
    if not tool.startswith(_MCP):
        return "", tool
    named = server.get("name") if isinstance(server, dict) else None
    if isinstance(named, str) and named:
        written = "".join(
            char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in named
        )
        prefix = f"{_MCP}{written}__"
        if tool.startswith(prefix) and tool != prefix:
            return named, tool.removeprefix(prefix)
    first, separator, rest = tool.removeprefix(_MCP).partition("__")
    if not (first and separator and rest):
        raise FrameError(f"expected an MCP tool as mcp__server__tool, found {tool!r:.80}")
    return first, rest

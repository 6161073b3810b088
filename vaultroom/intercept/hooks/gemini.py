"""Gemini CLI: `hooks.BeforeTool` in its settings.

A deny is `{"decision":"deny","reason":…}` on stdout with exit code 2. An allow says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from vaultroom.errors import FrameError
from vaultroom.events import Action
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks import payload as read
from vaultroom.intercept.hooks.adapter import Denial, HookAnswer, HookCall, denial_text, denied
from vaultroom.intercept.hooks.tools import Addresses, File, Files, Search, Shell, Tool

EVENT = "BeforeTool"

TOOLS: Mapping[str, Tool] = {
    "run_shell_command": Shell("command", folder=("dir_path", "directory")),
    "write_file": File(Action.FS_WRITE, "file_path"),
    "replace": File(Action.FS_WRITE, "file_path"),
    "read_file": File(Action.FS_READ, "file_path", "absolute_path"),
    "read_many_files": Files("include", "paths"),
    "list_directory": Search("dir_path", "path"),
    "glob": Search("dir_path", "path", pattern="pattern"),
    "grep_search": Search("dir_path", "path"),
    "search_file_content": Search("dir_path", "path"),
    "web_fetch": Addresses("prompt", "url"),
}


class Gemini:
    name = "gemini"
    processes = frozenset({"gemini", "node"})
    tools = TOOLS
    denial = Denial('{"decision":"deny","reason":', "}", 2)
    native = ""
    hook_seconds = 60
    honours_exit_2 = True

    def read(self, payload: str) -> HookCall:
        data = read.parse_object(payload)
        event = read.name_member(data, "hook_event_name")
        if event != EVENT:
            raise FrameError(f"expected the hook event {EVENT!r}, found {event!r:.60}")
        tool, server = read.name_member(data, "tool_name"), ""
        context = data.get("mcp_context")
        if context is not None:
            context = read.object_member(data, "mcp_context")
            server, tool = read.name_member(context, "server_name"), read.name_member(context, "tool_name")
        return HookCall(
            agent=self.name,
            session=read.name_member(data, "session_id"),
            cwd=read.folder_member(data, "cwd"),
            tool=tool,
            server=server,
            input=read.object_member(data, "tool_input"),
        )

    def answer(self, outcome: Outcome) -> HookAnswer:
        return HookAnswer() if outcome.allowed else denied(self.denial, denial_text(outcome))

"""opencode: a plugin of ours, whose `tool.execute.before` throws where the client does not end with 0.

opencode hands its hooks JavaScript objects, not a payload; the plugin writes the payload that is read here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from vaultroom.errors import FrameError
from vaultroom.events import Action
from vaultroom.gate.judge import Outcome
from vaultroom.intercept.hooks import payload as read
from vaultroom.intercept.hooks.adapter import Denial, HookAnswer, HookCall, denial_text, denied
from vaultroom.intercept.hooks.tools import Fetch, File, Patch, Search, Shell, Tool

EVENT = "tool.execute.before"

_PLUGIN = """\
// Installed by Vaultroom: asks its host before every tool. Remove it with: vaultroom init --remove
import { spawn } from "node:child_process"

const CLIENT = %(client)s

function ask(payload, cwd) {
  return new Promise((resolve) => {
    let text = ""
    let child
    try {
      child = spawn(CLIENT, [], { cwd, stdio: ["pipe", "ignore", "pipe"] })
    } catch (error) {
      resolve(String(error))
      return
    }
    child.on("error", (error) => resolve(`vaultroom: denied: its hook cannot be started: ${error.message}`))
    child.stderr.on("data", (part) => { text += part })
    const failed = "vaultroom: denied: its hook failed."
    child.on("close", (code) => resolve(code === 0 ? null : text.trim() || failed))
    child.stdin.on("error", () => {})
    child.stdin.end(payload)
  })
}

export const Vaultroom = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const refusal = await ask(JSON.stringify({
      hook_event_name: "tool.execute.before",
      session_id: input.sessionID,
      tool_use_id: input.callID,
      tool_name: input.tool,
      tool_input: output.args,
      cwd: directory,
    }), directory)
    if (refusal !== null) throw new Error(refusal)
  },
})
"""

TOOLS: Mapping[str, Tool] = {
    "bash": Shell("command", folder=("workdir",)),
    "write": File(Action.FS_WRITE, "filePath"),
    "edit": File(Action.FS_WRITE, "filePath"),
    "multiedit": File(Action.FS_WRITE, "filePath"),
    "patch": Patch("patchText"),
    "apply_patch": Patch("patchText"),
    "read": File(Action.FS_READ, "filePath"),
    "grep": Search("path"),
    "glob": Search("path", pattern="pattern"),
    "list": Search("path"),
    "webfetch": Fetch("url"),
}


class OpenCode:
    name = "opencode"
    processes = frozenset({"opencode", "opencode.exe"})
    tools = TOOLS
    denial = Denial("", "", 2)
    native = ""
    hook_seconds = 600
    honours_exit_2 = True

    def read(self, payload: str) -> HookCall:
        data = read.parse_object(payload)
        event = read.name_member(data, "hook_event_name")
        if event != EVENT:
            raise FrameError(f"expected the hook event {EVENT!r}, found {event!r:.60}")
        return HookCall(
            agent=self.name,
            session=read.name_member(data, "session_id"),
            cwd=read.folder_member(data, "cwd"),
            tool=read.name_member(data, "tool_name"),
            input=read.object_member(data, "tool_input"),
            tool_use_id=read.optional_text(data, "tool_use_id"),
        )

    def answer(self, outcome: Outcome) -> HookAnswer:
        return HookAnswer() if outcome.allowed else denied(self.denial, denial_text(outcome))


def plugin_text(client: Path) -> str:
    """The plugin's source; it asks the client at that path."""
    return _PLUGIN % {"client": json.dumps(str(client))}

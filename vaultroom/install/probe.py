"""The must-deny probe: start an installed hook as its agent would, and see that the answer is a deny.

The payload asks to run a program that does not exist and that a built-in rule always denies. Whatever
happens, nothing is executed but the hook.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from vaultroom.install.files import read_text

PROBE_PROGRAM: Final = "vaultroom-doctor-probe"
PROBE_RULE: Final = "builtin:doctor-probe"
SECONDS: Final = 30.0
_LONGEST: Final = 1 << 20

_SHELL_TOOLS: Final = {
    "claude": ("PreToolUse", "Bash"),
    "codex": ("PreToolUse", "Bash"),
    "gemini": ("BeforeTool", "run_shell_command"),
    "opencode": ("tool.execute.before", "bash"),
}
_PLUGIN_CLIENT: Final = re.compile(r'^const CLIENT = (".*")$', re.MULTILINE)
_DRIVER: Final = """\
import { Vaultroom } from %(plugin)s
const payload = JSON.parse(%(payload)s)
const hooks = await Vaultroom({ directory: payload.cwd })
try {
  await hooks["tool.execute.before"](
    { tool: payload.tool_name, sessionID: payload.session_id, callID: payload.tool_use_id },
    { args: payload.tool_input },
  )
} catch (error) {
  console.error(error.message)
  process.exit(2)
}
"""


class Held(StrEnum):
    """How a channel answered."""

    DENIED = "denied"
    """By the host, under the probe's own rule."""
    REFUSED = "refused"
    """A deny, but not by the host: nothing passes, and nothing works either."""
    OPEN = "open"
    """No deny in the words that the agent listens to: the call would run."""


@dataclass(frozen=True, slots=True)
class Answer:
    held: Held
    said: str
    """What the hook said, for people; not made visible yet."""


def payload(agent: str, cwd: str) -> str:
    """What the agent would write to its hook for one shell call, one line."""
    event, tool = _SHELL_TOOLS[agent]
    value = {
        "session_id": "vaultroom-doctor",
        "transcript_path": "",
        "cwd": cwd,
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": {"command": PROBE_PROGRAM, "description": "the probe of vaultroom doctor"},
        "tool_use_id": "vaultroom-doctor-probe",
    }
    if agent == "gemini":
        value["timestamp"] = "1970-01-01T00:00:00.000Z"
    return json.dumps(value)


def commands_in(agent: str, settings: Path, hooks_folder: Path) -> tuple[str, ...]:
    """The hook commands in an agent's settings that start a client of ours, as they stand there.

    For opencode the plugin's own path. Raises VaultroomError for an unreadable file, ValueError (a broken
    one).
    """
    text = read_text(settings)
    if text is None:
        return ()
    if agent == "opencode":
        return (str(settings),) if _PLUGIN_CLIENT.search(text) else ()
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    found = []
    for entry in _list(_object(settings_of(agent, text).get("hooks")).get(event)):
        for hook in _list(_object(entry).get("hooks")):
            command = _object(hook).get("command")
            if isinstance(command, str) and str(hooks_folder) in command:
                found.append(command)
    return tuple(found)


def settings_of(agent: str, text: str) -> dict[str, Any]:
    """The settings as the agent reads them. Raises ValueError."""
    if agent == "codex":
        from vaultroom.install import toml_text

        return toml_text.parse(text)
    return _object(json.loads(text))


def client_of(agent: str, command: str, hooks_folder: Path) -> Path:
    """The client that a hook command starts."""
    if agent == "opencode":
        found = _PLUGIN_CLIENT.search(read_text(Path(command)) or "")
        return Path(json.loads(found.group(1))) if found else hooks_folder / agent
    return hooks_folder / agent


def ask(
    agent: str, command: str, *, cwd: str, environ: Mapping[str, str], seconds: float = SECONDS
) -> Answer:
    """Start the hook as the agent does and judge its answer by what that agent listens to."""
    with tempfile.TemporaryDirectory(prefix="vaultroom-doctor-") as folder:
        argv = _argv(agent, command, folder, payload(agent, cwd))
        return judge(agent, *_run(argv, payload(agent, cwd), cwd, environ, seconds))


def judge(agent: str, code: int | None, out: str, err: str) -> Answer:
    """What an exit code and output mean to the agent. `code` is None after a timeout."""
    said = " ".join((err or out).split())[:300]
    if code is None:
        return Answer(Held.OPEN, "it did not answer in time, and silence lets the call run")
    denied = code == 2 or (code == 0 and _says_deny(agent, out)) or (agent == "opencode" and code != 0)
    if not denied:
        return Answer(Held.OPEN, said or f"it ended with {code} and said nothing")
    return Answer(Held.DENIED if PROBE_RULE in f"{out}{err}" else Held.REFUSED, said or f"exit code {code}")


def _says_deny(agent: str, out: str) -> bool:
    try:
        value = _object(json.loads(out))
    except ValueError:
        return False
    if agent == "gemini":
        return value.get("decision") in ("deny", "block")
    return _object(value.get("hookSpecificOutput")).get("permissionDecision") == "deny"


def _argv(agent: str, command: str, folder: str, text: str) -> Sequence[str]:
    if agent != "opencode":
        return ["/bin/sh", "-c", command]
    node = shutil.which("node") or shutil.which("bun")
    if node is None:
        return [str(client_of(agent, command, Path()))]
    plugin = Path(folder, "plugin.mjs")
    plugin.write_text(read_text(Path(command)) or "", "utf-8")
    driver = Path(folder, "driver.mjs")
    words = {"plugin": json.dumps(str(plugin)), "payload": json.dumps(text)}
    driver.write_text(_DRIVER % words, "utf-8")
    return [node, str(driver)]


def _run(
    argv: Sequence[str], text: str, cwd: str, environ: Mapping[str, str], seconds: float
) -> tuple[int | None, str, str]:
    """Exit code, stdout and stderr; the code is None after `seconds`. Its process group is ended then."""
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return 127, "", f"{argv[0]}: {error.strerror or error}"
    with process:
        try:
            out, err = process.communicate(text.encode("utf-8") + b"\n", timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, "", ""
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return code, _text(out), _text(err)


def _text(data: bytes) -> str:
    return data[:_LONGEST].decode("utf-8", "replace")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

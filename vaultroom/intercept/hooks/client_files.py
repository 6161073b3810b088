"""Install the thin hook client of one agent, below the home's `hooks` folder.

The script carries the paths of its sockets and the deny in its agent's words, so that it needs neither this
package nor the environment.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import Any

from vaultroom.errors import VaultroomError
from vaultroom.intercept.hooks.known import ADAPTERS
from vaultroom.intercept.hooks.opencode import plugin_text
from vaultroom.intercept.thin_code import (
    base_interpreter,
    client_code,
    client_source,
    first_lines,
    last_resort,
    loader,
)
from vaultroom.paths import Home, require_private
from vaultroom.thin import hook_client

COMPILED_NAME = ".hook_client.bin"
SOURCE_NAME = ".hook_client.py"
PLUGIN_NAME = "opencode.js"

CLIENT_MARGIN = 3
"""Seconds before the agent's limit at which the client answers by itself."""
HOST_MARGIN = 2
"""Seconds before the client's at which the host answers."""
_SHORTEST = 10


def client_path(home: Home, agent: str) -> Path:
    """Where the agent's client lies."""
    return home.hooks / agent


def marker_path(home: Home, agent: str) -> Path:
    """The file that says `native` where `hooks.without_host` is so."""
    return home.hooks / f"{agent}.without-host"


def write_client(
    home: Home,
    agent: str,
    *,
    session_socket: Path | None = None,
    timeout: int | None = None,
    native: bool = False,
) -> Path:
    """Write (or renew) the agent's client; gives its path.

    `session_socket` is asked whatever the environment says. `timeout` is the hook's limit in seconds as it
    stands in the agent's settings; without it the agent's own. `native`: with no host the question goes to
    the agent's own prompt. Raises VaultroomError for an unknown agent, OSError where it cannot be written.
    """
    arguments = client_arguments(home, agent, session_socket=session_socket, timeout=timeout)
    folder = home.hooks
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    require_private(folder)
    _replace(folder / COMPILED_NAME, client_code(hook_client), 0o400)
    _replace(folder / SOURCE_NAME, client_source(hook_client), 0o400)
    marker = marker_path(home, agent)
    if native:
        _replace(marker, b"native\n", 0o400)
    else:
        marker.unlink(missing_ok=True)
    path = client_path(home, agent)
    _replace(path, _script(folder, agent, arguments), 0o500)
    return path


def remove_clients(home: Home) -> None:
    """Remove all that `write_client` and `write_plugin` wrote."""
    for agent in ADAPTERS:
        client_path(home, agent).unlink(missing_ok=True)
        marker_path(home, agent).unlink(missing_ok=True)
    for name in (COMPILED_NAME, SOURCE_NAME, PLUGIN_NAME):
        (home.hooks / name).unlink(missing_ok=True)


def hook_command(path: Path, agent: str) -> str:
    """The shell command for the agent's settings: where the program is missing, it denies too."""
    command = shlex.quote(str(path))
    return f"{command} || exit 2" if ADAPTERS[agent].honours_exit_2 else command


def client_arguments(
    home: Home, agent: str, *, session_socket: Path | None = None, timeout: int | None = None
) -> dict[str, Any]:
    """The keyword arguments of `hook_client.main` for this agent. Raises VaultroomError."""
    adapter = ADAPTERS.get(agent)
    if adapter is None:
        raise VaultroomError(f"expected an agent of {', '.join(ADAPTERS)}, found {agent!r}")
    limit = adapter.hook_seconds if timeout is None else timeout
    if limit < _SHORTEST:
        raise VaultroomError(f"expected a hook timeout of at least {_SHORTEST} seconds, found {limit}")
    denial = adapter.denial
    return {
        "intake": os.fsencode(home.intake_socket),
        "run": os.fsencode(home.run),
        "session": os.fsencode(session_socket) if session_socket else b"",
        "seconds": limit - CLIENT_MARGIN,
        "margin": HOST_MARGIN,
        "denial": (denial.before, denial.behind, denial.code),
        "native_marker": os.fsencode(marker_path(home, agent)),
        "native": adapter.native,
    }


def _script(folder: Path, agent: str, arguments: dict[str, Any]) -> bytes:
    words = ", ".join([repr(agent), *(f"{name}={value!r}" for name, value in arguments.items())])
    body = loader(hook_client, folder / COMPILED_NAME, folder / SOURCE_NAME, words)
    before, behind, code = arguments["denial"]
    said = "vaultroom: denied: its hook cannot start. Install it again with: vaultroom init"
    body += last_resort(said, code, f'{before}"{said}"{behind}\n' if before else "")
    return first_lines(base_interpreter()) + body.encode("ascii", "backslashreplace")


def _replace(target: Path, content: bytes, mode: int) -> None:
    """Write in one step, so that no agent ever starts half a client."""
    handle, fresh = tempfile.mkstemp(prefix=".fresh-", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            os.fchmod(handle, mode)
        os.replace(fresh, target)
    except BaseException:
        os.unlink(fresh)
        raise


def write_plugin(home: Home) -> Path:
    """Write opencode's plugin, which starts the client; its configuration links or names this file."""
    path = home.hooks / PLUGIN_NAME
    _replace(path, plugin_text(client_path(home, "opencode")).encode("utf-8"), 0o400)
    return path

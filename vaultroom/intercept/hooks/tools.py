"""What agents' own tools do: their arguments → facets.

Each kind of tool is one small class; an agent's adapter names its tools and their arguments. A tool that is
in no table is an mcp.tool act with all its arguments: never ignored. File and network tools have an
fs.* or net.egress facet that is judged on its own, and an mcp.tool facet that counts where a rule names it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from vaultroom.errors import FrameError
from vaultroom.events import Action, Facet
from vaultroom.intercept.hooks.addresses import Address, address_of, addresses_in
from vaultroom.intercept.hooks.patches import patched_files
from vaultroom.intercept.hooks.payload import shown, text_member
from vaultroom.intercept.hooks.shell_text import shell_facets
from vaultroom.shell import FileView

Arguments = Mapping[str, Any]

LONGEST_PATH = 4096
"""Bytes that the kernel takes."""
MOST_PATHS = 10_000
_GLOB_CHARACTERS = frozenset("*?[{")


class Tool(Protocol):
    """One kind of tool."""

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        """At least one primary facet. Raises FrameError for arguments that make no sense."""
        ...

    def raw(self, arguments: Arguments) -> str:
        """The whole command line, for a shell tool."""
        ...


class _Plain:
    def raw(self, arguments: Arguments) -> str:
        return ""


class Shell:
    """Runs a command line, in `folder` where the call names one."""

    def __init__(self, command: str, folder: tuple[str, ...] = ()) -> None:
        self._command = command
        self._folder = folder

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        folder = _first_text(arguments, self._folder)
        where = resolved(folder, cwd=cwd, view=view) if folder else cwd
        return shell_facets(self.raw(arguments), cwd=where, view=view)

    def raw(self, arguments: Arguments) -> str:
        return text_member(arguments, self._command, where="the tool's input")


class File(_Plain):
    """Reads or writes the one file that the first of `names` found says."""

    def __init__(self, action: Action, *names: str) -> None:
        self._action = action
        self._names = names

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        path = _needed_text(arguments, self._names)
        return (Facet(action=self._action, path=resolved(path, cwd=cwd, view=view), cwd=cwd),)


class Files(_Plain):
    """Reads a list of files or globs."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        listed = next((arguments[name] for name in self._names if arguments.get(name) is not None), None)
        if not isinstance(listed, list) or not 0 < len(listed) <= MOST_PATHS:
            raise FrameError(
                f"expected {self._names[0]!r} to list 1 to {MOST_PATHS} paths, found {shown(listed)}"
            )
        return tuple(_searched(_as_path(entry), cwd=cwd, view=view) for entry in listed)


class Search(_Plain):
    """Reads everything below a folder: the call's, else the working directory."""

    def __init__(self, *names: str, pattern: str = "") -> None:
        self._names = names
        self._pattern = pattern

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        base = resolved(_first_text(arguments, self._names) or cwd, cwd=cwd, view=view)
        pattern = _first_text(arguments, (self._pattern,)) if self._pattern else ""
        if pattern:
            return (_searched(pattern, cwd=base, view=view),)
        return (Facet(action=Action.FS_READ, path=base, cwd=cwd, recursive=True),)


class Patch(_Plain):
    """Applies a patch to any number of files."""

    def __init__(self, name: str) -> None:
        self._name = name

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        files = patched_files(text_member(arguments, self._name, where="the tool's input"))
        return tuple(
            Facet(action=file.action, path=resolved(file.path, cwd=cwd, view=view), cwd=cwd) for file in files
        )


class Fetch(_Plain):
    """Fetches one URL."""

    def __init__(self, name: str) -> None:
        self._name = name

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        return (_egress(address_of(text_member(arguments, self._name, where="the tool's input")), cwd),)


class Addresses(_Plain):
    """Fetches the URLs that stand in a text."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def facets(self, arguments: Arguments, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
        found = addresses_in(_needed_text(arguments, self._names))
        if not found:
            raise FrameError(f"expected a URL in {self._names[0]!r}, found none")
        return tuple(_egress(address, cwd) for address in found)


@dataclass(frozen=True, slots=True)
class ToolAct:
    """What one tool call does: its facets, the first of them primary, and a shell tool's whole line."""

    facets: tuple[Facet, ...]
    raw: str = ""


def tool_act(
    tools: Mapping[str, Tool], name: str, server: str, arguments: Arguments, *, cwd: str, view: FileView
) -> ToolAct:
    """The act of the tool `name`; `server` is the MCP server that it belongs to, or empty.

    Raises FrameError for arguments that make no sense, and for a known tool's name in other letters.
    """
    call = Facet(action=Action.MCP_TOOL, server=server, tool=name, tool_args=arguments, cwd=cwd)
    known = None if server else tools.get(name)
    if known is None:
        if not server:
            _no_look_alike(name, tools)
        return ToolAct((call,))
    facets = known.facets(arguments, cwd=cwd, view=view)
    raw = known.raw(arguments)
    if raw:
        return ToolAct(facets, raw)
    own = tuple(replace(facet, tool=name, tool_args=arguments) for facet in facets)
    return ToolAct((*own, replace(call, derived=True, parent=0)))


def resolved(path: str, *, cwd: str, view: FileView) -> str:
    """A path as the kernel would see it, links followed: what a tool opens. Raises FrameError."""
    if "\0" in path:
        raise FrameError("expected a path without NUL characters")
    if len(path.encode("utf-8", "surrogateescape")) > LONGEST_PATH:
        raise FrameError(f"expected a path of at most {LONGEST_PATH} bytes")
    if path == "~" or path.startswith("~/"):
        raise FrameError(
            f"expected a path that is written out, since not every tool reads ~ alike, found {path!r:.80}"
        )
    return view.realpath(posixpath.join(cwd, path))


def _searched(pattern: str, *, cwd: str, view: FileView) -> Facet:
    """The folder that a glob can reach: everything below its fixed beginning."""
    fixed = pattern
    first = next((index for index, char in enumerate(pattern) if char in _GLOB_CHARACTERS), None)
    if first is not None:
        fixed = pattern[:first].rpartition("/")[0] or ("/" if pattern.startswith("/") else ".")
        if ".." in pattern[first:].replace("\\", "/").split("/"):
            raise FrameError(f"expected a glob without .. behind its first star, found {pattern!r:.80}")
    path = resolved(fixed, cwd=cwd, view=view)
    return Facet(action=Action.FS_READ, path=path, cwd=cwd, recursive=first is not None or view.is_dir(path))


def _egress(address: Address, cwd: str) -> Facet:
    return Facet(action=Action.NET_EGRESS, host=address.host, port=address.port, cwd=cwd)


def _first_text(arguments: Arguments, names: tuple[str, ...]) -> str:
    """The first argument of these that is there; empty where none is. Raises FrameError for no text."""
    for name in names:
        if arguments.get(name) not in (None, ""):
            return text_member(arguments, name, where="the tool's input")
    return ""


def _needed_text(arguments: Arguments, names: tuple[str, ...]) -> str:
    present = [name for name in names if arguments.get(name) is not None]
    if len(present) > 1:
        raise FrameError(f"expected one of {' and '.join(map(repr, present))}, found both")
    return text_member(arguments, (present or names)[0], where="the tool's input")


def _as_path(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise FrameError(f"expected a path, found {shown(value)}")
    return value


def _no_look_alike(name: str, tools: Mapping[str, Tool]) -> None:
    plain = name.strip().casefold()
    twin = next((known for known in tools if known.casefold() == plain), None)
    if twin is not None:
        raise FrameError(f"expected the tool's name as the agent writes it, {twin!r}, found {name!r:.80}")

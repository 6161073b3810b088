"""What a command is foreseen to do, in one line of text: for tables of expectations.

`!` stands first when the command is opaque; then `r:`, `w:` and `d:` with a path (`/**` where it is meant
with everything below), `n:` with a host and its port.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from vaultroom.events import Action
from vaultroom.shell import FileView, NoFiles, command_facets

_LETTERS = {Action.FS_READ: "r", Action.FS_WRITE: "w", Action.FS_DELETE: "d"}


def foreseen(line: str, *, cwd: str = "/w", home: str = "/h", view: FileView | None = None) -> str:
    """The effects of one plain command line, blank-separated."""
    primary, *derived = command_facets(shlex.split(line), cwd=cwd, view=view or NoFiles(), home=home)
    found = ["!"] if primary.opaque else []
    for facet in derived:
        if facet.action is Action.NET_EGRESS:
            found.append(f"n:{facet.host}:{facet.port}")
        else:
            below = "/**" if facet.recursive else ""
            found.append(f"{_LETTERS[facet.action]}:{facet.path}{below}")
    return " ".join(found)


def snapshot(tree: Path) -> dict[str, object]:
    """Every path below `tree`, with what it is and holds."""
    return {
        str(path): f"link {path.readlink()}"
        if path.is_symlink()
        else "dir"
        if path.is_dir()
        else path.read_bytes()
        if path.is_file()
        else "special"
        for path in tree.rglob("*")
    }


def rows(text: str) -> list[tuple[str, str]]:
    """The lines of a table `command → effects`, as pairs."""
    pairs = (line.partition("→") for line in text.strip().splitlines())
    return [(command.strip(), effects.strip()) for command, _, effects in pairs]

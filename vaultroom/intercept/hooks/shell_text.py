"""A shell tool's command line → facets."""

from __future__ import annotations

from vaultroom.events import Action, Facet
from vaultroom.shell import FileView, command_facets, split_line


def shell_facets(text: str, *, cwd: str, view: FileView) -> tuple[Facet, ...]:
    """What the line would do. A line that is more than one plain command is one opaque facet."""
    argv = split_line(text)
    if argv is None:
        return (Facet(action=Action.SHELL_EXEC, cwd=cwd, opaque=True),)
    return command_facets(argv, cwd=cwd, view=view)

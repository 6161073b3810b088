"""One command → its facets: the command itself, and what it touches (design section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.events import Action, Facet
from vaultroom.shell.effects import PROGRAMS, effects_of
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.subcommand import subcommand


def command_facets(argv: Sequence[str], *, cwd: str, view: FileView, home: str = "") -> tuple[Facet, ...]:
    """The primary shell.exec facet of `argv`, then a derived facet for each path and host that it touches.

    `home` is the user's home folder; without it a command that means a file there is opaque.

    The primary facet is opaque when the command may touch more than its arguments tell. Raises ValueError
    for an empty `argv` or a `cwd` that is not absolute.
    """
    if not argv:
        raise ValueError("expected a command with at least its name, found an empty argv")
    if not cwd.startswith("/"):
        raise ValueError(f"expected an absolute working directory, found {cwd!r}")
    arguments = tuple(argv)
    cmd = program_name(arguments[0])
    word = subcommand(arguments)
    effects = effects_of(cmd, arguments, cwd=cwd, view=view, home=home)
    primary = Facet(
        action=Action.SHELL_EXEC,
        cmd=cmd,
        argv=arguments,
        subcommand=word,
        cwd=cwd,
        opaque=effects.opaque,
    )
    derived = (
        Facet(
            action=touch.action,
            cmd=cmd,
            argv=arguments,
            subcommand=word,
            path=touch.path,
            host=touch.host,
            port=touch.port,
            cwd=cwd,
            opaque=effects.opaque,
            recursive=touch.recursive,
            derived=True,
            parent=0,
        )
        for touch in effects.touches
    )
    return (primary, *derived)


def program_name(word: str) -> str:
    """The base name of argv[0]: `/bin/rm` → `rm`."""
    return word.rpartition("/")[2] or word


def needs_files(cmd: str) -> bool:
    """Whether facets of the program `cmd` look at the file system: then it is work for a thread."""
    return cmd in PROGRAMS

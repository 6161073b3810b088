"""Effects: what known programs do to files and hosts, one module for each family of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultroom.shell.effects import (
    archives,
    awk,
    compressors,
    connections,
    containers,
    creation,
    disks,
    files,
    find,
    git,
    packages,
    processes,
    readers,
    remote_shell,
    sed,
    transfers,
)
from vaultroom.shell.effects.touch import Analyse, Effects, Places, TooManyPaths, Touch
from vaultroom.shell.filesystem import FileView

MOST_ARGUMENTS = 10_000
"""Arguments of one command that are looked at; a longer command is opaque."""

_FAMILIES = (
    files,
    find,
    creation,
    readers,
    sed,
    awk,
    archives,
    compressors,
    transfers,
    connections,
    remote_shell,
    git,
    packages,
    disks,
    processes,
    containers,
)

PROGRAMS: Mapping[str, Analyse] = {
    name: analyse for family in _FAMILIES for name, analyse in family.PROGRAMS.items()
}
"""What is known about each program, by its base name."""


def effects_of(cmd: str, argv: Sequence[str], *, cwd: str, view: FileView, home: str = "") -> Effects:
    """What the program named `cmd` touches when it runs with `argv` in `cwd`, for a user with that home."""
    analyse = PROGRAMS.get(cmd)
    if analyse is None:
        return Effects()
    if len(argv) > MOST_ARGUMENTS:
        return Effects(opaque=True)
    places = Places(cwd, view, home=home)
    try:
        effects = analyse(argv, places)
    except TooManyPaths:
        return Effects(opaque=True)
    return Effects(tuple(dict.fromkeys(effects.touches)), effects.opaque or places.doubtful)


__all__ = ["MOST_ARGUMENTS", "PROGRAMS", "Effects", "Places", "Touch", "effects_of"]

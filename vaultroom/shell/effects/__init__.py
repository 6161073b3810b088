"""Effects: what known programs do to files, one module for each family of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultroom.shell.effects import files, find, git
from vaultroom.shell.effects.touch import Analyse, Effects, Places, TooManyPaths, Touch
from vaultroom.shell.filesystem import FileView

MOST_ARGUMENTS = 10_000
"""Arguments of one command that are looked at; a longer command is opaque."""

PROGRAMS: Mapping[str, Analyse] = files.PROGRAMS | find.PROGRAMS | git.PROGRAMS


def effects_of(cmd: str, argv: Sequence[str], *, cwd: str, view: FileView) -> Effects:
    """What the program named `cmd` touches when it runs with `argv` in `cwd`."""
    analyse = PROGRAMS.get(cmd)
    if analyse is None:
        return Effects()
    if len(argv) > MOST_ARGUMENTS:
        return Effects(opaque=True)
    places = Places(cwd, view)
    try:
        effects = analyse(argv, places)
    except TooManyPaths:
        return Effects(opaque=True)
    return Effects(tuple(dict.fromkeys(effects.touches)), effects.opaque or places.doubtful)


__all__ = ["MOST_ARGUMENTS", "PROGRAMS", "Effects", "Places", "Touch", "effects_of"]

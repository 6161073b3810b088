"""Effects: what known programs do to files, one module for each family of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultroom.shell.effects import files, find, git
from vaultroom.shell.effects.touch import Analyse, Effects, Places, TooManyPaths, Touch
from vaultroom.shell.filesystem import FileView, NoFiles

MOST_ARGUMENTS = 10_000
"""Arguments of one command that are looked up; a longer one is taken as written, and opaque."""

MOST_WRITTEN = 400_000
"""Paths (long ones count as several) of one command that are taken as written."""

PROGRAMS: Mapping[str, Analyse] = files.PROGRAMS | find.PROGRAMS | git.PROGRAMS


def effects_of(cmd: str, argv: Sequence[str], *, cwd: str, view: FileView) -> Effects:
    """What the program named `cmd` touches when it runs with `argv` in `cwd`."""
    analyse = PROGRAMS.get(cmd)
    if analyse is None:
        return Effects()
    if len(argv) > MOST_ARGUMENTS:
        return _as_written(analyse, argv, cwd)
    places = Places(cwd, view)
    try:
        effects = analyse(argv, places)
    except TooManyPaths:
        return _as_written(analyse, argv, cwd)
    return Effects(tuple(dict.fromkeys(effects.touches)), effects.opaque or places.doubtful)


def _as_written(analyse: Analyse, argv: Sequence[str], cwd: str) -> Effects:
    """Too many paths to look up: what is written counts, so that a deny stays one; the rest is doubt.

    Raises ValueError where even that is too much.
    """
    try:
        effects = analyse(argv, Places(cwd, NoFiles(), most_look_ups=MOST_WRITTEN))
    except TooManyPaths:
        raise ValueError(f"expected a command that names at most {MOST_WRITTEN} paths") from None
    return Effects(tuple(dict.fromkeys(effects.touches)), opaque=True)


__all__ = ["MOST_ARGUMENTS", "PROGRAMS", "Effects", "Places", "Touch", "effects_of"]

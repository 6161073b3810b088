"""A command line → its facets: each command that it may run, and what each would do (design section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from vaultroom.events import Action, Facet
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.surroundings import Surroundings
from vaultroom.shell.walk import builtins, interpreters, shells, unwrap
from vaultroom.shell.walk.record import Record
from vaultroom.shell.walk.walker import Walker

HANDLED_BY = (builtins, interpreters, shells, unwrap)
"""The modules that know programs which run others: importing them fills the table of handlers."""


@dataclass(frozen=True, slots=True)
class LineFacets:
    """`facets`: each command a primary facet in the order in which they may run, its derived ones behind it.

    `notes` are (index of a primary facet, why it is opaque) in plain words.
    """

    facets: tuple[Facet, ...]
    notes: tuple[tuple[int, str], ...]


def line_facets(
    text: str, *, cwd: str, view: FileView, surroundings: Surroundings | None = None
) -> LineFacets:
    """What the shell line `text` would do in `cwd`. Never empty: a line that runs nothing has one facet.

    Raises ValueError if `cwd` is not absolute, and nothing else: what cannot be read is opaque.
    """
    if not cwd.startswith("/"):
        raise ValueError(f"expected an absolute working directory, found {cwd!r}")
    walker = Walker(view, surroundings or Surroundings(), cwd)
    walker.line(text)
    facets: list[Facet] = []
    notes: list[tuple[int, str]] = []
    for record in walker.records or [Record("", (), walker.start_folder)]:
        notes.extend((len(facets), reason) for reason in record.reasons)
        facets.extend(_facets_of(record, len(facets)))
    return LineFacets(tuple(facets), tuple(notes))


def _facets_of(record: Record, index: int) -> list[Facet]:
    opaque = bool(record.reasons)
    touches = list(dict.fromkeys(record.touches))
    if record.action is not Action.SHELL_EXEC and touches:
        touch = touches[0]
        return [
            Facet(
                action=touch.action,
                path=touch.path,
                host=touch.host,
                port=touch.port,
                cwd=record.folder.path,
                opaque=opaque,
                recursive=touch.recursive,
            )
        ]
    primary = Facet(
        action=Action.SHELL_EXEC,
        cmd=record.cmd,
        argv=record.argv,
        subcommand=record.subcommand,
        cwd=record.folder.path,
        opaque=opaque,
    )
    derived = [
        Facet(
            action=touch.action,
            cmd=record.cmd,
            argv=record.argv,
            subcommand=record.subcommand,
            path=touch.path,
            host=touch.host,
            port=touch.port,
            cwd=record.folder.path,
            opaque=opaque,
            recursive=touch.recursive,
            derived=True,
            parent=index,
        )
        for touch in touches
    ]
    return [primary, *derived]

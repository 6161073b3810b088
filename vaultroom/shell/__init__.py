"""A command line, and what each command in it would do. Pure: the file system is a view handed in."""

from vaultroom.shell.facets import command_facets, needs_files, program_name
from vaultroom.shell.filesystem import FileView, NoFiles, RealFiles
from vaultroom.shell.line import join_argv, split_line
from vaultroom.shell.line_facets import LineFacets, line_facets
from vaultroom.shell.subcommand import subcommand
from vaultroom.shell.surroundings import Surroundings

__all__ = [
    "FileView",
    "LineFacets",
    "NoFiles",
    "RealFiles",
    "Surroundings",
    "command_facets",
    "join_argv",
    "line_facets",
    "needs_files",
    "program_name",
    "split_line",
    "subcommand",
]

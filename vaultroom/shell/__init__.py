"""A command line, and what each command in it would do. Pure: the file system is a view handed in."""

from vaultroom.shell.facets import command_facets, needs_files, program_name
from vaultroom.shell.filesystem import FileView, NoFiles, RealFiles
from vaultroom.shell.line import join_argv, split_line
from vaultroom.shell.subcommand import subcommand

__all__ = [
    "FileView",
    "NoFiles",
    "RealFiles",
    "command_facets",
    "join_argv",
    "needs_files",
    "program_name",
    "split_line",
    "subcommand",
]

"""Text of a shell script → its syntax tree. Strict: what is not understood is an error, never a guess."""

from vaultroom.shell.syntax.limits import Limits, ShellSyntaxError
from vaultroom.shell.syntax.parser import Parser, parse

__all__ = ["Limits", "Parser", "ShellSyntaxError", "parse"]

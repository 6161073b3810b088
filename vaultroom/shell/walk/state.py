"""What is known at one point of a script: the working directory, variables, functions, aliases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from vaultroom.shell.surroundings import Surroundings
from vaultroom.shell.syntax.ast import Command
from vaultroom.shell.words import words

MOST_FOLDERS: Final = 4


class Unknown:
    """The type of UNKNOWN: a value that could be anything."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()

Value: TypeAlias = "str | tuple[str, ...] | Unknown | None"
"""A variable's value: text, an array, None when it is unset, UNKNOWN."""


class Folder(NamedTuple):
    """The working directory. `others` are where the shell may be instead (a `cd` that may have failed).

    With `known` False it may be anywhere; `path` is then only a guess.
    """

    path: str
    others: tuple[str, ...] = ()
    known: bool = True

    @property
    def is_certain(self) -> bool:
        return self.known and not self.others


class State:
    """Mutable; `fork` before a branch, `merge` after it."""

    __slots__ = (
        "aliases",
        "arguments",
        "expands_aliases",
        "folder",
        "functions",
        "locals",
        "path_is_changed",
        "previous",
        "split_is_changed",
        "stack",
        "surroundings",
        "variables",
    )

    def __init__(self, folder: Folder, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.folder = folder
        self.previous: Folder | None = None
        self.stack: tuple[Folder, ...] = ()
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, tuple[Command | None, ...]] = {}
        self.aliases: dict[str, str] = {}
        self.arguments: tuple[str, ...] | None = None
        self.locals: set[str] | None = None
        self.expands_aliases = surroundings.has_aliases
        self.path_is_changed = False
        self.split_is_changed = False

    def fork(self) -> State:
        """A copy that may go its own way."""
        copy = State.__new__(State)
        copy.surroundings = self.surroundings
        copy.folder = self.folder
        copy.previous = self.previous
        copy.stack = self.stack
        copy.variables = self.variables.copy()
        copy.functions = self.functions.copy()
        copy.aliases = self.aliases.copy()
        copy.arguments = self.arguments
        copy.locals = self.locals
        copy.expands_aliases = self.expands_aliases
        copy.path_is_changed = self.path_is_changed
        copy.split_is_changed = self.split_is_changed
        return copy

    def lookup(self, name: str) -> Value:
        """What `$name` is."""
        if name in self.variables:
            return self.variables[name]
        if name == "PWD":
            return self.folder.path if self.folder.is_certain else UNKNOWN
        if name == "OLDPWD" and self.previous is not None:
            return self.previous.path if self.previous.is_certain else UNKNOWN
        around = self.surroundings
        if name in around.variables:
            return around.variables[name]
        if name == "HOME" and around.home:
            return around.home
        if name == "IFS":
            return " \t\n"
        return None if around.is_complete and name not in _ALWAYS_SET else UNKNOWN

    def assign(self, name: str, value: Value) -> None:
        self.variables[name] = value
        if name == "PATH":
            self.path_is_changed = True
        elif name == "IFS":
            self.split_is_changed = True


_ALWAYS_SET: Final = words(
    "BASHPID BASH_COMMAND BASH_SUBSHELL BASH_VERSION BASH EPOCHSECONDS EPOCHREALTIME EUID GROUPS HOSTNAME"
    " HOSTTYPE LINENO MACHTYPE OLDPWD OPTIND OSTYPE PATH PIPESTATUS PPID RANDOM SECONDS SHELL SHELLOPTS"
    " SHLVL SRANDOM UID FUNCNAME DIRSTACK REPLY USER HOME TMPDIR _"
)


def merge(first: State | None, second: State | None) -> State | None:
    """What is known when either of two ways may have been taken; None is a way that ends."""
    if first is None or first is second:
        return second
    if second is None:
        return first
    merged = first.fork()
    merged.folder = merge_folders(first.folder, second.folder)
    if first.previous != second.previous:
        merged.previous = Folder(first.folder.path, (), False)
    if first.stack != second.stack:
        merged.stack = tuple(Folder(folder.path, (), False) for folder in (*first.stack, *second.stack))
    for name in _different(first.variables, second.variables):
        if first.lookup(name) != second.lookup(name):
            merged.variables[name] = UNKNOWN
    for name in _different(first.functions, second.functions):
        both = (*first.functions.get(name, (None,)), *second.functions.get(name, (None,)))
        merged.functions[name] = tuple(dict.fromkeys(both))[:4]
    merged.aliases = {**second.aliases, **first.aliases}
    if first.arguments != second.arguments:
        merged.arguments = None
    merged.expands_aliases = first.expands_aliases or second.expands_aliases
    merged.path_is_changed = first.path_is_changed or second.path_is_changed
    merged.split_is_changed = first.split_is_changed or second.split_is_changed
    return merged


def _different(first: Mapping[str, object], second: Mapping[str, object]) -> list[str]:
    if first == second:
        return []
    return [name for name in (*first, *second) if name not in first or first.get(name) != second.get(name)]


def merge_folders(first: Folder, second: Folder) -> Folder:
    """Either of two working directories."""
    if first == second:
        return first
    places = dict.fromkeys((first.path, *first.others, second.path, *second.others))
    path, *others = places
    known = first.known and second.known and len(others) < MOST_FOLDERS
    return Folder(path, tuple(others[:MOST_FOLDERS]), known)

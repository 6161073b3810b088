"""Touches: what one command does to one path, and how its operands become paths."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vaultroom.events import Action
from vaultroom.shell.filesystem import LONGEST_PATH, OWN_PROCESS, FileView, NoFiles

MOST_LOOK_UPS = 100_000
"""Look-ups for one command (a long path counts as several)."""
_OWN_PROCESS = tuple(f"{link}/" for link in OWN_PROCESS)
_OWN_DESCRIPTORS = tuple(f"{link}/fd/" for link in OWN_PROCESS)
_MOST_PROC_STEPS = 4


@dataclass(frozen=True, slots=True)
class Touch:
    """What happens to one path or one host.

    `action` happens to `path` (absolute, as the kernel would see it), and below it when `recursive`. With
    Action.NET_EGRESS there is no path but a `host`, and its `port` (0 where unknown).
    """

    action: Action
    path: str = ""
    recursive: bool = False
    host: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything a command touches. `opaque`: it may touch more than could be told from its arguments."""

    touches: tuple[Touch, ...] = ()
    opaque: bool = False


class TooManyPaths(Exception):
    """A command names more paths than anyone should look up while an agent waits."""


class Places:
    """Operands → paths, relative to one working directory.

    There are two ways in which a program reaches a path. `entry` is the directory entry itself, as `rm` and
    `rename` see it: a final symbolic link is not followed. `through` is what is behind it, as `open` sees
    it.

    `home` is the user's home folder, "" where it is not known.

    `doubtful` becomes true once an operand could not be looked up: too long, with a NUL, not encodable, or
    by way of a file descriptor of the process to be (`/proc/self/fd/3/x`).
    """

    def __init__(self, cwd: str, view: FileView, *, home: str = "") -> None:
        self.cwd = cwd
        self.home = home
        self.doubtful = False
        self._budget = MOST_LOOK_UPS
        self._view = view
        self._parents: dict[str, str] = {}

    def through(self, operand: str) -> str:
        """The path behind all links. Raises TooManyPaths."""
        return self._resolve(self._absolute(operand))

    def entry(self, operand: str) -> str:
        """The entry itself: links in the parent are followed, the last component is kept.

        With a trailing slash, or `.` or `..` at the end, the kernel follows the last component too.
        Raises TooManyPaths.
        """
        path = self._absolute(operand)
        head, _, last = path.rpartition("/")
        if last in ("", ".", ".."):
            return self._resolve(path)
        parent = self._parents.get(head)
        if parent is None:
            parent = self._parents[head] = self._resolve(head or "/")
        entry = posixpath.join(parent, last)
        if not _can_look_up(entry) or parent.startswith(_OWN_DESCRIPTORS):
            self.doubtful = True
        return entry

    def exists(self, operand: str) -> bool:
        """Whether the operand's entry is there, a dangling link included."""
        path = self.entry(operand)
        return _can_look_up(path) and self._view.lexists(path)

    def is_directory(self, operand: str) -> bool:
        """Whether a directory is behind the operand."""
        path = self.through(operand)
        return _can_look_up(path) and self._view.is_dir(path)

    def is_link(self, operand: str) -> bool:
        """Whether the operand's entry is a link (with a trailing slash it is already followed)."""
        path = self.entry(operand)
        return _can_look_up(path) and self._view.is_link(path)

    def may_be_tree(self, operand: str, *, follow: bool = False) -> bool:
        """Whether there may be more below the operand: a directory, or something that is not there yet."""
        path = self.through(operand) if follow else self.entry(operand)
        if not _can_look_up(path):
            return True
        if self._view.is_link(path):
            return False
        return self._view.is_dir(path) or not self._view.lexists(path)

    def _absolute(self, operand: str) -> str:
        path = posixpath.join(self.cwd, operand)
        self._budget -= 1 + len(path) // 64
        if self._budget < 0:
            raise TooManyPaths
        return path

    def _resolve(self, path: str) -> str:
        if not _can_look_up(path):
            self.doubtful = True
            return NoFiles().realpath(path)
        resolved = self._view.realpath(path)
        for _ in range(_MOST_PROC_STEPS):
            prefix = next((own for own in _OWN_PROCESS if resolved.startswith(own)), None)
            if prefix is None:
                return resolved
            step, _, rest = resolved.removeprefix(prefix).partition("/")
            if step not in ("cwd", "root"):
                if step == "task" or (step == "fd" and rest not in ("0", "1", "2")):
                    self.doubtful = True
                return resolved
            start = self.cwd if step == "cwd" else "/"
            resolved = self._view.realpath(posixpath.join(start, rest))
        self.doubtful = True
        return resolved


Analyse = Callable[[Sequence[str], Places], Effects]
"""What one family of programs does: argv (with argv[0]) and the places → effects."""


def basename(operand: str) -> str:
    """The last component of an operand, trailing slashes ignored, as `cp` and `mv` append it to a
    directory.
    """
    return operand.rstrip("/").rpartition("/")[2]


def inside(directory: str, name: str) -> str:
    """`name` below `directory`, as an operand: never absolute by accident, and no slash at the end."""
    return f"{directory.rstrip('/') or directory[:1]}/{name}" if name else directory


def _can_look_up(path: str) -> bool:
    if "\0" in path:
        return False
    try:
        return len(os.fsencode(path)) <= LONGEST_PATH
    except UnicodeEncodeError:
        return False

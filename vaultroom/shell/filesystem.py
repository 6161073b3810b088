"""The file system as the shell package sees it: a view that is handed in.

Judging an act must not depend on the machine that replays it, so everything below `vaultroom.shell` asks a
`FileView`. `RealFiles` is the only class here that looks at a disk; `NoFiles` knows nothing and serves
tests and replay.
"""

from __future__ import annotations

import os
import posixpath
from typing import Protocol

from vaultroom.shell.patterns import Pattern, is_magic, unescape

LONGEST_PATH = 4096
"""Bytes in a path that the kernel accepts (PATH_MAX); a longer one cannot be looked up."""

MOST_LINKS = 40
"""Symbolic links that the kernel follows in one look-up before it gives up."""

MOST_ENTRIES = 50_000
"""Directory entries that one glob may look at."""

OWN_PROCESS = ("/proc/self", "/proc/thread-self")
"""Links that mean the process that looks: never followed here, since that would be Vaultroom itself."""


class FileView(Protocol):
    """What effects need to know about files. Paths are absolute; no method raises OSError."""

    def realpath(self, path: str) -> str:
        """The absolute path behind all symbolic links, `..` removed after they are followed.

        What does not exist is kept as written; a dangling link gives its target.
        """
        ...

    def lexists(self, path: str) -> bool:
        """Whether there is an entry, a dangling link included."""
        ...

    def is_dir(self, path: str) -> bool:
        """Whether the path, links followed, is a directory."""
        ...

    def is_link(self, path: str) -> bool:
        """Whether the last component is a symbolic link."""
        ...

    def glob(self, pattern: str, limit: int) -> list[str] | None:
        """The absolute paths that an absolute shell pattern (`* ? [ ]`, `\\` escapes) matches, sorted.

        Names that begin with a dot match only a pattern that does. None when there are more than `limit`,
        or too many entries to look at.
        """
        ...


class RealFiles:
    """The machine's files. Each call is a handful of `lstat`s; run many of them off the event loop."""

    def realpath(self, path: str) -> str:
        """Like the kernel, at most 40 links; what lies behind more is kept as written (the kernel refuses
        it).

        `/proc/self` is not followed: here it would be Vaultroom's own process (see `Places`).
        """
        pending = path.split("/")[::-1]
        resolved = ""
        links = 0
        while pending:
            part = pending.pop()
            if part in ("", "."):
                continue
            if part == "..":
                resolved = resolved.rpartition("/")[0]
                continue
            resolved = f"{resolved}/{part}"
            if links > MOST_LINKS or resolved.startswith(OWN_PROCESS):
                continue
            try:
                target = os.readlink(resolved)
            except OSError:
                continue
            links += 1
            resolved = "" if target.startswith("/") else resolved.rpartition("/")[0]
            pending.extend(target.split("/")[::-1])
        return resolved or "/"

    def lexists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_link(self, path: str) -> bool:
        return os.path.islink(path)

    def glob(self, pattern: str, limit: int) -> list[str] | None:
        return _Globbing(limit).run(pattern)


class NoFiles:
    """A disk about which nothing is known: paths are only tidied, nothing exists."""

    def realpath(self, path: str) -> str:
        return "/" + posixpath.normpath(path).lstrip("/")

    def lexists(self, path: str) -> bool:
        return False

    def is_dir(self, path: str) -> bool:
        return False

    def is_link(self, path: str) -> bool:
        return False

    def glob(self, pattern: str, limit: int) -> list[str] | None:
        return []


class _TooMuch(Exception):
    """More matches, or more entries on the way, than wanted."""


class _Globbing:
    """One look at the disk for one pattern, component by component."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._looks = MOST_ENTRIES

    def run(self, pattern: str) -> list[str] | None:
        components = [part for part in pattern.split("/") if part]
        found = [""]
        try:
            for number, component in enumerate(components):
                is_last = number == len(components) - 1
                found = [path for base in found for path in self._step(base, component, is_last)]
                if is_last and len(found) > self._limit:
                    return None
        except _TooMuch:
            return None
        slash = "/" if pattern.endswith("/") else ""
        return sorted(path + slash for path in found if not slash or os.path.isdir(path))

    def _step(self, base: str, component: str, is_last: bool) -> list[str]:
        if not is_magic(component):
            path = f"{base}/{unescape(component)}"
            self._look()
            return [path] if _exists(path) else []
        matcher = Pattern(component)
        with_dots = component[0] == "." or component[:2] == "\\."
        found: list[str] = []
        try:
            with os.scandir(base or "/") as entries:
                for entry in entries:
                    self._look()
                    name = entry.name
                    if (name[0] != "." or with_dots) and matcher.matches(name):
                        if is_last or entry.is_dir():
                            found.append(f"{base}/{name}")
        except OSError:
            pass
        return found

    def _look(self) -> None:
        self._looks -= 1
        if self._looks < 0:
            raise _TooMuch


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:
        return False

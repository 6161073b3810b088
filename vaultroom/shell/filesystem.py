"""The file system as the shell package sees it: a view that is handed in.

Judging an act must not depend on the machine that replays it, so everything below `vaultroom.shell` asks a
`FileView`. `RealFiles` is the only class here that looks at a disk; `NoFiles` knows nothing and serves
tests and replay.
"""

from __future__ import annotations

import os
import posixpath
from typing import Protocol

LONGEST_PATH = 4096
"""Bytes in a path that the kernel accepts (PATH_MAX); a longer one cannot be looked up."""

MOST_LINKS = 40
"""Symbolic links that the kernel follows in one look-up before it gives up."""

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

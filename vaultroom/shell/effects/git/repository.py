"""Where a git command works: its directory, the work tree around it, and the repository's own files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import cached_property

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.touch import Places, TooManyPaths

_GLOB = "*?["
_DEEPEST = 64
"""Folders above the working directory in which a `.git` is looked for."""


class Repository:
    """The repository of one command, after `-C`, `--git-dir` and `--work-tree`. All paths are operands."""

    def __init__(self, options: Sequence[tuple[str, str]], places: Places) -> None:
        self.places = places
        self._tree: str | None = None
        self._own: str | None = None
        base = ""
        for name, value in options:
            if name == "-C" and value:
                base = posixpath.join(base, value)
            elif name == "--work-tree":
                self._tree = value
            elif name == "--git-dir":
                self._own = value
        self._start = base or "."

    @cached_property
    def base(self) -> str:
        """Where git works: with `--work-tree` that is the tree's root unless the directory lies in it."""
        if self._tree is not None:
            root = posixpath.join(self._start, self._tree)
            top, here = self.places.through(root), self.places.through(self._start)
            if here != top and not here.startswith(top.rstrip("/") + "/"):
                return root
        return self._start

    @cached_property
    def root(self) -> str:
        """The work tree's root: the nearest folder upward with a `.git`, else the working directory."""
        if self._tree is not None:
            return posixpath.join(self._start, self._tree)
        if self._own is not None:
            return self._start
        found = self._upward()
        return self.base if found is None else found

    @cached_property
    def own(self) -> str:
        """The repository's own folder, mostly `.git` in the root."""
        if self._own is not None:
            return posixpath.join(self._start, self._own)
        found = self._upward()
        return posixpath.join(self._start if found is None else found, ".git")

    def _upward(self) -> str | None:
        folder = self.places.through(self._start)
        for _ in range(_DEEPEST):
            if self.places.exists(posixpath.join(folder, ".git")):
                return folder
            if folder == "/":
                return None
            folder = posixpath.dirname(folder)
        raise TooManyPaths

    def at(self, operand: str) -> str:
        """An operand of the command, relative to where it works."""
        if not operand or self.base == ".":
            return operand
        return posixpath.join(self.base, operand)

    def ref(self, *names: str) -> str:
        """A file among the repository's own: `ref("refs/heads", "x")`."""
        name = posixpath.join(*(name.strip("/") for name in names))
        return posixpath.join(self.own, name)

    def spec(self, text: str, found: Found) -> str:
        """The path that a path spec stands for, or the folder under which its matches lie.

        `:/x` and `:(top)x` are relative to the root; other magic is a doubt and stands for the whole tree.
        """
        if text.startswith(":/"):
            return self._literal(self.root, text[2:] or ".")
        if text.startswith(":(top)"):
            return self._literal(self.root, text[6:] or ".")
        if text.startswith(":") or not text:
            found.doubt()
            return self.root
        return self._literal(self.base, text)

    def _literal(self, base: str, text: str) -> str:
        cut = min((text.find(mark) for mark in _GLOB if mark in text), default=len(text))
        if cut == len(text):
            return posixpath.join(base, text)
        return posixpath.join(base, text[:cut].rpartition("/")[0] or ("/" if text[0] == "/" else "."))


Command = Callable[[Sequence[str], Repository, Found], None]
"""What one subcommand does: its arguments, the repository, and where to put what is found."""

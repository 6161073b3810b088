"""Collecting what one command touches, in the words of its grammar."""

from __future__ import annotations

from collections.abc import Iterable

from vaultroom.events import Action
from vaultroom.shell.effects.hosts import Endpoint, endpoint, endpoint_of_url, is_url, split_url
from vaultroom.shell.effects.touch import Effects, Places, TooManyPaths, Touch

MOST_HOSTS = 1000
"""Connections of one command that are listed; one with more is opaque."""

STANDARD_STREAM = "-"
"""The operand that means standard input or output."""


class Found:
    """Touches as they are found. Empty operands are passed over: no file has an empty path.

    `deep` means "and everything below"; None asks the places whether there may be anything below.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.opaque = False
        self._hosts = 0
        self._touches: list[Touch] = []

    def effects(self) -> Effects:
        return Effects(tuple(self._touches), self.opaque)

    def add(self, effects: Effects) -> None:
        """What another analysis found."""
        self._touches += effects.touches
        self.opaque |= effects.opaque

    def doubt(self) -> None:
        """More may be touched than the arguments tell."""
        self.opaque = True

    def read(self, operand: str, deep: bool | None = False) -> None:
        """The contents behind the operand are read."""
        if operand:
            deep = self.places.may_be_tree(operand, follow=True) if deep is None else deep
            self._touches.append(Touch(Action.FS_READ, self.places.through(operand), deep))

    def read_all(self, operands: Iterable[str], deep: bool | None = False) -> None:
        for operand in operands:
            if operand != STANDARD_STREAM:
                self.read(operand, deep)

    def write(self, operand: str, deep: bool | None = False) -> None:
        """What is behind the operand is written."""
        if operand:
            deep = self.places.may_be_tree(operand, follow=True) if deep is None else deep
            self._touches.append(Touch(Action.FS_WRITE, self.places.through(operand), deep))

    def replace(self, operand: str, deep: bool = False) -> None:
        """Written, or replaced by a new file: then a final link does not lead elsewhere."""
        if operand:
            self.write(operand, deep)
            if self.places.is_link(operand):
                self._touches.append(Touch(Action.FS_WRITE, self.places.entry(operand), deep))

    def make(self, operand: str) -> None:
        """A new entry is made."""
        if operand:
            self._touches.append(Touch(Action.FS_WRITE, self.places.entry(operand)))

    def make_parents(self, operand: str) -> None:
        """The missing folders above the operand are made, as `mkdir -p` does."""
        parent = operand.rstrip("/").rpartition("/")[0].rstrip("/")
        while parent and not self.places.exists(parent):
            self.write(parent)
            parent = parent.rpartition("/")[0].rstrip("/")

    def delete(self, operand: str, deep: bool | None = None) -> None:
        """The entry is removed."""
        if operand:
            deep = self.places.may_be_tree(operand) if deep is None else deep
            self._touches.append(Touch(Action.FS_DELETE, self.places.entry(operand), deep))

    def delete_below(self, operand: str) -> None:
        """Everything below what is behind the operand may be removed."""
        if operand:
            self._touches.append(Touch(Action.FS_DELETE, self.places.through(operand), True))

    def at_home(self, name: str) -> str:
        """`name` in the user's home as an operand; "" and a doubt where the home is not known."""
        if not self.places.home:
            self.doubt()
            return ""
        return f"{self.places.home.rstrip('/')}/{name}"

    def connect(self, at: Endpoint | None) -> None:
        """A connection goes out. Without a host there is only a doubt. Raises TooManyPaths."""
        self._hosts += 1
        if self._hosts > MOST_HOSTS:
            raise TooManyPaths
        if at is None:
            self.doubt()
            return
        self.opaque |= at.doubtful
        self._touches.append(Touch(Action.NET_EGRESS, host=at.host, port=at.port))

    def host(self, text: str, port: int = 0) -> None:
        """`host` or `host:port`, perhaps with a user."""
        if text:
            self.connect(endpoint(text, port))

    def url(self, text: str, port: int = 0) -> None:
        """A URL, its scheme optional; `file:` URLs are read."""
        if not text:
            return
        if text.lower().startswith("file:"):
            path = split_url(text).path if is_url(text) else text[5:]
            self.opaque |= "%" in path or not path
            self.read(path)
            return
        self.connect(endpoint_of_url(text, port))

"""Single paths → touches, for every working directory that is possible."""

from __future__ import annotations

from collections.abc import Iterator

from vaultroom.events import Action
from vaultroom.shell.effects import Places, Touch
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.walk.state import Folder


def touches_of_path(
    view: FileView, folder: Folder, action: Action, path: str, *, recursive: bool = False
) -> Iterator[Touch]:
    """`action` on what is behind `path`."""
    for cwd in (folder.path, *folder.others):
        yield Touch(action, Places(cwd, view).through(path), recursive)
        if path.startswith("/"):
            return

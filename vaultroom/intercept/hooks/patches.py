"""Which files an `apply_patch` text touches.

The programs that apply such patches trim the lines they look for headers in, so every line that could be a
header counts as one: a file too many is a facet too many, never one too few.
"""

from __future__ import annotations

from typing import NamedTuple

from vaultroom.errors import FrameError
from vaultroom.events import Action

MOST_FILES = 10_000

_BEGIN = "*** Begin Patch"
_OTHERS = (_BEGIN, "*** End Patch", "*** End of File", "*** Environment ID: ")
_HEADERS = {
    "*** Add File: ": Action.FS_WRITE,
    "*** Update File: ": Action.FS_WRITE,
    "*** Delete File: ": Action.FS_DELETE,
    "*** Move to: ": Action.FS_WRITE,
}


class PatchedFile(NamedTuple):
    action: Action
    path: str


def patched_files(text: str) -> tuple[PatchedFile, ...]:
    """Each file of the patch as it is written there, in order; a moved one is deleted where it was.

    Raises FrameError for a text that is no such patch, or has a header that is not known.
    """
    found: list[PatchedFile] = []
    updated = ""
    begun = False
    for line in text.split("\n"):
        header = line.strip()
        if not header.startswith("*** "):
            continue
        begun = begun or header == _BEGIN
        name = next((name for name in _HEADERS if header.startswith(name)), None)
        if name is None:
            if line.startswith("*** ") and not header.startswith(_OTHERS):
                raise FrameError(f"expected a header of a patch, found {header!r:.80}")
            continue
        path = header.removeprefix(name).strip()
        if not path:
            raise FrameError(f"expected a path behind {name.strip()!r} in the patch")
        if name == "*** Move to: " and updated:
            found.append(PatchedFile(Action.FS_DELETE, updated))
        updated = path if name == "*** Update File: " else ""
        found.append(PatchedFile(_HEADERS[name], path))
        if len(found) > MOST_FILES:
            raise FrameError(f"expected at most {MOST_FILES} files in the patch, found more")
    if not begun or not found:
        raise FrameError("expected a patch with '*** Begin Patch' and at least one file")
    return tuple(dict.fromkeys(found))

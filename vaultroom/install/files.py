"""Reading and writing settings files: bounded, in one step, with the mode that they had."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from vaultroom.errors import VaultroomError

LARGEST: Final = 8 << 20


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a regular file of at most 8 MiB, through links; None where there is none.

    Raises VaultroomError for anything else.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if os.path.islink(path):
            raise VaultroomError(f"expected a file at {path}, found a link that leads nowhere") from None
        return None
    except OSError as error:
        raise VaultroomError(f"cannot read {path}: {error.strerror or error}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise VaultroomError(f"expected {path} to be a regular file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise VaultroomError(f"expected {path} to have at most {LARGEST} bytes")
    return data


def read_text(path: Path) -> str | None:
    """The text of a UTF-8 file, line ends as they are; None where there is none. Raises VaultroomError."""
    data = read_bytes(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VaultroomError(
            f"{path}:{line}: expected UTF-8, found the byte 0x{data[error.start]:02x}"
        ) from None


def write_atomically(path: Path, data: bytes, *, mode: int) -> None:
    """Replace the file that `path` leads to; a link stays a link. Its mode stays, else it gets `mode`.

    Raises OSError.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        pass
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def make_folders(folder: Path) -> tuple[Path, ...]:
    """Make `folder` and what it lies in; gives what had to be made, outermost first. Raises OSError."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.insert(0, folder)
        folder = folder.parent
    for made in missing:
        made.mkdir(mode=0o700)
    return tuple(missing)

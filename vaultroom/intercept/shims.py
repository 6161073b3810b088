"""Install the shims of one session: a folder of small scripts, to be put in front of PATH (specification
4.2).

Each script carries the compiled thin client and the session's socket path, so that it needs neither this
package nor the environment: an agent that clears or changes `VAULTROOM_SOCK` still asks its own host.
"""

from __future__ import annotations

import marshal
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultroom.paths import require_private
from vaultroom.thin import shim_client

COMPILED_NAME = ".shim_client.bin"
"""Beside the shims: the client's code, which they all load."""
SOURCE_NAME = ".shim_client.py"
"""The client's source, for an interpreter that was updated while the session ran."""
_LONGEST_SHEBANG = 127
"""Bytes of a first line that every kernel reads to its end."""
_FLAGS = "-ISXutf8"
"""Isolated, without site, and UTF-8 whatever the locale: arguments stay the bytes they were."""


@dataclass(frozen=True, slots=True)
class ShimReport:
    """`installed`: names with a shim now. `skipped`: names that are no program on PATH; worth a warning."""

    installed: tuple[str, ...]
    skipped: tuple[str, ...]


def install_shims(
    folder: Path, names: Sequence[str], *, socket: Path, shims_root: Path, path: str
) -> ShimReport:
    """Make `folder` hold exactly one shim for each of `names` that is a program on `path`.

    `folder` must lie below `shims_root`, and nothing else may live there. A second call with the same
    arguments changes nothing; a shim is replaced in one step, never seen half-written. Raises ValueError
    for a name that cannot be a program's, PermissionError where the folder is somebody else's, OSError
    where it cannot be written.
    """
    wanted = [_checked(name) for name in dict.fromkeys(names)]
    if shims_root.resolve() not in folder.resolve().parents:
        raise ValueError(f"expected a folder below {shims_root} for the shims, found {folder}")
    found = {name: _on_path(name, path, shims_root) for name in wanted}
    installed = tuple(name for name in wanted if found[name])
    script = shim_script(folder=folder, socket=socket, shims_root=shims_root)
    files = dict.fromkeys(installed, script) | {COMPILED_NAME: _client_code(), SOURCE_NAME: _client_source()}
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.path.lexists(folder):
        require_private(folder)
        _update(folder, files)
    else:
        _create(folder, files)
    return ShimReport(installed=installed, skipped=tuple(name for name in wanted if not found[name]))


def remove_shims(folder: Path) -> None:
    """Remove a session's shims; a folder that is not there is no error. A link is never followed."""
    if folder.is_symlink():
        raise ValueError(f"expected the shims' folder at {folder}, found a symbolic link")
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return


def shim_script(*, folder: Path, socket: Path, shims_root: Path, interpreter: str | None = None) -> bytes:
    """The text of a shim. It is the same for every program: the name it is called by says which.

    The client is read from a marshalled file in `folder`: measured, that starts faster than source in the
    script, than its code as a literal, and than an import (docs/shims.md).
    """
    arguments = f"socket={os.fsencode(socket)!r}, shims_root={os.fsencode(shims_root)!r}"
    body = f"""\
names = {{"__name__": "shim_client"}}
try:
    import marshal, posix, sys
    def read(path, size):
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        data = posix.read(file, size)
        posix.close(file)
        return data
    if sys.hexversion == {sys.hexversion}:
        exec(marshal.loads(read({os.fsencode(folder / COMPILED_NAME)!r}, {len(_client_code())})), names)
    else:
        exec(read({os.fsencode(folder / SOURCE_NAME)!r}, {len(_client_source())}), names)
    names["main"](sys.argv, {arguments})
except BaseException:
    import posix
    posix.write(2, b"vaultroom: policy check failed - refusing to run the command (fail closed)\\n")
finally:
    import posix
    posix._exit({shim_client.CHECK_FAILED})
"""
    return _first_lines(interpreter or base_interpreter()) + shim_client.MARKER + b"\n" + body.encode()


def base_interpreter() -> str:
    """The real interpreter behind a virtual environment: it starts faster, and outlives the environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _first_lines(interpreter: str) -> bytes:
    """A shebang, or a line of `sh` that Python reads as a string where the kernel could not read the
    shebang.
    """
    line = os.fsencode(f"#!{interpreter} {_FLAGS}\n")
    if len(line) <= _LONGEST_SHEBANG and not any(char.isspace() for char in interpreter):
        return line
    if any(char in "\"\\$`'\n" for char in interpreter):
        raise ValueError(f"expected an interpreter path without quotes or backslashes, found {interpreter!r}")
    return os.fsencode(f"#!/bin/sh\n'''exec' \"{interpreter}\" {_FLAGS} \"$0\" \"$@\"\n' '''\n")


def _client_source() -> bytes:
    return Path(shim_client.__file__).read_bytes()


def _client_code() -> bytes:
    code = compile(_client_source(), "<vaultroom shim>", "exec", dont_inherit=True, optimize=2)
    return marshal.dumps(code)


def _checked(name: str) -> str:
    if not name or name.startswith(".") or "/" in name or "\0" in name or len(os.fsencode(name)) > 255:
        raise ValueError(f"expected the bare name of a program for a shim, found {name!r}")
    return name


def _on_path(name: str, path: str, shims_root: Path) -> bool:
    root = shims_root.resolve()
    folders = [
        folder for folder in path.split(os.pathsep) if root not in Path(folder or ".").resolve().parents
    ]
    return shutil.which(name, path=os.pathsep.join(folders) or os.devnull) is not None


def _create(folder: Path, files: dict[str, bytes]) -> None:
    """The whole folder appears in one step."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, content in files.items():
            _write(fresh / name, content)
        os.rename(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _update(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        target = folder / name
        if _is_as_written(target, content):
            continue
        handle, fresh = tempfile.mkstemp(prefix=".fresh-", dir=folder)
        os.close(handle)
        os.unlink(fresh)
        _write(Path(fresh), content)
        os.replace(fresh, target)
    for entry in os.scandir(folder):
        if entry.name not in files:
            os.unlink(entry.path)


def _is_as_written(target: Path, content: bytes) -> bool:
    try:
        status = target.lstat()
        return status.st_mode == stat.S_IFREG | _mode(target) and target.read_bytes() == content
    except OSError:
        return False


def _mode(target: Path) -> int:
    return 0o400 if target.name in (COMPILED_NAME, SOURCE_NAME) else 0o500


def _write(target: Path, content: bytes) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:
        file.write(content)
        os.fchmod(handle, _mode(target))

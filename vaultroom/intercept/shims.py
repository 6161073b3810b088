"""Install the shims of one session: a folder of small scripts, to be put in front of PATH (specification
4.2).

Each script carries the compiled thin client and the session's socket path, so that it needs neither this
package nor the environment: an agent that clears or changes `VAULTROOM_SOCK` still asks its own host.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultroom.intercept.thin_code import (
    base_interpreter,
    client_code,
    client_source,
    first_lines,
    last_resort,
    loader,
)
from vaultroom.paths import require_private
from vaultroom.thin import shim_client

COMPILED_NAME = ".shim_client.bin"
"""Beside the shims: the client's code, which they all load."""
SOURCE_NAME = ".shim_client.py"
"""The client's source, for an interpreter that was updated while the session ran."""


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
    files = dict.fromkeys(installed, script) | {
        COMPILED_NAME: client_code(shim_client),
        SOURCE_NAME: client_source(shim_client),
    }
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
    body = loader(shim_client, folder / COMPILED_NAME, folder / SOURCE_NAME, f"sys.argv, {arguments}")
    failed = "vaultroom: policy check failed - refusing to run the command (fail closed)"
    body += last_resort(failed, shim_client.CHECK_FAILED)
    return first_lines(interpreter or base_interpreter()) + shim_client.MARKER + b"\n" + body.encode()


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

"""Which policy counts (design section 1), and which policies of work trees the user trusts.

A policy in a work tree may have been written by an agent or come with a stranger's repository. So it
counts only when the user approved exactly these bytes at this place.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vaultroom.errors import PolicyError
from vaultroom.paths import Home
from vaultroom.visible import visible

LOCAL_NAME: Final = "vaultroom.yaml"
_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ChosenPolicy:
    """The policy's file and its bytes, read once: what was trusted is what is loaded."""

    path: Path
    data: bytes


def choose_policy(
    wanted: str | None, *, home: Home, cwd: str, say: Callable[[str], None] = lambda line: None
) -> ChosenPolicy:
    """The policy for a session that starts in `cwd`; `wanted` is what `--policy` or `--config` names.

    An untrusted `./vaultroom.yaml` is passed over; `say` is told that, line by line. Raises PolicyError
    when there is none, or it cannot be read.
    """
    if wanted is not None:
        path = Path(cwd, wanted)
        return ChosenPolicy(path, read_policy(path))
    local = Path(cwd, LOCAL_NAME)
    if _exists(local):
        data = read_policy(local)
        if is_trusted(home, local, data, say):
            return ChosenPolicy(local, data)
        say(f"vaultroom: {_shown(local)} is not used, since nobody approved it")
        say(f"  Read it, then approve it with: vaultroom policy trust {LOCAL_NAME}")
    if _exists(home.user_policy):
        return ChosenPolicy(home.user_policy, read_policy(home.user_policy))
    raise PolicyError(
        f"expected a policy, found neither an approved {_shown(local)} nor {_shown(home.user_policy)}",
        advice=f"Write one and approve it: vaultroom policy trust {LOCAL_NAME}   or name one: --policy FILE",
    )


def read_policy(path: Path) -> bytes:
    """The bytes of a regular file of at most 1 MiB. Raises PolicyError, naming the file."""
    try:
        # Non-blocking, so that a FIFO in a work tree cannot hold the command.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PolicyError(f"cannot read the policy {_shown(path)}: {reason}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PolicyError(f"expected the policy {_shown(path)} to be a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise PolicyError(f"expected the policy {_shown(path)} to have at most {_LARGEST} bytes")
    return data


def is_trusted(home: Home, path: Path, data: bytes, say: Callable[[str], None] = lambda line: None) -> bool:
    """Whether the user approved these bytes at this place."""
    return (_digest(data), os.path.realpath(path)) in _trusted(home, say)


def trust_policy(home: Home, path: Path, data: bytes) -> None:
    """Approve these bytes at this place; an older approval of the same place ends.

    Raises OSError when the list cannot be written.
    """
    place = os.path.realpath(path)
    if "\n" in place or "\r" in place:
        raise PolicyError(f"expected a path on one line, found {_shown(path)}")
    kept = [entry for entry in _trusted(home, lambda line: None) if entry[1] != place]
    lines = [f"{digest}  {name}\n" for digest, name in [*kept, (_digest(data), place)]]
    home.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_atomically(home.trusted_policies, "".join(lines).encode("utf-8", "surrogateescape"))


def _trusted(home: Home, say: Callable[[str], None]) -> list[tuple[str, str]]:
    """(SHA-256, path) of every approved policy. A list that others may write approves nothing."""
    try:
        with open(home.trusted_policies, "rb") as file:
            found = os.fstat(file.fileno())
            if os.name == "posix" and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
                say(f"vaultroom: {_shown(home.trusted_policies)} is not used, since others may write it")
                return []
            text = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    pairs = (line.partition("  ") for line in text.split("\n") if line)
    return [(digest, place) for digest, _, place in pairs if place]


def _write_atomically(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _shown(path: Path) -> str:
    return visible(str(path))

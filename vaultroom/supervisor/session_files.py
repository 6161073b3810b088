"""What the next host must know to take over a session whose host was lost.

One small JSON file for each open session in the home's `sessions` folder, written before the child
starts and removed when the session closes. The log holds everything else.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from vaultroom import platform

Wanted = TypeVar("Wanted")

_LARGEST = 1024 * 1024
_TEXTS = ("id", "agent_name", "cwd", "home", "path", "policy_hash", "policy_name", "audit_db")


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """One process, named for good: a pid alone may be used again. `start` is platform.start_time()."""

    pid: int = 0
    start: str = ""

    @classmethod
    def of(cls, pid: int) -> ProcessMark:
        return cls(pid=pid, start=platform.start_time(pid) or "")

    def alive(self) -> bool:
        return self.pid > 0 and bool(self.start) and platform.start_time(self.pid) == self.start


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session as it was opened. `policy_hash` finds the policy's text in the log at `audit_db`."""

    id: str
    agent_name: str
    agent_command: tuple[str, ...]
    cwd: str
    home: str
    path: str
    policy_hash: str
    policy_name: str
    audit_db: str
    runner: ProcessMark
    child: ProcessMark = ProcessMark()
    environ: Mapping[str, str] = field(default_factory=dict)
    """The variables that the policy's paths name, as they were when the session was opened."""
    brand: int = 0
    """The limit that marks its processes (platform.brand_of), 0 without one."""

    def alive(self) -> bool:
        """Whether its child, or the runner that would tell of the child's end, still lives."""
        return self.child.alive() or self.runner.alive()


class SessionFiles:
    """The folder of session files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, session: SessionFile) -> None:
        """Write the file atomically. Raises OSError: without it the session must not start."""
        target = self._folder / f"{session.id}.json"
        temporary = target.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(asdict(session), file, ensure_ascii=True)
        os.replace(temporary, target)

    def remove(self, session_id: str) -> None:
        with contextlib.suppress(OSError):
            (self._folder / f"{session_id}.json").unlink()

    def __iter__(self) -> Iterator[SessionFile]:
        """Every readable session file; a broken one is skipped (its session is sealed as lost)."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                session = _parse(_read(path))
            except (OSError, ValueError, TypeError, KeyError, RecursionError):
                continue
            if session.id == path.stem:
                yield session


def _read(path: Path) -> str:
    """The text of a regular file of a sane size. Raises OSError or ValueError for anything else."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"expected a regular file at {path}")
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"expected at most {_LARGEST} bytes in {path}")
    return data.decode("utf-8")


def _parse(text: str) -> SessionFile:
    data = json.loads(text)
    texts = {name: _of_type(data[name], str) for name in _TEXTS}
    return SessionFile(
        **texts,
        agent_command=tuple(_of_type(word, str) for word in _of_type(data["agent_command"], list)),
        environ={
            _of_type(name, str): _of_type(value, str)
            for name, value in _of_type(data["environ"], dict).items()
        },
        brand=_of_type(data["brand"], int),
        runner=_mark(data["runner"]),
        child=_mark(data["child"]),
    )


def _mark(data: Any) -> ProcessMark:
    return ProcessMark(pid=_of_type(data["pid"], int), start=_of_type(data["start"], str))


def _of_type(value: Any, wanted: type[Wanted]) -> Wanted:
    if type(value) is not wanted:
        raise TypeError(f"expected a {wanted.__name__}, found a {type(value).__name__}")
    return value

"""What the next host must know to take over a session whose host was lost.

One small JSON file for each open session in the home's `sessions` folder, written before the child
starts and removed when the session closes. The log holds everything else.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from vaultroom import platform


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
    """A session as it was opened. `policy_hash` finds the policy's text in the log at `audit_db`.

    `intake` is the key of a session that an agent's own hooks opened, and empty for one that was run here.
    """

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
    intake: str = ""

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
        """Every readable session file; a broken one is skipped (its session stays unsealed)."""
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                data = json.loads(path.read_text("utf-8"))
                yield SessionFile(
                    **{
                        **data,
                        "agent_command": tuple(data["agent_command"]),
                        "runner": ProcessMark(**data["runner"]),
                        "child": ProcessMark(**data["child"]),
                    }
                )

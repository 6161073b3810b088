"""A throw-away world: VAULTROOM_HOME, HOME and a work folder below one temporary folder.

Programs run as a user would run them: the real command line in its own process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from vaultroom.paths import find_home
from vaultroom.supervisor.session_files import SessionFiles

VAULTROOM = str(Path(sys.executable).with_name("vaultroom"))
WAIT_SECONDS = 20.0

Result = TypeVar("Result")

POLICY = """\
version: 1
defaults: {action: allow, approval_timeout: 30s}
rules:
  - name: "block-rm"
    match: {action: [shell.exec], cel: 'event.cmd == "rm"'}
    effect: deny
    message: "Ask a person to delete files."
  - name: "git-push-ask"
    match: {action: [shell.exec], cel: 'event.cmd == "git" && event.subcommand == "push"'}
    effect: require_approval
shims:
  binaries: [rm, git, cat]
"""


@dataclass
class World:
    """One test's world. `close()` ends every process that it started."""

    root: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for folder in (self.home, self.user, self.work):
            folder.mkdir(parents=True)
        self.write_policy(POLICY)

    @property
    def home(self) -> Path:
        return self.root / "vault"

    @property
    def user(self) -> Path:
        return self.root / "user"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def run_folder(self) -> Path:
        return find_home({"VAULTROOM_HOME": str(self.home)}).run

    def host(self) -> subprocess.Popen[str]:
        """A headless host that answers."""
        daemon = self.start("daemon")
        wait_for(self.is_hosted, "the host")
        return daemon

    def is_hosted(self) -> bool:
        return self.call("approve", "list").stderr.startswith("Nothing waits for")

    @property
    def db(self) -> Path:
        return self.home / "audit.db"

    def write_policy(self, text: str) -> Path:
        path = self.home / "policy.yaml"
        path.write_text(text)
        return path

    def script(self, text: str, name: str = "agent.sh") -> Path:
        path = self.work / name
        path.write_text(text)
        return path

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        return {
            **kept,
            "PATH": f"{Path(VAULTROOM).parent}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "HOME": str(self.user),
            "VAULTROOM_HOME": str(self.home),
            "TERM": "dumb",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_TERMINAL_PROMPT": "0",
            **(more or {}),
        }

    def start(
        self, *arguments: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start `vaultroom ARGUMENTS` without a terminal, in a session of its own."""
        process = subprocess.Popen(
            [VAULTROOM, *arguments],
            env=self.environ(environ),
            cwd=cwd or self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def call(
        self, *arguments: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `vaultroom ARGUMENTS` to its end."""
        process = self.start(*arguments, environ=environ, cwd=cwd)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.call("approve", "list", "--json").stdout)["requests"]
        return found

    def one_request(self) -> dict[str, Any]:
        return wait_for(lambda: next(iter(self.requests()), None), "a waiting request")

    def rows(self, where: str = "1") -> list[tuple[Any, ...]]:
        """seq, action, verdict, rule_name, final_effect, approved_by, payload of matching rows."""
        import sqlite3

        connection = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)
        try:
            return connection.execute(
                "SELECT seq, action, verdict, rule_name, final_effect, approved_by, payload FROM events "
                f"WHERE {where} ORDER BY rowid"
            ).fetchall()
        finally:
            connection.close()

    def close(self) -> None:
        """End everything that was started here, agents of killed runners included."""
        agents = {mark.pid for session in SessionFiles(self.home / "sessions") for mark in (session.child,)}
        for process in self.started:
            if process.poll() is None:
                _kill_group(process)
        for pid in agents - {0}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        for process in self.started:
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.wait()


def wait_for(look: Callable[[], Result | None], what: str, seconds: float = WAIT_SECONDS) -> Result:
    """Look again and again until there is something. Fails the test after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def _kill_group(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue

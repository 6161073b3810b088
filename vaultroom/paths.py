"""Where things lie. Every path of one home comes from here.

Without `VAULTROOM_HOME` the folders are the platform's (platformdirs); with it all of them lie under
that folder. A home is one user's Vaultroom: one host, one log, one set of keys.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SOCKET_PATH_LIMIT = 100
"""Bytes that a Unix socket's path may have with some room left (the kernel's bound is 107)."""


@dataclass(frozen=True)
class Home:
    """The folders of one home. Nothing is created before `prepare()`."""

    config: Path
    data: Path
    run: Path

    @property
    def user_policy(self) -> Path:
        return self.config / "policy.yaml"

    @property
    def settings(self) -> Path:
        return self.config / "settings.yaml"

    @property
    def trusted_policies(self) -> Path:
        """Hashes of policies that the user approved with `vaultroom policy trust`."""
        return self.config / "trusted-policies"

    @property
    def audit_db(self) -> Path:
        return self.data / "audit.db"

    @property
    def keys(self) -> Path:
        return self.data / "keys"

    @property
    def shims(self) -> Path:
        """The root of the per-session shim folders."""
        return self.data / "shims"

    @property
    def hooks(self) -> Path:
        """The thin clients that agents' hooks start."""
        return self.data / "hooks"

    @property
    def sessions(self) -> Path:
        """One file for each session that may still live, so that the next host can take it over."""
        return self.data / "sessions"

    @property
    def lock(self) -> Path:
        return self.run / "host.lock"

    @property
    def control_socket(self) -> Path:
        return self.run / "control.sock"

    @property
    def intake_socket(self) -> Path:
        """Where the hooks of agents ask that were not started by `vaultroom run`."""
        return self.run / "intake.sock"

    def session_socket(self, session_id: str) -> Path:
        return self.run / f"{session_id}.sock"

    def prepare(self) -> None:
        """Create the folders, readable by the user alone.

        Raises PermissionError where one of them belongs to somebody else.
        """
        for folder in (self.config, self.data, self.run, self.keys, self.shims, self.sessions):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.data, self.run, self.keys, self.shims, self.sessions):
            require_private(folder)


def require_private(folder: Path) -> None:
    """Make sure that `folder` is the user's own and closed to others (mode 0700)."""
    if sys.platform == "win32":
        return
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"expected a folder at {folder}, found something else")
    if found.st_uid != os.geteuid():
        raise PermissionError(
            f"expected {folder} to belong to user {os.geteuid()}, it belongs to user {found.st_uid}"
        )
    if found.st_mode & 0o077:
        folder.chmod(0o700)


def find_home(environ: dict[str, str] | None = None) -> Home:
    """The home that the environment names: `VAULTROOM_HOME`, else the platform's folders."""
    env = os.environ if environ is None else environ
    root = env.get("VAULTROOM_HOME")
    if root:
        base = Path(os.path.abspath(os.path.expanduser(root)))
        home = Home(config=base, data=base, run=base / "run")
    else:
        import platformdirs

        name = "vaultroom"
        data = Path(platformdirs.user_data_dir(name))
        # Without a session's own runtime folder the fallback would be a shared one: the data folder is ours.
        has_runtime = sys.platform != "linux" or bool(env.get("XDG_RUNTIME_DIR"))
        home = Home(
            config=Path(platformdirs.user_config_dir(name)),
            data=data,
            run=Path(platformdirs.user_runtime_dir(name)) if has_runtime else data / "run",
        )
    return Home(config=home.config, data=home.data, run=_short_run(home.run))


def _short_run(run: Path) -> Path:
    """`run`, or a short folder in its place where socket paths below it would be too long."""
    longest = len(os.fsencode(run)) + len("/01234567890123456789012345.sock")
    if longest <= _SOCKET_PATH_LIMIT or sys.platform == "win32":
        return run
    digest = hashlib.sha256(os.fsencode(run)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"vaultroom-{os.geteuid()}-{digest}"

"""What `vaultroom doctor` looks at, in order. The probes run in the host that is open, or in one of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vaultroom.cli.exit_codes import Exit
from vaultroom.errors import VaultroomError

if TYPE_CHECKING:
    from vaultroom.cli.joining import Joined
    from vaultroom.install.agents import FoundAgent
    from vaultroom.install.health import Check
    from vaultroom.paths import Home

_LARGEST_LOG: Final = 256 << 20
"""Bytes; a larger log is left to `vaultroom verify`."""
_RUN: Final = (sys.executable, "-m", "vaultroom", "run")
_SHIM_SECONDS: Final = 60.0


def all_checks(home: Home, agents: Sequence[FoundAgent], config: str | None) -> Iterator[Check]:
    from vaultroom.install.health import Check, State, check_folders

    yield _check_program()
    yield _check_policy(home, config)
    is_open = _is_open(home)
    # A host refuses what descends from it, so the session is tried before we host ourselves.
    shims = tuple(_check_shims(home, config))
    joined = None
    try:
        joined = _join(home, config)
    except (VaultroomError, OSError) as error:
        text = f"none answers, and none can be opened: {error}"
        yield Check("host", State.BROKEN, text, getattr(error, "advice", "") or "see the other lines")
    try:
        if joined is not None:
            yield _host_check(is_open=is_open)
        yield check_folders(home)
        yield _check_log(home, config)
        yield from shims
        if joined is not None:
            yield from _check_hooks(home, agents)
    finally:
        if joined is not None:
            joined.control.close()
            if joined.host is not None:
                joined.host.close()


def _host_check(*, is_open: bool) -> Check:
    from vaultroom.install.health import Check, State

    if is_open:
        return Check("host", State.OK, "a room or daemon is open")
    text = "none was open; guarded agents are refused until `vaultroom` is started"
    return Check("host", State.NOTE, text)


def _check_hooks(home: Home, agents: Sequence[FoundAgent]) -> Iterator[Check]:
    from vaultroom.install.health import Check, State, check_hook, codex_trust

    hooks = 0
    with tempfile.TemporaryDirectory(prefix="vaultroom-doctor-") as folder:
        for agent in agents:
            check = check_hook(agent, home, cwd=folder, environ=_clean_environment())
            if check is None:
                continue
            hooks += 1
            yield check
            if agent.name == "codex":
                yield codex_trust(agent.settings)
    if not hooks:
        yield Check("hooks", State.NOTE, "none is installed", "vaultroom init")


def _is_open(home: Home) -> bool:
    from vaultroom.control.remote import RemoteControl

    try:
        RemoteControl(home.control_socket).close()
    except VaultroomError:
        return False
    return True


def _check_program() -> Check:
    import shutil

    from vaultroom.install.health import Check, State

    found = shutil.which("vaultroom")
    own = Path(sys.executable).with_name("vaultroom")
    if found is None:
        return Check("program", State.NOTE, "vaultroom is not on PATH", f"add {own.parent} to PATH")
    if own.exists() and os.path.realpath(found) != os.path.realpath(own):
        text = f"{found} comes first on PATH; this is {own}"
        return Check("program", State.NOTE, text, "take one of the two off PATH")
    return Check("program", State.OK, found)


def _check_policy(home: Home, config: str | None) -> Check:
    from vaultroom.cli.choose_policy import choose_policy
    from vaultroom.cli.starting import load_chosen
    from vaultroom.install.health import Check, State
    from vaultroom.policy.finding import Severity

    try:
        chosen = choose_policy(config, home=home, cwd=os.getcwd())
        policy = load_chosen(chosen, os.environ)
    except VaultroomError as error:
        fix = "vaultroom policy check" if os.path.lexists(home.user_policy) else "vaultroom init"
        return Check("policy", State.BROKEN, error.message, fix)
    warnings = sum(finding.severity is Severity.WARNING for finding in policy.findings)
    rules = f"{len(policy.rules)} rules"
    if warnings:
        text = f"{chosen.path}, {rules}, {warnings} warnings"
        return Check("policy", State.NOTE, text, "vaultroom policy check")
    return Check("policy", State.OK, f"{chosen.path}, {rules}")


def _check_log(home: Home, config: str | None) -> Check:
    from vaultroom.audit.verify import verify
    from vaultroom.cli.starting import log_of_user
    from vaultroom.install.health import Check, State
    from vaultroom.signing import install_public_key

    try:
        path = log_of_user(config, home)
    except VaultroomError:
        path = home.audit_db
    if not path.exists():
        return Check("log", State.NOTE, "it begins with the first session")
    if path.stat().st_size > _LARGEST_LOG:
        return Check("log", State.NOTE, f"{path} is too large for a quick look", "vaultroom verify")
    try:
        report = verify(path, install_public_key(home.keys))
    except VaultroomError as error:
        return Check("log", State.BROKEN, error.message, error.advice or "vaultroom verify")
    counted = f"{len(report.sessions)} sessions, {report.rows} rows"
    if report.tampered:
        return Check("log", State.BROKEN, f"it was tampered with: {counted}", "vaultroom verify")
    if not report.complete:
        return Check("log", State.NOTE, f"not all could be checked: {counted}", "vaultroom verify")
    return Check("log", State.OK, f"valid, {counted}")


def _join(home: Home, config: str | None) -> Joined:
    from vaultroom.cli.joining import join_or_host
    from vaultroom.cli.starting import log_of_user

    try:
        audit_db = log_of_user(config, home)
    except VaultroomError:
        audit_db = home.audit_db
    return join_or_host(home, audit_db)


def _check_shims(home: Home, config: str | None) -> Iterator[Check]:
    """Run the shim of a program of ours in a real session, and look where PATH leads."""
    with tempfile.TemporaryDirectory(prefix="vaultroom-doctor-") as folder:
        yield from _try_shim(Path(folder), home, config, _clean_environment())


def _try_shim(folder: Path, home: Home, config: str | None, environ: Mapping[str, str]) -> Iterator[Check]:
    from vaultroom.gate.protect import DOCTOR_PROBE
    from vaultroom.gate.protected_commands import DOCTOR_PROBE_PROGRAM
    from vaultroom.install.health import Check, State

    name = DOCTOR_PROBE_PROGRAM
    programs = folder / "bin"
    programs.mkdir()
    (programs / name).write_text("#!/bin/sh\necho ran\n")
    (programs / name).chmod(0o755)
    policy = folder / "policy.yaml"
    policy.write_text(_probe_policy(home, config), "utf-8")
    script = f'command -v {name}; "${{SHELL:-sh}}" -lc "command -v {name}" </dev/null 2>/dev/null; {name}'
    try:
        result = subprocess.run(
            [*_RUN, "--policy", str(policy), "--agent", "doctor", "--", "/bin/sh", "-c", script],
            cwd=folder,
            env={**environ, "PATH": f"{programs}{os.pathsep}{environ.get('PATH', os.defpath)}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SHIM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield Check(
            "shims", State.BROKEN, f"no answer within {_SHIM_SECONDS:.0f} seconds", "vaultroom verify"
        )
        return
    said = " ".join(result.stderr.split())[:300]
    places = [line for line in result.stdout.splitlines() if line.startswith("/")]
    if "ran" in result.stdout.splitlines():
        yield Check("shims", State.OPEN, f"the probe ran: {said}", "see that nothing changes PATH in ENV")
        return
    if result.returncode != Exit.DENIED or DOCTOR_PROBE not in result.stderr:
        yield Check("shims", State.BROKEN, f"no session could be tried: {said}", "vaultroom run -- true")
        return
    yield Check("shims", State.OK, "denied the probe in a session of its own")
    if len(places) > 1 and not _is_below(places[1], home.shims):
        yield Check(
            "PATH",
            State.NOTE,
            "a login shell puts other folders before the shims; agents that start one pass them by",
            "let your shell's profile add to PATH behind what is there; codex: -c allow_login_shell=false",
        )
    else:
        yield Check("PATH", State.OK, "the shims come first, in a login shell too")


def _probe_policy(home: Home, config: str | None) -> str:
    """A policy that allows everything, writing to the log that the host writes to."""
    import json

    from vaultroom.cli.starting import log_of_user
    from vaultroom.gate.protected_commands import DOCTOR_PROBE_PROGRAM

    try:
        audit_db = log_of_user(config, home)
    except VaultroomError:
        audit_db = home.audit_db
    return (
        "version: 1\ndefaults: {action: allow}\n"
        "rules: [{name: nothing, match: {tool: no-such-tool}, effect: deny}]\n"
        f"shims: {{binaries: [{DOCTOR_PROBE_PROGRAM}]}}\n"
        f"audit: {{path: {json.dumps(str(audit_db))}}}\n"
    )


def _is_below(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _clean_environment() -> dict[str, str]:
    """Ours without what belongs to a session: the probes are no part of one."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("VAULTROOM_SESSION", "VAULTROOM_SOCK")
    }

"""What an allowed shim costs end to end: a real host, policy, gate and log, against a bare interpreter.

Interleaved in one run. The commit's own cost is measured beside it and taken off, since it is the disk's.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from tests.perf.policy_perf import mixed_policy_text
from vaultroom.control.local import LocalControl
from vaultroom.control.protocol import SessionStart
from vaultroom.events import Effect, Event, Verdict
from vaultroom.intercept.thin_code import base_interpreter
from vaultroom.paths import find_home
from vaultroom.supervisor.host import Host

ROUNDS = 80


def measure() -> list[tuple[str, str]]:
    """(what, figure) pairs."""
    with tempfile.TemporaryDirectory(prefix="vp") as root:
        home = find_home({"VAULTROOM_HOME": root})
        host = Host.open(home, home.audit_db)
        if host is None:
            raise RuntimeError("a fresh home has a host already")
        try:
            return _measure(host, Path(root))
        finally:
            host.close()


def _measure(host: Host, root: Path) -> list[tuple[str, str]]:
    control = LocalControl(host)
    grant = control.open_session(
        SessionStart(
            agent_name="perf",
            agent_command=("perf",),
            cwd=str(root),
            policy=(mixed_policy_text(default="allow") + "shims: {binaries: ['true']}\n").encode(),
            policy_name="mixed.yaml",
            path="/usr/bin:/bin",
            home="/home/dev",
        )
    )
    shim = str(root / "shims" / grant.id / "true")
    environ = {**grant.environ, "LC_ALL": "C.UTF-8"}
    bare: list[float] = []
    shimmed: list[float] = []
    commits: list[float] = []
    for _ in range(ROUNDS):
        bare.append(_seconds([base_interpreter(), "-I", "-S", "-c", "pass"], environ))
        shimmed.append(_seconds([shim], environ))
        commits.append(_commit_seconds(host, grant.id))
    control.close_session(grant.id, 0)
    base, whole, commit = (statistics.median(times) for times in (bare, shimmed, commits))
    return [
        ("bare python -I -S -c pass", _figure(bare)),
        (
            "shim through host, 100-rule policy, gate and log",
            f"{_figure(shimmed)}, {whole / base:.2f} × bare",
        ),
        ("the commit alone, from the host's loop", _figure(commits)),
        (
            "shim without the commit",
            f"median {(whole - commit) * 1e3:.1f} ms, {(whole - commit) / base:.2f} × bare",
        ),
        ("added by Vaultroom, commit included", f"median {(whole - base) * 1e3:.1f} ms"),
    ]


def _commit_seconds(host: Host, session_id: str) -> float:
    async def commit() -> float:
        from tests.kit.events import shell
        from vaultroom.audit.record import act_entry

        event: Event = shell("true", session_id=session_id)
        entry = act_entry(event, Verdict(Effect.ALLOW), policy_hash="")
        start = time.perf_counter()
        await host.supervisor.log.append(entry)
        return time.perf_counter() - start

    return host.call(commit())


def _seconds(argv: list[str], environ: dict[str, str]) -> float:
    start = time.perf_counter()
    child = os.posix_spawn(argv[0], argv, environ)
    _, status = os.waitpid(child, 0)
    taken = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{argv[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return taken


def _figure(times: list[float]) -> str:
    ordered = sorted(times)
    late = ordered[int(len(ordered) * 0.99)]
    return f"median {statistics.median(times) * 1e3:.1f} ms, p99 {late * 1e3:.1f} ms"

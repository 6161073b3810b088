"""What a hook costs: the installed client through the real host against a bare interpreter, interleaved."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.kit import hook_calls
from tests.kit.hooked_agents import home_of
from tests.kit.world import World
from vaultroom.intercept.hooks.client_files import write_client
from vaultroom.intercept.thin_code import base_interpreter

ROUNDS = 60
POLICY = "version: 1\ndefaults: {action: allow}\n"


def measure() -> list[tuple[str, str]]:
    """(what, figure) pairs: medians and 99th percentiles in milliseconds, and their ratio."""
    with tempfile.TemporaryDirectory(prefix="vh-") as folder:
        world = World(Path(folder) / "w")
        try:
            world.write_policy(POLICY)
            world.host()
            return _measure(world)
        finally:
            world.close()


def _measure(world: World) -> list[tuple[str, str]]:
    client = str(write_client(home_of(world), "claude"))
    command = hook_calls.command("claude", "git status", str(world.work))
    write = hook_calls.claude("Write", {"file_path": "f", "content": "x" * 20_000}, str(world.work))
    variants = {
        "bare python -I -S": ([base_interpreter(), "-I", "-S", "-c", "pass"], "{}"),
        "hook, git status": ([client], command),
        "hook, a write of 20 kB": ([client], write),
    }
    environ = world.environ()
    for argv, payload in variants.values():  # the first one opens the session
        _seconds(argv, payload, environ)
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(ROUNDS):
        for name, (argv, payload) in variants.items():
            times[name].append(_seconds(argv, payload, environ))
    bare = statistics.median(times["bare python -I -S"])
    return [(name, _figure(measured, bare)) for name, measured in times.items()]


def _figure(measured: list[float], bare: float) -> str:
    middle, late = statistics.median(measured), sorted(measured)[int(len(measured) * 0.99)]
    return f"median {middle * 1000:.1f} ms, p99 {late * 1000:.1f} ms, {middle / bare:.2f} × bare"


def _seconds(argv: list[str], payload: str, environ: dict[str, str]) -> float:
    now: Callable[[], float] = time.perf_counter
    with tempfile.TemporaryFile() as stdin:
        stdin.write(payload.encode())
        stdin.seek(0)
        start = now()
        child = os.posix_spawn(
            argv[0], argv, environ, file_actions=[(os.POSIX_SPAWN_DUP2, stdin.fileno(), 0)]
        )
        _, status = os.waitpid(child, 0)
        taken = now() - start
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), argv)
    return taken


if __name__ == "__main__":
    for name, figure in measure():
        print(f"{name:24} {figure}")

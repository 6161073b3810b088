"""What a shim costs: a shim that is allowed against a bare interpreter, interleaved in one run."""

from __future__ import annotations

import os
import statistics
import time

from tests.unit.thin.shim_host import shim_host
from vaultroom.intercept.thin_code import base_interpreter

ROUNDS = 60


def measure() -> list[tuple[str, str]]:
    """(what, figure) pairs: medians and 99th percentiles in milliseconds, and their ratio."""
    interpreter = base_interpreter()
    with shim_host() as host:
        host.install("true")
        shim = str(host.shims / "true")
        variants = {
            "bare python -I -S": ([interpreter, "-I", "-S", "-c", "pass"], host.environment()),
            "shim, allowed": ([shim], host.environment()),
            "the program alone": (["/bin/true"], host.environment()),
        }
        times: dict[str, list[float]] = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, (argv, env) in variants.items():
                times[name].append(_seconds(argv, env))
    bare = statistics.median(times["bare python -I -S"])
    figures = []
    for name, measured in times.items():
        middle = statistics.median(measured)
        late = sorted(measured)[int(len(measured) * 0.99)]
        figures.append(
            (name, f"median {middle * 1000:.1f} ms, p99 {late * 1000:.1f} ms, {middle / bare:.2f} × bare")
        )
    return figures


def _seconds(argv: list[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    child = os.posix_spawn(argv[0], argv, env)
    _, status = os.waitpid(child, 0)
    taken = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{argv[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return taken


if __name__ == "__main__":
    for name, figure in measure():
        print(f"{name:24} {figure}")

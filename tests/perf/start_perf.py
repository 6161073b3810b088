"""How long commands take to start, against a bare Python of the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

from tests.kit.world import VAULTROOM

ROUNDS = 25


def measure() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as home:
        environ = {"VAULTROOM_HOME": home, "PATH": "/usr/bin:/bin"}
        commands = {
            "bare": [sys.executable, "-c", "pass"],
            "list": [VAULTROOM, "approve", "list", "--json"],
            "help": [VAULTROOM, "--help"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                begin = time.perf_counter()
                subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
                times[name].append(time.perf_counter() - begin)
    median = {name: statistics.median(values) for name, values in times.items()}
    return [
        ("python -c pass", f"median {median['bare'] * 1e3:.1f} ms"),
        (
            "vaultroom approve list (no host)",
            f"median {median['list'] * 1e3:.1f} ms, {median['list'] / median['bare']:.1f} × bare Python",
        ),
        (
            "vaultroom --help",
            f"median {median['help'] * 1e3:.1f} ms, {median['help'] / median['bare']:.1f} × bare Python",
        ),
    ]

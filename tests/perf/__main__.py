"""`python -m tests.perf`: the figures, each a ratio or a rate taken in one run on this machine.

Nothing here asserts: timings on shared machines are noisy, ratios of one run are what counts. With names as
arguments only those groups run: `python -m tests.perf shim policy`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

GROUPS = {
    "shim": "tests.perf.shim_perf",
    "gate": "tests.perf.gate_perf",
    "shell": "tests.perf.shell_perf",
    "policy": "tests.perf.policy_perf",
    "audit": "tests.perf.audit_perf",
    "start": "tests.perf.start_perf",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        print(f"expected groups of {', '.join(GROUPS)}; found {', '.join(unknown)}", file=sys.stderr)
        return 2
    for name, module in GROUPS.items():
        if names and name not in names:
            continue
        measure: Callable[[], list[tuple[str, str]]] = importlib.import_module(module).measure
        print(f"\n{name}")
        for what, figure in measure():
            print(f"  {what:<62} {figure}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""How fast conditions are. `figures()` measures; run as a program it prints. Timings vary with the machine:
read ratios.
"""

import time
import timeit
from collections.abc import Callable

from vaultroom.policy.cel import compile_all, compile_program, zero_view

_MISSING = (
    'event.cmd in ["a{0}", "b{0}"] || event.argv.exists(a, a.startsWith("--zz{0}")) '
    '|| event.raw.matches("[|] *zsh{0}\\\\b")'
)


def figures() -> dict[str, float]:
    """Microseconds: one comparison, one evaluation that fails and is absorbed, a hundred conditions that all
    miss (`in || exists || matches`), and the compilation of one of those.
    """
    view = zero_view()
    view |= {"cmd": "git", "argv": ["git", "push", "origin", "main"], "raw": "git push origin main | tee log"}
    single = compile_program('event.cmd == "git"')
    absorbed = compile_program('event.tool_args.x == 1 || event.cmd == "git"')
    sources = [_MISSING.format(number) for number in range(100)]
    start = time.perf_counter()
    policy = compile_all(sources)
    compiled = (time.perf_counter() - start) / len(sources) * 1e6

    def hundred() -> None:
        fresh = dict(view)
        for program in policy:
            program.evaluate(fresh)

    return {
        "one comparison": _best(lambda: single.evaluate(view), 20_000),
        "absorbed error": _best(lambda: absorbed.evaluate(view), 5_000),
        "hundred misses": _best(hundred, 200),
        "compile one": compiled,
    }


def _best(action: Callable[[], object], times: int) -> float:
    return min(timeit.repeat(action, number=times, repeat=5)) / times * 1e6


if __name__ == "__main__":
    for name, microseconds in figures().items():
        print(f"{name:16}{microseconds:10.2f} µs")

"""How long reading a command line takes, its effects included: CPU time on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterable

from vaultroom.shell import FileView, NoFiles, RealFiles, Surroundings, line_facets

CWD = "/home/dev/proj"
AROUND = Surroundings(home="/home/dev")
LINES = (
    'cd /home/dev/proj && rm -rf build/ && git commit -m "fix it" > /tmp/log 2>&1 | tee out.txt; ls -la',
    'npm run build 2>&1 | tail -n 20 && echo "built $(date)" >> build.log || { echo "failed: $?"; exit 1; }',
    'for f in src/*.py; do grep -n "TODO" "$f"; done | sort | uniq -c | sort -rn | head -n 20 > todo.txt',
    'find . -name "*.pyc" -exec rm -f {} \\; ; git -C sub status --short && git diff --stat HEAD~1 -- src',
    'bash -c "cd x && make -j4 test" || echo "failed: $?" >&2; cat log/*.txt | sed -n "1,20p" | wc -l',
)
BOMBS = {
    "1 MB of rubbish": "a b;'" * 200_000,
    "brace bomb": "echo " + "{a,b}" * 40,
    "deep nesting": "$(" * 50_000,
    "60,000 commands": "a;" * 60_000,
    "doubling variables": "x=aaaaaaaaaa;" + "x=$x$x;" * 60 + "echo $x",
}
ROUNDS = 400


def timings(lines: Iterable[str], view: FileView) -> list[float]:
    """Microseconds of CPU for each line, sorted, after a warm-up."""
    spent = []
    for number, line in enumerate(lines):
        begun = time.thread_time_ns()
        line_facets(line, cwd=CWD, view=view, surroundings=AROUND)
        if number >= len(LINES):
            spent.append((time.thread_time_ns() - begun) / 1000)
    return sorted(spent)


def measure() -> list[tuple[str, str]]:
    """(what, figure) pairs."""
    figures = []
    for name, view in (("no files", NoFiles()), ("this disk", RealFiles())):
        spent = timings(LINES * ROUNDS, view)
        middle, high = spent[len(spent) // 2], spent[int(len(spent) * 0.99)]
        figures.append((f"a line of 100 characters, {name}: median / p99", f"{middle:.0f} / {high:.0f} µs"))
    script = "\n".join(LINES * 40)[:10_000]
    script = script[: script.rindex("\n")]
    best = min(timings([*LINES, *[script] * 5], NoFiles()))
    figures.append(("a script of 10 kB, best of 5", f"{best / 1000:.1f} ms"))
    for name, text in BOMBS.items():
        best = min(timings([*LINES, *[text] * 3], NoFiles()))
        figures.append((f"{name} refused, best of 3", f"{best / 1000:.1f} ms"))
    return figures


def main() -> None:
    for what, figure in measure():
        print(f"{what}: {figure}")


if __name__ == "__main__":
    main()

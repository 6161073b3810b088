"""How smooth the room is: the longest stall of its loop while the log grows by 2,000 rows a second.

Run as `python -m tests.perf.room_perf`. A heartbeat on the room's loop measures the stall; the rows are
written by another thread, plain INSERTs in the log's schema.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.tui.bench import THIRD, LogFile, busy_state, room
from vaultroom.tui.widgets.timeline import TimelineBody

ROWS_PER_SECOND = 2000
_BATCH = 100


def measure(seconds: float = 10.0) -> list[tuple[str, str]]:
    """Name and value of each figure."""
    worst, drawn, written = asyncio.run(_stall(seconds))
    quiet, _, _ = asyncio.run(_stall(min(seconds, 3.0), rate=0))
    bare, textual, first = _starts()
    return [
        ("room: longest stall, quiet log", f"{quiet * 1000:.0f} ms"),
        (f"room: longest stall, {ROWS_PER_SECOND:,} rows/s", f"{worst * 1000:.0f} ms"),
        ("room: rows written / counted on the screen", f"{written:,} / {drawn:,}"),
        ("room: import over bare Python", f"{textual / bare:.1f}×"),
        ("room: first paint over its import", f"{first / textual:.1f}×"),
    ]


async def _stall(seconds: float, rate: int = ROWS_PER_SECOND) -> tuple[float, int, int]:
    with tempfile.TemporaryDirectory() as folder:
        log = LogFile(Path(folder) / "audit.db")
        log.day(3)
        stopping = threading.Event()
        writer = threading.Thread(target=_write, args=(log, rate, stopping))
        async with room(busy_state(str(log.path)), size=(160, 48)) as bench:
            body = bench.screen.query_one(TimelineBody)
            await bench.until(lambda: len(body.lines) > 1, "the rows")
            await asyncio.sleep(0.5)
            bench.app.spare_the_collector()
            writer.start()
            worst = await _heartbeat(seconds, lambda: bench.control.push(bench.control.shown))
            stopping.set()
            writer.join()
            await asyncio.sleep(0.5)
            page = body.page
            drawn = page.count if page is not None else 0
        written = sum(log.seqs.values())
        log.close()
        return worst, drawn, written


async def _heartbeat(seconds: float, push: Callable[[], None]) -> float:
    worst, last = 0.0, time.perf_counter()
    end, next_push = last + seconds, last
    while last < end:
        await asyncio.sleep(0.002)
        now = time.perf_counter()
        worst, last = max(worst, now - last - 0.002), now
        if now >= next_push:
            push()
            next_push = now + 0.05
    return worst


def _write(log: LogFile, rate: int, stopping: threading.Event) -> None:
    row = ("shell.exec", "shim", {"cmd": "git", "raw": "git status --short"}, "allow", "tools", THIRD, None)
    began, written = time.perf_counter(), 0
    while not stopping.wait(0.01):
        due = int((time.perf_counter() - began) * rate) - written
        while due > 0:
            log.many([row] * min(due, _BATCH))
            written += min(due, _BATCH)
            due -= _BATCH


_PAINT = """
import asyncio
from tests.tui.bench import room
async def main():
    async with room():
        pass
asyncio.run(main())
"""


def _starts() -> tuple[float, float, float]:
    """Seconds of bare Python, of importing the room, and of opening it on a fake host; best of three."""
    root = Path(__file__).resolve().parents[2]

    def run(code: str) -> float:
        best = 99.0
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
            best = min(best, time.perf_counter() - began)
        return best

    return run("pass"), run("import vaultroom.tui.app"), run(_PAINT)


def show() -> None:
    for name, value in measure():
        print(f"{name:<46}{value:>20}")


if __name__ == "__main__":
    show()

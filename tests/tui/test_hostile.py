"""One hostile text through every part of the room, on a pseudo-terminal, looking at the raw bytes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = {
    "OSC 52": b"\x1b]52;c;ZXZpbA",
    "C1": b"\xc2\x9b",
    "bidi": "\u202e".encode(),
    "zero width": "\u200b".encode(),
    "erase": b"\x1b[2J\x1b[Hc",
    "bell": b"ZXZpbA==\x07",
    "backspace": b"\x08g",
    "delete": b"j\x7f",
}


def run_room(folder: Path, keys: list[bytes], *, columns: int, rows: int) -> tuple[bytes, int]:
    """Everything the room wrote to its terminal, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environ = {**os.environ, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tui.hostile_room", str(folder)],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environ, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    written = bytearray()
    waiting, next_key = list(keys), time.monotonic() + 2.5
    deadline = time.monotonic() + 60
    try:
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    written += os.read(ours, 65536)
            if waiting and time.monotonic() > next_key:
                os.write(ours, waiting.pop(0))
                next_key = time.monotonic() + 0.8
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"Traceback" not in written
    return bytes(written), process.returncode


@pytest.mark.terminal
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 60)])
def test_no_hostile_byte_reaches_the_terminal(tmp_path: Path, columns: int, rows: int) -> None:
    keys = [b" ", b" ", b"a", b"g", b"o", b"j", b"e", b"\x1b[200~\x1b]52;c;ZXZpbA==\x07\x1b[201~", b"\x1b"]
    keys += [b"n", b"run\r", b"2", b"1", b"q"]
    written, code = run_room(tmp_path, keys, columns=columns, rows=rows)
    assert code == 0
    for word in (b"ACT", b"LOG", b"OUT", b"GRANT", b"TROUBLE", b"START", b"NEXT"):
        assert word in written, f"{word.decode()} was never drawn, so it proves nothing"
    assert "␛]52;c;ZXZpbA==␇".encode() in written
    for name, sequence in FORBIDDEN.items():
        assert sequence not in written, name

from __future__ import annotations

import queue
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.world import wait_for
from vaultroom.supervisor.launched import LaunchedChild, OutputBuffer


def test_output_is_read_by_offset() -> None:
    buffer = OutputBuffer()
    buffer.add(b"hello ")
    buffer.add("wörld".encode())
    first = buffer.read(0)
    assert (first.start, first.end, first.text, first.closed) == (0, 12, "hello wörld", False)
    assert buffer.read(6).text == "wörld"
    assert buffer.read(12).text == ""
    assert buffer.read(99).text == ""
    buffer.close()
    assert buffer.read(12).closed


def test_a_character_is_not_cut_and_broken_bytes_are_marked() -> None:
    buffer = OutputBuffer()
    buffer.add("ab€".encode()[:-1])
    read = buffer.read(0)
    assert (read.text, read.end) == ("ab", 2)
    buffer.add("€".encode()[-1:])
    assert buffer.read(read.end).text == "€"
    buffer.add(b"\xff\xe2")
    buffer.close()
    assert buffer.read(5).text == "\ufffd\ufffd"


@given(st.lists(st.binary(max_size=50), max_size=40), st.integers(0, 60))
def test_only_the_newest_is_kept_and_offsets_hold(chunks: list[bytes], after: int) -> None:
    buffer, whole = OutputBuffer(limit=100), b"".join(chunks)
    for chunk in chunks:
        buffer.add(chunk)
    buffer.close()
    read = buffer.read(after)
    assert read.start >= min(after, len(whole))
    assert read.text == whole[read.start : read.end].decode("utf-8", "replace")
    assert read.end == len(whole)
    assert len(whole) - read.start <= 200 or read.start == after


def test_an_agent_runs_without_a_terminal_and_its_end_is_told(tmp_path: Path) -> None:
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    code = "import sys; print(repr(sys.stdin.read()), flush=True); print('err', file=sys.stderr); sys.exit(7)"
    child = LaunchedChild([sys.executable, "-c", code], environ={}, cwd=str(tmp_path), ended=ended.put)
    assert ended.get(timeout=20) == 7
    wait_for(lambda: child.output.read(0).closed, "the end of the output")
    assert child.output.read(0).text == "''\nerr\n"


def test_a_flood_stays_bounded(tmp_path: Path) -> None:
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    code = "import os\nfor _ in range(200): os.write(1, b'x' * 100_000)"
    child = LaunchedChild([sys.executable, "-c", code], environ={}, cwd=str(tmp_path), ended=ended.put)
    assert ended.get(timeout=60) == 0
    wait_for(lambda: child.output.read(20_000_000).closed, "the end of the output")
    assert len(child.output._bytes) <= 2 * 1024 * 1024 + 65536
    assert child.output.read(0).start > 17_000_000


def test_what_an_agent_leaves_running_does_not_hold_its_end(tmp_path: Path) -> None:
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    LaunchedChild(["sh", "-c", "sleep 3 & exit 5"], environ={"PATH": "/usr/bin:/bin"}, cwd=str(tmp_path),
                  ended=ended.put)  # fmt: skip
    assert ended.get(timeout=2.5) == 5


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        LaunchedChild(["no-such-program"], environ={}, cwd=str(tmp_path), ended=lambda code: None)

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from vaultroom.terminal import (
    Process,
    Terminal,
    continue_groups,
    find_jobs,
    prompt_modes,
    read_process,
    stop_groups,
    wait_for,
)

TTY = 34817


def tree(*rows: tuple[int, str, int, int, int]) -> list[Process]:
    return [Process(*row) for row in rows]


US = (10, "S", 1, 10, TTY)
SHELL = (20, "S", 10, 20, TTY)
JOB = (30, "R", 20, 30, TTY)


def test_the_childs_group_stands_still_before_the_jobs_below_it() -> None:
    jobs = find_jobs(tree(JOB, SHELL, US), root=10, child=20, own=10)
    assert jobs.moving == (20, 30)


def test_a_nested_shell_stands_still_before_its_own_job() -> None:
    inner_shell, inner_job = (5, "S", 20, 5, TTY), (4, "S", 5, 4, TTY)
    jobs = find_jobs(tree(US, SHELL, inner_shell, inner_job), root=10, child=20, own=10)
    assert jobs.moving == (20, 5, 4)


@pytest.mark.parametrize(
    "other",
    [
        (40, "S", 1, 40, TTY),
        (40, "S", 20, 40, 0),
        (40, "S", 20, 40, 999),
        (40, "S", 10, 10, TTY),
    ],
    ids=["not below us", "no terminal", "another terminal", "our own group"],
)
def test_what_is_left_alone(other: tuple[int, str, int, int, int]) -> None:
    jobs = find_jobs(tree(US, SHELL, other), root=10, child=20, own=10)
    assert jobs.moving == (20,) and 40 not in jobs.ours


def test_a_job_that_the_user_stopped_is_ours_but_is_not_touched() -> None:
    stopped = (40, "T", 20, 40, TTY)
    jobs = find_jobs(tree(US, SHELL, stopped), root=10, child=20, own=10)
    assert jobs.moving == (20,) and 40 in jobs.ours


def test_without_process_facts_the_childs_group_alone_is_known() -> None:
    assert find_jobs([], root=10, child=20, own=10).moving == (20,)
    assert find_jobs([], root=10, child=10, own=10).moving == ()


def test_prompt_modes_leave_the_given_modes_alone() -> None:
    primary, secondary = pty.openpty()
    try:
        modes = termios.tcgetattr(secondary)
        before = [list(part) if isinstance(part, list) else part for part in modes]
        changed = prompt_modes(modes)
        assert modes == before
        assert not changed[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
        termios.tcsetattr(secondary, termios.TCSANOW, changed)
    finally:
        os.close(primary)
        os.close(secondary)


@pytest.fixture
def sleeper() -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0)
    yield child.pid
    child.kill()
    child.wait()


def test_a_group_stands_still_when_stop_returns_and_goes_on_after(sleeper: int) -> None:
    assert stop_groups([sleeper]) == (sleeper,)
    found = read_process(sleeper)
    assert found is not None and found.state == "T"
    continue_groups([sleeper])
    found = read_process(sleeper)
    assert found is not None and found.state != "T"


def test_jobs_go_on_from_the_innermost_so_that_no_shell_sees_one_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: sent.append((group, number)))
    continue_groups((20, 30))
    resumed, redrawn = signal.SIGCONT, signal.SIGWINCH
    assert sent == [(30, resumed), (20, resumed), (30, redrawn), (20, redrawn)]


def test_groups_that_are_gone_are_no_error() -> None:
    child = subprocess.Popen(["true"], process_group=0)
    child.wait()
    assert stop_groups([child.pid]) == ()
    continue_groups([child.pid])


def test_a_file_is_not_a_terminal() -> None:
    with pytest.raises(OSError, match="expected a terminal"):
        Terminal("/dev/null")


def test_a_terminal_reads_writes_and_ends() -> None:
    primary, secondary = pty.openpty()
    terminal = Terminal(os.ttyname(secondary))
    os.close(secondary)
    try:
        assert terminal.read() == b""
        terminal.write("héllo")
        assert os.read(primary, 100) == "héllo".encode()
        os.write(primary, b"x\n")
        read, write = os.pipe()
        assert terminal.wait(read, 5)
        assert terminal.read() == b"x\n"
        os.write(write, b".")
        assert not terminal.wait(read, 5)
        os.close(read)
        os.close(write)
    finally:
        os.close(primary)
    with pytest.raises(OSError, match=r"."):
        terminal.read()
    terminal.close()
    terminal.close()


def test_a_terminal_that_takes_no_output_is_an_error() -> None:
    primary, secondary = pty.openpty()
    terminal = Terminal(os.ttyname(secondary))
    with pytest.raises(OSError, match="no output"):
        terminal.write("x" * 1_000_000, patience=0.01)
    terminal.close()
    os.close(primary)
    os.close(secondary)


def test_waiting_ends_with_the_time() -> None:
    read, write = os.pipe()
    assert wait_for([read], 0) == set()
    assert wait_for([write], 0, writing=True) == {write}
    os.close(read)
    os.close(write)

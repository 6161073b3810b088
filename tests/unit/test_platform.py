from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from vaultroom import platform

pytestmark = pytest.mark.skipif(not platform.IS_LINUX, reason="process facts come from /proc")


def test_the_peer_of_a_socket() -> None:
    here, there = socket.socketpair()
    peer = platform.peer_of(here)
    assert peer == platform.Peer(os.getpid(), os.getuid())
    here.close()
    there.close()
    assert platform.peer_of(here) is None


def test_ancestors_reach_the_first_process() -> None:
    chain = platform.ancestors_of(os.getpid())
    assert chain is not None
    assert chain[:2] == [os.getpid(), os.getppid()]
    assert chain[-1] == 1 or platform.parent_of(chain[-1]) == 0


def test_a_process_that_is_gone_is_doubt() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert platform.start_time(child.pid) is None
    assert platform.parent_of(child.pid) is None
    assert platform.ancestors_of(child.pid) is None
    assert platform.initial_environment(child.pid) is None
    assert platform.open_pidfd(child.pid) is None


def test_a_name_with_brackets_does_not_shift_the_fields() -> None:
    code = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'a) 7 (b'); print(flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    assert platform.parent_of(child.pid) == os.getpid()
    child.communicate("")


def test_the_initial_environment() -> None:
    child = subprocess.Popen(["sleep", "60"], env={"A": "b=c", "D": ""})
    found = platform.initial_environment(child.pid)
    child.kill()
    child.wait()
    assert found == {b"A": b"b=c", b"D": b""} or found is not None


@pytest.mark.parametrize(("status", "code"), [(0, 0), (256 * 7, 7), (15, 143), (9, 137)])
def test_exit_codes(status: int, code: int) -> None:
    assert platform.exit_code(status) == code

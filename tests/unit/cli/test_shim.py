"""`vaultroom __shim`: the shim through the whole command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.unit.thin.shim_host import ShimHost, shim_host, verdict

ENTRY = "import sys; from vaultroom.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def host() -> Iterator[ShimHost]:
    with shim_host() as running:
        running.program("tool", 'echo ran "$@"; exit 3')
        yield running


def run(host: ShimHost, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = host.environment(VAULTROOM_SOCK=str(host.socket_path), VAULTROOM_HOME=str(host.home)) | env
    command = [sys.executable, "-c", ENTRY, "__shim", *words]
    return subprocess.run(
        command, env=environment, cwd=host.home, capture_output=True, text=True, check=False
    )


def test_it_becomes_the_program(host: ShimHost) -> None:
    done = run(host, "tool", "--verbose", "--", "-x", "--config", "a b")
    assert (done.stdout, done.stderr, done.returncode) == ("ran --verbose -- -x --config a b\n", "", 3)
    assert host.frames[-1]["event"]["argv"] == ["tool", "--verbose", "--", "-x", "--config", "a b"]


def test_it_refuses_like_a_shim(host: ShimHost) -> None:
    host.answer = verdict("deny", "r", "m")
    assert run(host, "tool").returncode == 126
    assert run(host, "tool", VAULTROOM_SOCK="").returncode == 77
    assert run(host, "no-such-tool").returncode == 127
    for words in ([], [""], ["/bin/ls"]):
        assert run(host, *words).returncode == 2

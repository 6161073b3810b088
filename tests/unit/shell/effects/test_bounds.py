"""Commands made to be expensive: bounded, and opaque where a bound was reached."""

from __future__ import annotations

import pytest

from vaultroom.shell import NoFiles, command_facets
from vaultroom.shell.effects import PROGRAMS
from vaultroom.shell.effects.found import MOST_HOSTS

LETTERS = "-" + "vqx" * 40_000


@pytest.mark.parametrize("cmd", sorted(PROGRAMS))
def test_a_long_cluster_of_switches(cmd: str) -> None:
    assert len(command_facets([cmd, LETTERS, "a"], cwd="/w", view=NoFiles())) < 100


def test_more_hosts_than_anyone_needs_are_opaque() -> None:
    command = ["curl", "--resolve", "a:1:" + "1.1.1.1," * (MOST_HOSTS + 1), "http://h"]
    facets = command_facets(command, cwd="/w", view=NoFiles())
    assert facets[0].opaque and len(facets) == 1


@pytest.mark.parametrize(
    "argv",
    [
        ["sed", "s/a/b/;" * 20_000, "f"],
        ["sed", "s/" + "[a" * 30_000, "f"],
        ["awk", "{print}" * 20_000, "f"],
        ["tar", "cf", "x", *["-C", "a"] * 4000, "b"],
    ],
)
def test_scripts_and_paths_beyond_reading_are_opaque(argv: list[str]) -> None:
    assert command_facets(argv, cwd="/w", view=NoFiles())[0].opaque

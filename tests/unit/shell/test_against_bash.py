"""What bash really tries to run must be among what was found, unless a flag stands in its place.

No command runs: PATH finds nothing, and bash hands each name that it does not find to a function that writes
down the arguments. VAULTROOM_FUZZ_COUNT and VAULTROOM_FUZZ_SEED steer how much is tried.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from tests.kit.shell_scripts import ENVIRONMENT, Scripts
from vaultroom.shell import NoFiles, Surroundings, line_facets

BASH = shutil.which("bash")
COUNT = int(os.environ.get("VAULTROOM_FUZZ_COUNT", "500"))
SEED = int(os.environ.get("VAULTROOM_FUZZ_SEED", "1"))
BATCH = 50

TRACE = r"""
trace() { builtin printf '%s\0' "${@//$'\n'/$'\x1e'}" $'\x1f' >&9; }
command_not_found_handle() { trace "$@"; return $(( ${#1} % 2 )); }
echo() { trace echo "$@"; builtin echo "$@"; }
# One write for each command: a line feed in an argument would make bash write in two.
for script_text; do
  ( set --; eval "$script_text"; wait ) </dev/null >/dev/null 2>&1
done
"""

SURROUNDINGS = Surroundings(home="/vr-home", variables=ENVIRONMENT, is_complete=True)

BUGS_OF_BASH = {
    "a here-document within $(…) or <(…) is written out again wrongly when a list follows it": re.compile(
        r"[$<]\((?s:.)*<<[^<]"
    ),
}
"""Kinds of scripts that bash 5.2 itself runs otherwise than it should: by name, with how to know them."""


def trace(scripts: Sequence[str]) -> list[list[str]]:
    """What bash tries to run for these scripts, each an argv."""
    assert BASH is not None
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [
                BASH,
                "--norc",
                "--noprofile",
                "-c",
                f"exec 9>&{writing} {writing}>&-\n{TRACE}",
                "bash",
                *scripts,
            ],
            pass_fds=(writing,),
            env=ENVIRONMENT,
            cwd=empty,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read().decode("utf-8", "surrogateescape")
        process.wait(60)
    found: list[list[str]] = []
    argv: list[str] = []
    for word in data.split("\0"):
        if word == "\x1f":
            found.append(argv)
            argv = []
        else:
            argv.append(word.replace("\x1e", "\n"))
    return found


class Reading:
    """One script as Vaultroom reads it."""

    def __init__(self, script: str) -> None:
        self.script = script
        read = line_facets(script, cwd="/w", view=NoFiles(), surroundings=SURROUNDINGS)
        self.commands = [facet.argv for facet in read.facets if not facet.derived]
        opaque = {index for index, _ in read.notes}
        self.has_gap = any(
            index in opaque and not facet.cmd for index, facet in enumerate(read.facets) if not facet.derived
        )
        self.reasons = read.notes
        self.markers = set(re.findall(r"m\d+", re.sub(r"[\\'\"{\n]|\$'\\x6d'", "", script))) | set(
            re.findall(r"m\d+", re.sub(r"\$'\\x6d'", "m", re.sub(r"\\\n|[\\\"{]", "", script)))
        )

    def lists(self, argv: Sequence[str]) -> bool:
        """Whether the command is among those found; a word that is not known may be any number of words."""
        return any(matches(found, argv) for found in self.commands)


def matches(found: Sequence[str], argv: Sequence[str]) -> bool:
    for index, word in enumerate(found):
        if index < len(argv) and word == argv[index]:
            continue
        return index > 0 and any(mark in word for mark in ("$", "`", "<(", ">(", "~"))
    return len(found) == len(argv)


def missed(scripts: Sequence[str]) -> Iterator[tuple[Reading, list[str]]]:
    readings = [Reading(script) for script in scripts]
    for argv in trace(scripts):
        if not argv:
            continue
        owners = [reading for reading in readings if argv[0] in reading.markers] or readings
        if not any(reading.has_gap or reading.lists(argv) for reading in owners):
            yield owners[0], argv


def is_known_bug(script: str) -> bool:
    return any(kind.search(script) for kind in BUGS_OF_BASH.values())


@pytest.mark.fuzz
@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.timeout(3600)
def test_no_command_that_bash_runs_is_missing() -> None:
    source = Scripts(SEED)
    left = COUNT
    while left > 0:
        batch = [source.next() for _ in range(min(BATCH, left))]
        left -= len(batch)
        for reading, argv in islice(missed(batch), 3):
            if is_known_bug(reading.script):
                continue
            raise AssertionError(
                f"bash runs {argv!r}\nscript: {reading.script!r}\n"
                f"found: {reading.commands!r}\n{reading.reasons}"
            )


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_the_fuzz_would_see_a_missing_command() -> None:
    reading = Reading("m1 a b; m2 $(m3)")
    assert trace([reading.script]) == [["m1", "a", "b"], ["m3"], ["m2"]]
    reading.commands.remove(("m3",))
    assert not reading.lists(["m3"])
    assert not reading.lists(["m1", "a"])


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_most_scripts_are_read_without_a_gap() -> None:
    source = Scripts(SEED)
    readings = [Reading(source.next()) for _ in range(100)]
    assert sum(reading.has_gap for reading in readings) < 40

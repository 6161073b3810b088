"""docs/effects.md names every family, and the programs that it names have an entry."""

from __future__ import annotations

from pathlib import Path

from vaultroom.shell.effects import PROGRAMS

PAGE = Path(__file__).parents[4] / "docs" / "effects.md"
NOT_PROGRAMS = {"database", "clients", "and", "others", "sums", "editors"}
NO_ENTRY = {"kill", "pkill", "killall", "make", "ls"}


def test_the_programs_of_the_table_are_known() -> None:
    table = PAGE.read_text().partition("## The table")[2].partition("GNU programs")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ") and "---" not in line]
    named = {name for row in rows[1:] for name in row[2].replace(",", " ").split()} - NOT_PROGRAMS
    assert len(rows) == 15 and len(named) > 90
    assert named <= PROGRAMS.keys(), named - PROGRAMS.keys()


def test_programs_that_touch_no_file_have_no_entry() -> None:
    assert not NO_ENTRY & PROGRAMS.keys()

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.approvals.making import command
from vaultroom.approvals.scripts import code_of, file_digest


def test_file_digest(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("one")
    before = file_digest(str(script))
    script.write_text("two")
    assert before != file_digest(str(script))
    assert file_digest(str(tmp_path)) is None
    assert file_digest(str(tmp_path / "gone")) is None
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular file"):
        file_digest(str(tmp_path / "pipe"))
    with pytest.raises(OSError, match="expected a path"):
        file_digest("/a\0b")


def test_code_of_names_the_files_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("one")
    facet = command("python3", "-W", "ignore", "x.py", "--level=3").as_facet()
    code = code_of(facet, str(tmp_path), file_digest)
    assert code is not None and list(code) == [str(tmp_path / "x.py")]


@pytest.mark.parametrize("argv", [("python3", "--version"), ("bash", "-c", "true"), ("sed", "-n", "1p", "x")])
def test_an_interpreter_without_a_file_is_bound_by_its_arguments(argv: tuple[str, ...]) -> None:
    assert code_of(command(*argv).as_facet(), "/", lambda path: None) == {}

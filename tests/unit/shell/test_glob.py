"""Globs on a real disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultroom.shell import NoFiles, RealFiles, Surroundings, line_facets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.log", "b.log", ".hidden.log", "x[1].log", "sub/c.log", "sub/deep/d.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def names(folder: Path, pattern: str, limit: int = 100) -> list[str] | None:
    found = RealFiles().glob(f"{folder}/{pattern}", limit)
    return None if found is None else [path.removeprefix(f"{folder}/") for path in found]


def test_what_matches(folder: Path) -> None:
    assert names(folder, "*.log") == ["a.log", "b.log", "x[1].log"]
    assert names(folder, ".*") == [".hidden.log"]
    assert names(folder, "*/*.log") == ["sub/c.log"]
    assert names(folder, "*/") == ["sub/"]
    assert names(folder, "x\\[1\\].*") == ["x[1].log"]
    assert names(folder, "nothing*") == []
    assert names(folder, "*/none") == []


def test_more_than_the_limit_is_not_listed(folder: Path) -> None:
    assert names(folder, "*.log", 2) is None
    assert names(folder, "*.log", 3) is not None


def test_an_empty_disk_matches_nothing() -> None:
    assert NoFiles().glob("/*", 10) == []


def test_a_line_deletes_what_its_glob_gives(folder: Path) -> None:
    found = line_facets(
        f"cd {folder} && rm s*/*.log *.none", cwd="/", view=RealFiles(), surroundings=Surroundings()
    )
    real = folder.resolve()
    paths = [facet.path for facet in found.facets if facet.derived]
    assert paths == [f"{real}/sub/c.log", f"{real}/*.none"]

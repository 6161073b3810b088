"""Where a git command works, with real folders: the root is looked for upward, links followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.effects import foreseen
from vaultroom.shell import RealFiles


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    (root / "repo" / ".git").mkdir(parents=True)
    (root / "repo" / "src" / "deep").mkdir(parents=True)
    (root / "repo" / "src" / "main").write_text("")
    (root / "link").symlink_to("repo/src")
    (root / "plain").mkdir()
    return root


@pytest.mark.parametrize(
    ("cwd", "line", "expected"),
    [
        ("repo/src/deep", "git reset --hard", "w:repo/** d:repo/**"),
        ("link", "git reset --hard", "w:repo/** d:repo/**"),
        ("plain", "git -C ../link reset --hard", "w:repo/** d:repo/**"),
        ("plain", "git reset --hard", "w:plain/** d:plain/**"),
        ("repo/src", "git stash drop", "d:repo/.git/refs/stash"),
        ("repo/src", "git checkout .", "w:repo/src/**"),
        ("repo/src", "git checkout main", "w:repo/src/main"),
        ("repo/src", "git checkout other", ""),
        ("repo/src", "git clean -fd :/", "! d:repo/src/**"),
        ("repo/src", "git restore :/", "w:repo/**"),
        ("repo/src", "git show HEAD:.env", "r:repo/.env"),
        ("repo/src", "git --work-tree=/ reset --hard", "w://** d://**"),
        ("repo/src", "git --git-dir=../.git reset --hard", "w:repo/src/** d:repo/src/**"),
        ("repo/src", "git -C .. -C src branch -D x", "d:repo/.git/refs/heads/x"),
    ],
)
def test_the_root(tree: Path, cwd: str, line: str, expected: str) -> None:
    found = foreseen(line, cwd=str(tree / cwd), view=RealFiles())
    assert found.replace(f"{tree}/", "") == expected


def test_without_a_home_a_file_there_is_a_doubt() -> None:
    assert foreseen("git config --global a.b c", home="") == "!"

"""git clean: where it works, what it reaches, and when it only talks."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultroom.shell import NoFiles, RealFiles, command_facets


def deleted(line: str, cwd: str = "/w") -> list[tuple[str, bool]]:
    facets = command_facets(line.split(), cwd=cwd, view=NoFiles())
    assert facets[0].subcommand == "clean"
    return [(facet.path, facet.recursive) for facet in facets[1:]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git clean -fdx", [("/w", True)]),
        ("git clean -f", [("/w", True)]),
        ("git clean", [("/w", True)]),
        ("git clean -i", [("/w", True)]),
        ("git -C sub clean -fd", [("/w/sub", True)]),
        ("git -C sub -C ../x clean -fd", [("/w/x", True)]),
        ("git -C /abs clean -fd", [("/abs", True)]),
        ("git --git-dir=/r/.git clean -fd", [("/w", True)]),
        ("git --git-dir /r/.git --work-tree /r clean -fd", [("/r", True)]),
        ("git --work-tree=/ clean -fd", [("/w", True)]),
        ("git -c x=y --no-pager clean -fd", [("/w", True)]),
        ("git clean -fd -e keep a b", [("/w/a", True), ("/w/b", True)]),
        ("git clean -fd -- -n", [("/w/-n", True)]),
        ("git clean -fd --end-of-options -n", [("/w/-n", True)]),
        ("git clean -fd src/*.o", [("/w/src", True)]),
        ("git clean -fd /r/*", [("/r", True)]),
        ("git clean -fd *", [("/w", True)]),
        ("git clean -fe -n", [("/w", True)]),
        ("git clean -f -en", [("/w", True)]),
        ("git clean -n --no-dry-run -f", [("/w", True)]),
        ("git clean -nfd", []),
        ("git clean -fd --dry-run", []),
        ("git clean -fd --dry", []),
        ("git clean -fd a -n", []),
    ],
)
def test_clean(line: str, expected: list[tuple[str, bool]]) -> None:
    assert deleted(line) == expected


def test_magic_path_specs_are_opaque() -> None:
    facets = command_facets(["git", "clean", "-fd", ":/"], cwd="/w", view=NoFiles())
    assert facets[0].opaque and facets[1].path == "/w"


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "-c", "alias.x=!rm -rf /", "x"],
        ["git", "-c", "Alias.x=clean -fd", "x"],
        ["git", "--config-env=alias.x=V", "x"],
    ],
)
def test_an_alias_made_on_the_spot_is_opaque(argv: list[str]) -> None:
    assert command_facets(argv, cwd="/w", view=NoFiles())[0].opaque


@pytest.mark.parametrize("line", ["git status", "git push", "git checkout main", "git stash", "git pull"])
def test_other_subcommands_touch_nothing_here(line: str) -> None:
    assert len(command_facets(line.split(), cwd="/w", view=NoFiles())) == 1


def test_a_path_spec_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    facets = command_facets(["git", "clean", "-f", "file"], cwd=str(tmp_path.resolve()), view=RealFiles())
    assert not facets[1].recursive

"""find: start paths, `-delete`, and the predicates that write."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultroom.shell import NoFiles, RealFiles, command_facets


def facets_of(line: str) -> list[tuple[str, str, bool]]:
    facets = command_facets(line.split(), cwd="/w", view=NoFiles())
    return [(facet.action.value, facet.path, facet.recursive) for facet in facets[1:]]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("find -delete", ["/w"]),
        ("find . -delete", ["/w"]),
        ("find a /b -name x -delete", ["/w/a", "/b"]),
        ("find -P -O3 -D exec a -delete", ["/w/a"]),
        ("find a ( -name x -o -name y ) -delete", ["/w/a"]),
        ("find ! -name x -delete", ["/w"]),
        ("find a -maxdepth 0 -delete", ["/w/a"]),
        ("find -f a -delete", ["/w/a"]),
    ],
)
def test_delete_reaches_everything_below_the_start_paths(line: str, starts: list[str]) -> None:
    assert facets_of(line) == [("fs.delete", start, True) for start in starts]


def test_without_delete_find_touches_nothing() -> None:
    assert facets_of("find / -name x -print") == []


def test_predicates_that_write() -> None:
    assert facets_of("find a -fprint out -fprintf /o %p") == [
        ("fs.write", "/w/out", False),
        ("fs.write", "/o", False),
    ]


@pytest.mark.parametrize(
    "line", ["find -L a -delete", "find a -follow -delete", "find -files0-from f -delete"]
)
def test_deleting_through_links_is_opaque(line: str) -> None:
    assert command_facets(line.split(), cwd="/w", view=NoFiles())[0].opaque


def test_a_link_as_start_path(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "prize").mkdir()
    (root / "link").symlink_to("prize")

    def deleted(line: str) -> list[str]:
        return [facet.path for facet in command_facets(line.split(), cwd=str(root), view=RealFiles())[1:]]

    assert deleted("find link -delete") == [f"{root}/link"]
    assert deleted("find link/ -delete") == [f"{root}/prize"]
    assert deleted("find -H link -delete") == [f"{root}/link", f"{root}/prize"]

"""The two views of a disk."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.shell import NoFiles, RealFiles


def test_real_files_agree_with_the_standard_library(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "d" / "e").mkdir(parents=True)
    (root / "up").symlink_to("d/e/..")
    (root / "abs").symlink_to(root / "d")
    (root / "gone").symlink_to("d/none/x")
    names = ["d", "d/e", "up", "up/e", "abs/../up", "gone", "none/../d", "d//e/.", "abs/e/../../d"]
    for name in names:
        assert RealFiles().realpath(f"{root}/{name}") == os.path.realpath(f"{root}/{name}")
    assert RealFiles().is_link(f"{root}/gone") and RealFiles().lexists(f"{root}/gone")
    assert RealFiles().is_dir(f"{root}/abs") and not RealFiles().is_dir(f"{root}/gone")


@given(st.text(st.sampled_from("a/."), max_size=20))
def test_no_files_only_tidies(path: str) -> None:
    tidy = NoFiles().realpath("/" + path)
    assert tidy == "/" + os.path.normpath("/" + path).lstrip("/")
    assert not NoFiles().lexists(tidy) and not NoFiles().is_dir(tidy) and not NoFiles().is_link(tidy)

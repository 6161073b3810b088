from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from vaultroom.paths import find_home, require_private


def test_everything_lies_under_vaultroom_home() -> None:
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        _everything_lies_under(Path(folder))


def _everything_lies_under(root: Path) -> None:
    home = find_home({"VAULTROOM_HOME": str(root)})
    places = [
        home.user_policy, home.settings, home.trusted_policies, home.audit_db, home.keys, home.shims,
        home.sessions, home.lock, home.control_socket, home.session_socket("01J00000000000000000000000"),
    ]  # fmt: skip
    assert all(place.is_relative_to(root) for place in places)
    home.prepare()
    assert home.run.stat().st_mode & 0o777 == 0o700


def test_without_it_the_platform_decides() -> None:
    home = find_home({})
    assert home.config.name == "vaultroom"


def test_a_long_home_gets_a_short_run_folder(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    home = find_home({"VAULTROOM_HOME": str(long)})
    assert len(os.fsencode(home.session_socket("0" * 26))) < 108
    assert home.run == find_home({"VAULTROOM_HOME": str(long)}).run
    assert home.run != find_home({"VAULTROOM_HOME": f"{long}y"}).run


def test_a_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    require_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="expected a folder"):
        require_private(tmp_path / "link")

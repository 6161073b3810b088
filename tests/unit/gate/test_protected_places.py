from __future__ import annotations

import json
import os
from pathlib import Path

from vaultroom.gate.protected_places import LEDGER_NAME, user_places
from vaultroom.paths import Home


def _home(folder: Path) -> Home:
    home = Home(config=folder / "config", data=folder / "data", run=folder / "run")
    home.config.mkdir()
    return home


def test_settings_of_the_four_agents_wherever_they_were_moved(tmp_path: Path) -> None:
    places = set(user_places(_home(tmp_path), "/home/dev", {"CLAUDE_CONFIG_DIR": "/elsewhere/claude"}))
    assert "/elsewhere/claude/settings.json" in places
    assert "/home/dev/.codex/config.toml" in places
    assert "/home/dev/.gemini/settings.json" in places
    assert "/home/dev/.config/opencode/plugin" in places


def test_trusted_policies_and_what_init_changed(tmp_path: Path) -> None:
    home = _home(tmp_path)
    home.trusted_policies.write_text(f"{'0' * 64}  {tmp_path}/proj/vaultroom.yaml\n")
    entries = [{"file": str(tmp_path / "moved.json"), "backup": str(tmp_path / "moved.json.bak")}]
    (home.config / LEDGER_NAME).write_text(json.dumps({"entries": entries}))
    places = set(user_places(home, "/home/dev", {}))
    root = os.path.realpath(tmp_path)
    assert {f"{root}/proj/vaultroom.yaml", f"{root}/moved.json", f"{root}/moved.json.bak"} <= places


def test_a_broken_ledger_adds_nothing(tmp_path: Path) -> None:
    home = _home(tmp_path)
    for text in ("", "[", "[]", '{"entries": 3}', '{"entries": [3]}', "[" * 100_000):
        (home.config / LEDGER_NAME).write_text(text)
        assert "/home/dev/.codex/config.toml" in set(user_places(home, "/home/dev", {}))


def test_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "settings.json").write_text("{}")
    (tmp_path / "user" / ".claude").mkdir(parents=True)
    (tmp_path / "user" / ".claude" / "settings.json").symlink_to(tmp_path / "dotfiles" / "settings.json")
    places = set(user_places(_home(tmp_path), str(tmp_path / "user"), {}))
    assert os.path.realpath(tmp_path / "dotfiles" / "settings.json") in places

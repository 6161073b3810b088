from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.unit.install.making import StubClients, agents_of, state_of
from vaultroom.errors import VaultroomError
from vaultroom.install.installer import Done, apply, plan_hooks, plan_policy, remove, switched_off
from vaultroom.install.ledger import NAME, read_ledger
from vaultroom.paths import Home

CLAUDE = """\
{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
        ]
    },
    "model": "x"
}
"""
CODEX = '# my settings\nmodel = "x"\n\n[projects."/p"]\ntrust_level = "trusted"\n'


class Place:
    """A throw-away user."""

    def __init__(self, root: Path) -> None:
        self.user = root / "user"
        self.home = Home(config=root / "config", data=root / "data", run=root / "run")
        self.clients = StubClients(self.home)
        self.agents = agents_of(self.user)
        self.claude = self.user / ".claude" / "settings.json"
        self.codex = self.user / ".codex" / "config.toml"
        self.gemini = self.user / ".gemini" / "settings.json"
        self.plugin = self.user / ".config" / "opencode" / "plugin" / "vaultroom.js"

    def install(self) -> tuple[Done, ...]:
        changes = plan_hooks(self.agents, self.clients, read_ledger(self.home))
        return apply(self.home, (plan_policy(self.home, "version: 1\n"), *changes), self.clients)

    def remove(self) -> dict[str, str]:
        return {str(one.file): one.verb for one in remove(self.home, self.clients)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.claude.write_text(CLAUDE)
    place.claude.chmod(0o640)
    place.codex.write_text(CODEX)
    return place


def test_every_agent_gets_its_hook_and_keeps_what_it_had(place: Place) -> None:
    place.install()
    claude = json.loads(place.claude.read_text())
    mine, ours = claude["hooks"].pop("PreToolUse")
    assert mine["matcher"] == "Bash"
    assert ours == {
        "matcher": "*",
        "hooks": [{"type": "command", "command": place.clients.command("claude"), "timeout": 600}],
    }
    assert claude | {"hooks": 0} == json.loads(CLAUDE) | {"hooks": 0}
    codex = tomllib.loads(place.codex.read_text())
    assert codex["model"] == "x"
    assert codex["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == place.clients.command("codex")
    gemini = json.loads(place.gemini.read_text())
    assert gemini["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] == 600_000
    assert place.plugin.read_text() == place.clients.plugin()
    assert place.home.user_policy.read_text() == "version: 1\n"


def test_removing_gives_every_byte_and_mode_back(place: Place) -> None:
    before = state_of(place.user)
    place.install()
    assert place.claude.stat().st_mode & 0o777 == 0o640
    backup = place.claude.with_name("settings.json.vaultroom-backup")
    assert backup.read_text() == CLAUDE
    assert set(place.remove().values()) == {"restored", "removed"}
    assert state_of(place.user) == before
    assert not place.plugin.parent.exists()
    assert not (place.home.config / NAME).exists()
    assert not place.home.user_policy.exists()
    assert place.remove() == {}


def test_a_second_run_changes_nothing(place: Place) -> None:
    place.install()
    before = state_of(place.user) | state_of(place.home.config)
    assert {one.verb for one in place.install()} == {"kept"}
    assert state_of(place.user) | state_of(place.home.config) == before


def test_a_lost_ledger_is_found_again(place: Place) -> None:
    before = state_of(place.user)
    place.install()
    (place.home.config / NAME).unlink()
    place.home.user_policy.unlink()
    place.install()
    place.remove()
    assert json.loads(place.claude.read_text()) == json.loads(CLAUDE)
    assert state_of(place.user)[".codex/config.toml"] == before[".codex/config.toml"]


def test_a_policy_that_is_there_is_never_touched(place: Place) -> None:
    place.home.config.mkdir()
    place.home.user_policy.write_text("mine")
    place.install()
    assert place.home.user_policy.read_text() == "mine"
    place.remove()
    assert place.home.user_policy.read_text() == "mine"


@pytest.mark.parametrize(
    ("agent", "text", "line"),
    [
        ("claude", '{\n  "a": 1, // mine\n}\n', 2),
        ("gemini", '{\n  "hooks": {\n    "BeforeTool": "x"\n  }\n}\n', 3),
        ("codex", "a = 1\n[b\n", 2),
    ],
)
def test_one_broken_file_and_nothing_is_written(place: Place, agent: str, text: str, line: int) -> None:
    broken: Path = getattr(place, agent)
    broken.write_text(text)
    before = state_of(place.user)
    with pytest.raises(VaultroomError) as caught:
        place.install()
    assert f"{broken}:{line}: expected" in caught.value.message
    assert state_of(place.user) == before
    assert not place.home.config.exists()
    assert place.clients.written == []


def test_what_a_person_added_since_stays(place: Place) -> None:
    place.install()
    text = place.claude.read_text().replace('"model": "x"', '"model": "y"')
    place.claude.write_text(text)
    place.codex.write_text(place.codex.read_text() + '\n[hooks.state."k"]\ntrusted_hash = "h"\n')
    assert place.remove()[str(place.claude)] == "restored"
    assert place.claude.read_text() == CLAUDE.replace('"model": "x"', '"model": "y"')
    assert place.codex.read_text() == CODEX + '\n[hooks.state."k"]\ntrusted_hash = "h"\n'


def test_what_a_person_changed_of_ours_is_left_and_the_rest_undone(place: Place) -> None:
    place.install()
    place.claude.write_text(place.claude.read_text().replace("600", "60"))
    place.home.user_policy.write_text("version: 1 # mine\n")
    verbs = place.remove()
    assert verbs[str(place.claude)] == "left"
    assert verbs[str(place.home.user_policy)] == "left"
    assert verbs[str(place.codex)] == "restored"
    assert '"timeout": 60' in place.claude.read_text()
    assert place.clients.path("claude").exists(), "the hook that is left still needs its client"
    assert [entry.name for entry in read_ledger(place.home)] == ["policy", "claude"]


def test_a_hook_that_a_person_changed_is_not_doubled(place: Place) -> None:
    place.install()
    changed = place.claude.read_text().replace("600", "60")
    place.claude.write_text(changed)
    assert [one.verb for one in place.install()] == ["kept"] * 5
    assert place.claude.read_text() == changed


def test_a_new_client_path_replaces_the_old_hook(place: Place) -> None:
    place.install()
    moved = StubClients(Home(config=place.home.config, data=place.home.data / "new", run=place.home.run))
    apply(place.home, plan_hooks(place.agents, moved, read_ledger(place.home)), moved)
    hooks = json.loads(place.claude.read_text())["hooks"]["PreToolUse"]
    assert [hook["hooks"][0]["command"] for hook in hooks] == ["mine", moved.command("claude")]
    assert place.plugin.read_text() == moved.plugin()
    remove(place.home, moved)
    assert place.claude.read_text() == CLAUDE
    assert place.codex.read_text() == CODEX
    assert not place.plugin.exists()


def test_links_stay_links(place: Place, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_text("{}")
    place.claude.unlink()
    place.claude.symlink_to(dotfiles)
    place.install()
    assert place.claude.is_symlink()
    assert "PreToolUse" in dotfiles.read_text()
    place.remove()
    assert place.claude.is_symlink()
    assert dotfiles.read_text() == "{}"


def test_a_plugin_of_that_name_that_is_not_ours_is_refused(place: Place) -> None:
    place.plugin.parent.mkdir(parents=True)
    place.plugin.write_text("// mine")
    with pytest.raises(VaultroomError, match="was not written by"):
        place.install()


def test_a_file_that_changes_between_plan_and_write_is_not_overwritten(place: Place) -> None:
    changes = plan_hooks(place.agents, place.clients, ())
    place.claude.write_text("{}")
    with pytest.raises(VaultroomError, match="meanwhile"):
        apply(place.home, changes, place.clients)
    assert place.claude.read_text() == "{}"


def test_a_ledger_that_cannot_be_read_stops_everything(place: Place) -> None:
    place.home.config.mkdir()
    (place.home.config / NAME).write_text('{"version": 2, "entries": []}')
    with pytest.raises(VaultroomError, match="version 1"):
        place.install()


def test_a_crash_between_ledger_and_file_is_undone(place: Place) -> None:
    place.install()
    place.claude.write_text(CLAUDE)  # as if the file had never been written
    assert place.remove()[str(place.claude)] == "restored"
    assert place.claude.read_text() == CLAUDE


@pytest.mark.parametrize(
    ("agent", "values", "said"),
    [
        ("claude", {"disableAllHooks": True}, "disableAllHooks"),
        ("claude", {"disableAllHooks": False}, ""),
        ("gemini", {"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
        ("gemini", {"hooksConfig": {"disabled": ["vaultroom"]}}, "hooksConfig.disabled"),
        ("codex", {"features": {"hooks": False}}, "features.hooks"),
        ("codex", {"features": {"hooks": True}}, ""),
        ("codex", {}, ""),
    ],
)
def test_hooks_that_are_switched_off(agent: str, values: dict[str, object], said: str) -> None:
    assert switched_off(agent, values).startswith(said)
    assert bool(switched_off(agent, values)) == bool(said)

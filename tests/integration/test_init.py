"""init, doctor and remove with the real hook clients and a real host."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "w")
    (world.home / "policy.yaml").unlink()
    (world.user / ".claude").mkdir()
    (world.user / ".codex").mkdir()
    (world.user / ".gemini").mkdir()
    yield world
    world.close()


def _doctor(world: World) -> tuple[int, dict[str, str]]:
    result = world.call("doctor", "--json")
    found = json.loads(result.stdout)
    assert found["ok"] == (result.returncode == 0), result.stderr
    assert found["not_covered"]
    return result.returncode, {check["name"]: check["state"] for check in found["checks"]}


def test_init_doctor_remove(world: World) -> None:
    settings = world.user / ".claude" / "settings.json"
    settings.write_text('{\n  "model": "x"\n}\n')
    installed = world.call("init", "--non-interactive")
    assert installed.returncode == 0, installed.stderr
    code, states = _doctor(world)
    assert code == 1, "nobody has trusted codex's hook"
    assert states.pop("codex trust") == "open"
    assert states.pop("host") == "note"
    for name in ("policy", "files", "shims", "claude hook", "codex hook", "gemini hook"):
        assert states[name] == "ok", name
    assert "opencode hook" not in states
    config = world.user / ".codex" / "config.toml"
    trust = f'\n[hooks.state."{config}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:00"\n'
    config.write_text(config.read_text() + trust)
    world.host()
    code, states = _doctor(world)
    assert (code, states["host"], states["claude hook"], states["shims"]) == (0, "ok", "ok", "ok")
    shutil.move(world.home / "hooks" / "claude", world.root / "gone")
    code, states = _doctor(world)
    assert (code, states["claude hook"]) == (1, "broken")
    assert world.call("init", "--non-interactive").returncode == 0
    assert _doctor(world)[1]["claude hook"] == "ok"
    removed = world.call("init", "--remove")
    assert removed.returncode == 0
    assert settings.read_text() == '{\n  "model": "x"\n}\n'
    assert config.read_text() == trust.removeprefix("\n") or "vaultroom" not in config.read_text()
    assert not (world.home / "installed.json").exists()


def test_an_agent_cannot_undo_it(world: World) -> None:
    """What a session of the starter policy may do to the settings that guard it."""
    assert world.call("init", "--non-interactive").returncode == 0
    settings = world.user / ".claude" / "settings.json"
    before = settings.read_bytes()
    result = world.call("run", "--", "bash", "-c", f"rm -f {settings}; rm -rf {world.user}/.claude; echo end")
    assert result.stdout == "end\n"
    assert result.stderr.count("builtin:hook-settings") == 2
    assert settings.read_bytes() == before

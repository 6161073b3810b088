"""`vaultroom init`: questions, what is written, and exit codes. Real clients; the agents are folders."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from vaultroom.cli.init import starter_policy
from vaultroom.cli.main import main

RECIPE = Path(__file__).parents[3] / "recipes" / "starter.yaml"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    user = tmp_path / "user"
    (user / ".claude").mkdir(parents=True)
    (user / ".gemini").mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("VAULTROOM_HOME", str(tmp_path / "vault"))
    return user


def _answer(monkeypatch: pytest.MonkeyPatch, text: str) -> Terminal:
    said = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(text))
    monkeypatch.setattr("sys.stderr", said)
    return said


def test_without_questions(user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--non-interactive"]) == 0
    said = capsys.readouterr()
    assert "~/.claude/settings.json" in said.out
    assert "only its settings folder" in said.err
    assert "not found" in said.err
    hook = json.loads((user / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"][0]
    assert hook["matcher"] == "*"
    assert hook["hooks"][0]["timeout"] == 600
    assert hook["hooks"][0]["command"].endswith("|| exit 2")
    assert (tmp_path / "vault" / "policy.yaml").read_text() == RECIPE.read_text()


def test_it_never_asks_without_a_terminal(
    user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init"]) == 1
    assert "--non-interactive" in capsys.readouterr().err
    assert not (tmp_path / "vault").exists()
    assert not (user / ".claude" / "settings.json").exists()


def test_questions_show_their_default(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = _answer(monkeypatch, "\nwhat\nn\n\n")
    assert main(["init"]) == 0
    assert said.getvalue().count("[Y/n/q]") == 4
    assert (tmp_path / "vault" / "policy.yaml").exists()
    assert not (user / ".claude" / "settings.json").exists()
    assert (user / ".gemini" / "settings.json").exists()


@pytest.mark.parametrize("answers", ["", "q\n", "\n\nq\n", "y\n"])
def test_aborted(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    said = _answer(monkeypatch, answers)
    assert main(["init"]) == 1
    assert "nothing was written" in said.getvalue()
    assert not (tmp_path / "vault").exists()
    assert not (user / ".claude" / "settings.json").exists()


def test_a_broken_file_is_named_with_its_line(
    user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user / ".gemini" / "settings.json").write_text("{\n  // mine\n}\n")
    assert main(["init", "--non-interactive"]) == 1
    said = capsys.readouterr().err
    assert "settings.json:2: expected a key in quotes, found a comment" in said
    assert not (user / ".claude" / "settings.json").exists()
    assert not (tmp_path / "vault" / "policy.yaml").exists()


def test_removing(user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", "--non-interactive"])
    capsys.readouterr()
    assert main(["init", "--remove"]) == 0
    said = capsys.readouterr()
    assert said.out.count("removed") == 3
    assert "undone" in said.err
    assert not (user / ".claude" / "settings.json").exists()
    assert not list((tmp_path / "vault" / "hooks").iterdir())
    assert main(["init", "--remove"]) == 0
    assert "Nothing to undo" in capsys.readouterr().err


def test_what_is_left_is_said(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", "--non-interactive"])
    settings = user / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("600", "60"))
    assert main(["init", "--remove"]) == 0
    said = capsys.readouterr()
    assert "left     ~/.claude/settings.json" in said.out
    assert "changed by somebody" in said.err


def test_the_policy_that_is_installed_is_the_recipe() -> None:
    assert starter_policy() == RECIPE.read_text()

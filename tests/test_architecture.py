"""The house's rules: which way imports point, and what a light command may load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
VISIBLE = {"pyproject.toml", "vaultroom", "themes", "recipes", "tests", "docs", "README.md", "LICENSE"}


def test_every_contract_of_the_house_holds() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("heavy", ["textual", "rich", "aiohttp", "telegram", "celpy", "re2", "cryptography"])
def test_approve_list_is_light(heavy: str, tmp_path: Path) -> None:
    code = (
        "import sys; from vaultroom.cli.main import main; code = main(['approve', 'list', '--json']); "
        f"sys.exit(code or ({heavy!r} in sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"VAULTROOM_HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == '{"requests":[]}\n'


def test_the_top_level_is_what_the_design_says() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    top = {line.split("/")[0] for line in listed if line}
    if not top:
        pytest.skip("not a git checkout")
    assert {name for name in top if not name.startswith(".")} <= VISIBLE


def test_lint_and_types() -> None:
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        result = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"

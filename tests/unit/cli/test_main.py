from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from types import SimpleNamespace

import pytest

from vaultroom import __version__
from vaultroom.cli import main as cli
from vaultroom.cli.exit_codes import Exit
from vaultroom.errors import HostUnavailable, PolicyError, StoreError


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--config", "--verbose", "--no-color"):
        assert option in shown
    module = importlib.import_module(f"vaultroom.cli.{cli.COMMANDS[name][0]}")
    assert module.__doc__


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"vaultroom {__version__}\n"
    assert cli.main([]) == 0
    assert "vaultroom demo" in capsys.readouterr().out


def test_common_options_may_stand_before_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    verify = importlib.import_module("vaultroom.cli.verify")
    monkeypatch.setattr(verify, "run", lambda args: seen.append(args.config) or 0)
    assert cli.main(["--config", "p.yaml", "verify", "--json"]) == 0
    assert cli.main(["verify", "--json", "--config", "p.yaml"]) == 0
    assert seen == ["p.yaml", "p.yaml"]


@pytest.mark.parametrize("arguments", [["nonsense"], ["approve"], ["approve", "allow"], ["verify", "--what"]])
def test_a_wrong_command_line_is_2(arguments: list[str]) -> None:
    assert cli.main(arguments) == Exit.INVALID


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PolicyError("p", advice="do this"), 2),
        (HostUnavailable("h"), 77),
        (StoreError("s"), 1),
        (OSError("o"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_exit_codes_and_words(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(args: argparse.Namespace) -> int:
        raise error

    module = SimpleNamespace(add_arguments=lambda parser: None, run=run)
    monkeypatch.setattr(cli.importlib, "import_module", lambda name: module)
    assert cli.main(["verify"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    if isinstance(error, PolicyError):
        assert said.err == "vaultroom: p\n  do this\n"


def test_a_reader_that_leaves_is_no_error() -> None:
    shown = subprocess.run(
        f"{sys.executable} -m vaultroom --help | head -n 1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.stdout.endswith("\n0\n")
    assert shown.stderr == ""

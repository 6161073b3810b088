"""`vaultroom run` on a real terminal, as its user sees it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.kit.tmux import Tmux, tmux
from tests.kit.world import VAULTROOM, World, wait_for

pytestmark = pytest.mark.terminal


@pytest.fixture
def pane(world: World) -> Iterator[Tmux]:
    """A shell that is guarded by `vaultroom run`, at 80 × 24."""
    environ = world.environ({"PS1": "> "})
    with tmux(["bash", "--norc"], environ=environ, cwd=world.work) as made:
        made.line(f"{VAULTROOM} run -- bash --norc; echo ended $?")
        wait_for(lambda: list((world.home / "sessions").glob("*.json")), "the session")
        made.line("clear; echo in the session")
        made.wait("in the session")
        yield made


def _armed(pane: Tmux) -> None:
    pane.wait("expires 0:")
    time.sleep(1.0)  # answers are armed some time after painting


def test_allow_with_one_key(world: World, pane: Tmux) -> None:
    pane.line("git push origin main; echo code $?")
    _armed(pane)
    assert "$ git push origin main" in pane.screen()
    pane.type("a")
    shown = pane.wait("code 128")
    assert "allowed once" in shown
    assert [row[5] for row in world.rows("final_effect='allow'")] == ["tty"]


def test_deny_with_a_reason(world: World, pane: Tmux) -> None:
    pane.line("git push; echo code $?")
    _armed(pane)
    pane.type("e")
    time.sleep(0.3)
    pane.type("not on friday")
    time.sleep(0.3)
    pane.key("Enter")
    assert "not on friday" in pane.wait("code 126")
    outcome = json.loads(world.rows("final_effect='deny'")[0][6])
    assert outcome["record"]["reason"] == "not on friday"


def test_keys_typed_before_the_question_do_not_answer_it(world: World, pane: Tmux) -> None:
    pane.line("sleep 0.7; git push; echo code $?")
    for _ in range(12):
        pane.type("a")
        time.sleep(0.1)
    _armed(pane)
    assert len(world.requests()) == 1
    pane.type("d")
    pane.wait("code 126")


def test_an_answer_from_another_terminal_ends_the_question(world: World, pane: Tmux) -> None:
    pane.line("git push; echo code $?")
    pane.wait("expires 0:")
    assert world.call("approve", "allow", world.requests()[0]["id"]).returncode == 0
    shown = pane.wait("code 128")
    assert "allowed once (by cli)" in shown


def test_stop_and_go_on_from_the_keyboard(world: World, pane: Tmux) -> None:
    pane.line("exit")
    pane.wait("ended 0")
    pane.line(f"{VAULTROOM} run -- sleep 1000")
    wait_for(lambda: list((world.home / "sessions").glob("*.json")), "the session")
    time.sleep(0.5)
    pane.key("C-z")
    pane.wait("Stopped")
    pane.line("fg; echo code $?")
    time.sleep(0.5)
    pane.key("C-c")
    pane.wait("code 130")


def test_a_terminal_that_goes_away_ends_the_session_sealed(world: World, pane: Tmux) -> None:
    pane.line("git push; echo code $?")
    pane.wait("expires 0:")
    pane._tmux("kill-session")
    wait_for(lambda: world.rows("action='session.close'"), "the seal")
    assert world.rows("final_effect='allow'") == []
    verified = json.loads(world.call("verify", "--json").stdout)
    assert [s["state"] for s in verified["sessions"]] == ["sealed"]


def test_hostile_text_reaches_no_terminal(world: World, pane: Tmux) -> None:
    pane.line(r"""git push $'\e]0;owned\a\e[2J' $'\u202egnp.exe'; echo code $?""")
    _armed(pane)
    shown = pane.screen()
    assert "<U+202E>" in shown
    assert "␛" in shown
    assert "approval requested" in shown
    pane.type("d")
    pane.wait("code 126")


def test_a_signal_reaches_an_agent_that_is_held_for_a_question(world: World, pane: Tmux) -> None:
    pane.line("git push; echo code $?")
    _armed(pane)
    (runner,) = {
        json.loads(path.read_text())["runner"]["pid"] for path in (world.home / "sessions").glob("*.json")
    }
    os.kill(runner, signal.SIGHUP)
    pane.wait("ended 129")
    assert world.rows("final_effect='allow'") == []

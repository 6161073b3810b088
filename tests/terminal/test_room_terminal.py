"""The control room in tmux, with agents in processes of their own: as its user sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.kit.tmux import Tmux, tmux
from tests.kit.world import VAULTROOM, World, wait_for

pytestmark = [pytest.mark.terminal, pytest.mark.timeout(180)]

ARMED_SECONDS = 1.2


@pytest.fixture
def panes(world: World) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _room(world: World, panes: ExitStack, columns: int = 80, rows: int = 24) -> Tmux:
    """A shell with a room in it, so that the terminal after the room can be looked at."""
    pane = panes.enter_context(
        tmux(
            ["bash", "--norc"],
            environ=world.environ({"PS1": "> "}),
            cwd=world.work,
            columns=columns,
            rows=rows,
        )
    )
    pane.line(f"{VAULTROOM}; echo closed $?")
    pane.wait("Agents")
    wait_for(world.is_hosted, "the host")
    return pane


def _asked(pane: Tmux) -> None:
    pane.wait("[ASK]")
    time.sleep(ARMED_SECONDS)


def test_one_key_lets_go_one_key_stops_and_a_reason_arrives(world: World, panes: ExitStack) -> None:
    room = _room(world, panes)
    assert "vaultroom run" in room.screen()
    world.script('for i in 1 2 3; do git push r$i; echo "code $?"; done')
    agent = world.start("run", "--agent", "tester", "--", "bash", "agent.sh")
    room.wait("$ git push r1")
    _asked(room)
    shown = room.screen()
    assert "git-push-ask" in shown
    assert "tester" in shown
    room.type("a")
    room.wait("$ git push r2")
    time.sleep(ARMED_SECONDS)
    room.type("d")
    room.wait("$ git push r3")
    time.sleep(ARMED_SECONDS)
    room.type("e")
    time.sleep(0.5)
    room.type("ask me on monday")
    time.sleep(0.3)
    room.key("Enter")
    out, err = agent.communicate(timeout=30)
    assert out == "code 128\ncode 126\ncode 126\n"
    assert 'denied by rule "git-push-ask"' in err
    assert "reason: ask me on monday" in err
    ended = world.rows("final_effect IS NOT NULL")
    assert [row[4:6] for row in ended] == [("allow", "tui"), ("deny", "tui"), ("deny", "tui")]
    room.wait("No agent runs yet")
    room.type("q")
    room.wait("closed 0")


def test_closed_and_opened_again_while_an_agent_runs(world: World, panes: ExitStack) -> None:
    room = _room(world, panes)
    world.script(
        'touch ready; while [ ! -e closed ]; do sleep 0.05; done; cat /dev/null; echo "closed $?"\n'
        'touch refused; while [ ! -e again ]; do sleep 0.05; done; rm x; echo "again $?"'
    )
    agent = world.start("run", "--", "bash", "agent.sh")
    wait_for((world.work / "ready").exists, "the agent")
    room.wait("bash")
    room.type("q")
    room.wait("Close the room?")
    time.sleep(ARMED_SECONDS)
    room.type("y")
    room.wait("closed 0")
    (world.work / "closed").touch()
    wait_for((world.work / "refused").exists, "the refusal")
    room.line(f"clear; {VAULTROOM}; echo closed again $?")
    room.wait("Agents")
    wait_for(world.is_hosted, "the host")
    (world.work / "again").touch()
    out, _ = agent.communicate(timeout=30)
    assert out == "closed 77\nagain 126\n"
    room.wait("[DENY]")
    room.wait("No agent runs yet")
    room.type("q")
    room.wait("closed again 0")
    assert json.loads(world.call("verify", "--json").stdout)["ok"] is True


def test_typing_while_requests_pop_up_answers_none_of_them(world: World, panes: ExitStack) -> None:
    room = _room(world, panes)
    world.script("sleep 0.5; for i in $(seq 20); do git push r$i & sleep 0.12; done; wait")
    world.start("run", "--", "bash", "agent.sh")
    sentence = "a dark and deadly drama ended, and all red wizards made merry; "
    for letter in sentence:
        if letter not in "qnxz":  # keys that open a form or end things
            room.type(letter)
        time.sleep(0.05)
    wait_for(lambda: len(world.requests()) == 20, "twenty requests")
    assert world.rows("final_effect IS NOT NULL") == []


def test_a_second_room_attaches_and_sees_the_same(world: World, panes: ExitStack) -> None:
    first, second = _room(world, panes), _room(world, panes, 120, 40)
    world.script("git push; echo $?")
    agent = world.start("run", "--", "bash", "agent.sh")
    _asked(first)
    _asked(second)
    assert "attached" in second.screen()
    second.type("d")
    assert agent.communicate(timeout=30)[0] == "126\n"
    wait_for(lambda: "[ASK] $ git push" not in first.screen(), "the card to go")
    second.type("q")
    second.wait("closed 0")


def test_an_attached_room_survives_its_host(world: World, panes: ExitStack) -> None:
    daemon = world.host()
    room = _room(world, panes)
    daemon.kill()
    daemon.wait()
    wait_for(world.is_hosted, "the room to become the host")
    world.script("rm x; echo $?")
    assert world.call("run", "--", "bash", "agent.sh").stdout == "126\n"
    assert "Traceback" not in room.screen()


def test_an_agent_started_in_the_room(world: World, panes: ExitStack) -> None:
    room = _room(world, panes)
    world.script('echo "hello from inside"; rm x; echo "code $?"; sleep 1000')
    room.type("n")
    time.sleep(0.5)
    room.type("bash agent.sh")
    room.key("Enter")
    wait_for(lambda: world.rows("verdict='deny'"), "the denial")
    room.wait("hello from inside")
    room.wait("code 126")


@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (40, 10), (300, 100)])
def test_any_size_is_survived(world: World, panes: ExitStack, columns: int, rows: int) -> None:
    room = _room(world, panes)
    for _ in range(5):
        room.resize(columns, rows)
        time.sleep(0.1)
        room.resize(80, 24)
        time.sleep(0.1)
    room.resize(columns, rows)
    time.sleep(0.5)
    assert "Traceback" not in room.screen()
    room.resize(80, 24)
    room.wait("Agents")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_close_it_and_the_terminal_is_restored(
    world: World, panes: ExitStack, number: signal.Signals
) -> None:
    room = _room(world, panes)
    (pid,) = subprocess.run(
        ["pgrep", "-P", str(room.pane_pid()), "-f", "vaultroom"], capture_output=True, text=True, check=True
    ).stdout.split()
    os.kill(int(pid), number)
    room.wait("closed 0")
    room.line("stty -a | grep -o ' echo ' | head -1; echo done")
    assert " echo" in room.wait("done")
    assert not world.is_hosted()


def test_a_terminal_that_goes_away_denies_what_waits(world: World, panes: ExitStack) -> None:
    room = _room(world, panes)
    world.script('git push; echo "code $?"')
    agent = world.start("run", "--", "bash", "agent.sh")
    _asked(room)
    subprocess.run(["tmux", "-L", room.socket, "kill-server"], check=True)
    out, _ = agent.communicate(timeout=30)
    assert out in ("code 126\n", "code 77\n")
    assert world.rows("final_effect='allow'") == []
    wait_for(lambda: not world.is_hosted(), "the room to end")


def test_the_demo_opens_the_room_and_the_person_answers(world: World, panes: ExitStack) -> None:
    pane = panes.enter_context(
        tmux(["bash", "--norc"], environ=world.environ({"PS1": "> "}), cwd=world.work, columns=100, rows=30)
    )
    pane.line(f"{VAULTROOM} demo; echo ended $?")
    pane.wait("publish-ask", 60)
    time.sleep(ARMED_SECONDS)
    pane.type("a")
    pane.wait("session closed", 30)
    pane.wait("No agent runs yet")
    pane.type("q")
    pane.wait("ended 0", 30)
    assert "valid: 1 session" in pane.screen()

"""What a front end can do to a host, through the socket and in process: the same calls, the same results."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.world import POLICY, wait_for
from vaultroom.control.local import LocalControl
from vaultroom.control.protocol import AnswerCommand, Control, RequestView, SessionStart, State, Steer
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable, PolicyError, VaultroomError
from vaultroom.paths import find_home
from vaultroom.supervisor.host import Host
from vaultroom.terminal import read_process


@dataclass(frozen=True)
class Stage:
    host: Host
    control: Control
    work: Path

    def start(self, *argv: str, policy: str = POLICY) -> SessionStart:
        return SessionStart(
            agent_name="agent",
            agent_command=argv,
            cwd=str(self.work),
            policy=policy.encode(),
            policy_name="policy.yaml",
            path=os.environ["PATH"],
            home=str(self.work),
        )

    def launch(self, script: str) -> str:
        return self.control.launch(self.start("bash", "-c", script), dict(os.environ))

    def text(self, session_id: str) -> str:
        return self.control.output(session_id, 0).text

    def until(self, found: Callable[[State], object], what: str) -> State:
        def look() -> State | None:
            state = self.control.state()
            return state if found(state) else None

        return wait_for(look, what)

    def request(self) -> RequestView:
        return self.until(lambda state: state.requests, "a request").requests[0]


@pytest.fixture(params=["local", "remote"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    home = find_home({"VAULTROOM_HOME": str(tmp_path / "vault")})
    host = Host.open(home, home.audit_db)
    assert host is not None
    control: Control = LocalControl(host) if request.param == "local" else RemoteControl(home.control_socket)
    work = tmp_path / "work"
    work.mkdir()
    yield Stage(host, control, work)
    control.close()
    host.close()


def test_a_launched_agent_runs_guarded_and_its_output_is_kept(stage: Stage) -> None:
    session = stage.launch("echo hello; rm x; echo code $?; read line; echo got $?")
    wait_for(lambda: stage.control.output(session, 0).closed, "the end")
    text = stage.text(session)
    assert "hello\n" in text
    assert 'denied by rule "block-rm"' in text
    assert "code 126\n" in text
    assert "got 1\n" in text
    stage.until(lambda state: not state.sessions, "the session to close")


def test_freeze_thaw_and_stop(stage: Stage) -> None:
    session = stage.launch("echo up; sleep 1000")
    wait_for(lambda: "up" in stage.text(session), "the agent")
    view = stage.until(lambda state: state.sessions and state.sessions[0].child_pid, "the pid").sessions[0]
    assert (view.state, view.launched) == ("running", True)

    def process_state() -> str:
        process = read_process(view.child_pid)
        return process.state if process else "gone"

    stage.control.steer(session, Steer.FREEZE)
    wait_for(lambda: process_state() == "T", "the freeze")
    assert stage.control.state().sessions[0].state == "frozen"
    stage.control.steer(session, Steer.THAW)
    wait_for(lambda: process_state() == "S", "the thaw")
    stage.control.steer(session, Steer.FREEZE)
    stage.control.steer(session, Steer.STOP)
    stage.until(lambda state: not state.sessions, "the end")
    with pytest.raises(VaultroomError, match="expected an open session"):
        stage.control.steer(session, Steer.STOP)


def test_an_agent_that_ignores_sigterm_is_killed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vaultroom.supervisor.child.GRACE_SECONDS", 0.3)
    session = stage.launch("trap '' TERM; echo up; while :; do sleep 0.1; done")
    wait_for(lambda: "up" in stage.text(session), "the agent")
    stage.control.steer(session, Steer.STOP)
    stage.until(lambda state: not state.sessions, "the end")


def test_stopping_refuses_what_the_agent_asks(stage: Stage) -> None:
    session = stage.launch("trap '' TERM; git push; echo code $?")
    stage.request()
    stage.control.steer(session, Steer.STOP)
    wait_for(lambda: "code 126" in stage.text(session), "the refusal")
    assert "a person stopped this session" in stage.text(session)


def test_a_question_with_its_dossier_and_a_grant_that_is_revoked(stage: Stage) -> None:
    asking = "  - name: delete-ask\n    match: {action: [fs.delete]}\n    effect: require_approval\n"
    policy = POLICY.replace('event.cmd == "rm"', 'event.cmd == "never"').replace(
        "rules:\n", f"rules:\n{asking}"
    )
    (stage.work / "tree").mkdir()
    for name in ("one", "two"):
        (stage.work / "tree" / name).write_text("12345")
    script = "rm -r tree; echo code $?; mkdir tree; rm -r tree; echo again $?"
    start = stage.start("bash", "-c", script, policy=policy)
    session = stage.control.launch(start, dict(os.environ))
    state = stage.until(lambda s: s.requests and s.requests[0].dossier.chain, "the dossier")
    (request,) = state.requests
    assert request.rule == "delete-ask"
    assert request.dossier.removal is not None
    assert (request.dossier.removal.files, request.dossier.removal.bytes) == (2, 10)
    assert [name.split()[0] for name in request.dossier.chain][-1] == "bash"
    assert any("delete" in line and "delete-ask" in line for line in request.dossier.facets)
    answer = AnswerCommand(request.id, "allow_rule", "tui", shown=request.card["shown"])
    assert stage.control.answer(answer) == "accepted"
    assert stage.control.answer(answer) == "already:allowed_rule"
    wait_for(lambda: "again 0" in stage.text(session), "the second delete")
    grants = stage.control.state().grants
    assert [(g.rule, g.by) for g in grants] in ([("delete-ask", "tui")], [])


def test_a_grant_is_listed_counted_and_revoked(stage: Stage) -> None:
    session = stage.launch("git push; git push; while [ ! -e go ]; do sleep 0.05; done; git push; echo over")
    request = stage.request()
    shown = request.card["shown"]
    stage.control.answer(AnswerCommand(request.id, "allow_rule", "tui", shown=shown, minutes=5))
    grant = stage.until(lambda state: state.grants and state.grants[0].hits == 1, "a hit").grants[0]
    assert grant.seconds_left is not None
    assert 200 < grant.seconds_left <= 300
    assert stage.control.revoke(grant.id)
    assert not stage.control.revoke(grant.id)
    assert stage.control.state().grants == ()
    (stage.work / "go").touch()
    again = stage.request()
    stage.control.answer(AnswerCommand(again.id, "deny", "tui", shown=again.card["shown"]))
    wait_for(lambda: "over" in stage.text(session), "the end")


def test_an_answer_to_what_was_not_shown_is_refused(stage: Stage) -> None:
    stage.launch("git push")
    request = stage.request()
    for shown in ("", "0" * 64):
        assert stage.control.answer(AnswerCommand(request.id, "allow_once", "tui", shown=shown)).startswith(
            "changed"
        )
    assert stage.control.answer(AnswerCommand(request.id, "deny", "cli")) == "accepted"
    assert stage.control.answer(AnswerCommand("01J00000000000000000000000", "deny", "cli")) == "unknown"


def test_a_watching_room_is_a_surface_and_hears_of_changes(stage: Stage) -> None:
    states: queue.SimpleQueue[State] = queue.SimpleQueue()
    stop = stage.control.watch(states.put, "tui")
    first = states.get(timeout=10)
    assert first.sessions == ()
    stage.until(lambda state: state.rooms == 1, "the room to be seen")
    assert stage.control.state().host.surfaces == ("tui",)
    stage.launch("rm x; rm y; sleep 2")
    wait_for(lambda: any(s.denied == 2 for s in _latest(states).sessions), "the counts")
    stop()


def _latest(states: queue.SimpleQueue[State]) -> State:
    state = states.get(timeout=10)
    while not states.empty():
        state = states.get()
    return state


def test_what_cannot_be_started_is_named(stage: Stage) -> None:
    with pytest.raises(VaultroomError, match="no-such-program"):
        stage.control.launch(stage.start("no-such-program"), dict(os.environ))
    with pytest.raises(PolicyError):
        stage.control.launch(stage.start("true", policy="version: 2\n"), dict(os.environ))
    assert stage.control.state().sessions == ()


def test_a_closed_host_is_gone(stage: Stage) -> None:
    stage.launch("sleep 0.2")
    stage.host.close()
    with pytest.raises(HostUnavailable):
        stage.control.state()

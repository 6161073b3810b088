"""`vaultroom demo`: a denial, an approval and a signed log in a throw-away folder, within a minute.

A scripted agent really runs under a real host: the same shims, gate and log as with any agent. Nothing
outside the folder is touched.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, say
from vaultroom.control.local import LocalControl
from vaultroom.control.protocol import AnswerCommand, SessionGrant, SessionStart, State
from vaultroom.paths import Home, find_home
from vaultroom.supervisor.environment import child_environment
from vaultroom.supervisor.host import Host
from vaultroom.visible import visible

POLICY = """\
version: 1
defaults: {action: deny, approval_timeout: 5m}
rules:
  - name: "protect-precious"
    match: {action: [fs.delete], path: ["./precious/**"]}
    effect: deny
    message: "Nobody deletes the precious folder."
  - name: "everyday-tools"
    match: {action: [shell.exec], cel: 'event.cmd in ["cat", "rm"]'}
    effect: allow
  - name: "publish-ask"
    match: {action: [shell.exec], cel: 'event.cmd == "mv"'}
    effect: require_approval
shims:
  binaries: [cat, rm, mv]
"""

AGENT = """\
pause() { sleep "${DEMO_PAUSE:-0}"; }
pause
echo "I read the notes first."
cat notes.txt
pause
echo "The precious folder looks old. I clean it up."
rm -rf precious || echo "That was refused (exit code $?). I leave it and carry on."
pause
echo "The report is done. I publish it."
mv report.draft report.md && echo "Published." || echo "Not published (exit code $?)."
pause
"""

ROOM_PAUSE = 2.5
"""Seconds between the agent's steps where a person watches."""

ENTRIES = {
    "notes.txt": "- publish the report\n",
    "report.draft": "All is well.\n",
    "precious/photo.txt": "irreplaceable\n",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pause", type=float, default=2.0, metavar="S", help="seconds before the answer")
    parser.add_argument("--transcript", action="store_true", help="no room: print what happens")
    parser.add_argument("--keep", action="store_true", help="keep the folder and say where it is")


def run(args: argparse.Namespace) -> int:
    root = Path(tempfile.mkdtemp(prefix="vaultroom-demo-"))
    try:
        in_room = not args.transcript and sys.stdin.isatty() and sys.stdout.isatty()
        return _demo(root, max(0.0, args.pause), in_room=in_room)
    finally:
        if args.keep:
            say(f"The demo's folder: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)


def _demo(root: Path, pause: float, *, in_room: bool) -> int:
    home = find_home({"VAULTROOM_HOME": str(root / "vaultroom")})
    work = root / "work"
    for name, text in {**ENTRIES, "agent.sh": AGENT}.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    home.prepare()
    home.user_policy.write_text(POLICY)
    if in_room:
        code = _open_room(home, work)
    else:
        _title("A policy of three rules; everything else is denied")
        data(_indented(POLICY.split("rules:\n")[1].split("shims:", maxsplit=1)[0].rstrip()))
        _title("An agent works; Vaultroom stands in between")
        code = _run_agent(home, work, pause)
    _title("What is left of it")
    data(f"  precious/photo.txt  {'still there' if (work / 'precious/photo.txt').exists() else 'GONE'}")
    data(f"  report.md           {'published' if (work / 'report.md').exists() else 'not published'}")
    _title("The log: written before each act, chained and signed")
    _print_log(home)
    data("")
    return Exit.OK if code == 0 and _verify(home) == 0 else Exit.FAILED


def _open_room(home: Home, work: Path) -> int:
    """The same story in the control room, with the person at the keyboard to answer."""
    from vaultroom.cli.room import open_screen

    host = _host_of(home)
    control = LocalControl(host)
    try:
        control.launch(_start(home, work), {**os.environ, "DEMO_PAUSE": f"{ROOM_PAUSE:g}"})
        return open_screen(
            home,
            control,
            notices=(
                "A scripted agent works in a throw-away folder. It will ask you before it publishes.",
                "Press q when you have seen enough: the log and its check follow.",
            ),
        )
    finally:
        host.close()


def _run_agent(home: Home, work: Path, pause: float) -> int:
    host = _host_of(home)
    control = LocalControl(host)
    try:
        grant = control.open_session(_start(home, work))
        answering = _Answering(control, pause)
        stop_watching = control.watch(answering.receive)
        code = _stream(grant, work, control)
        stop_watching()
        control.close_session(grant.id, code)
        return code
    finally:
        host.close()


def _host_of(home: Home) -> Host:
    host = Host.open(home, home.audit_db)
    if host is None:
        raise RuntimeError("the demo's own folder has a host already")
    return host


def _start(home: Home, work: Path) -> SessionStart:
    return SessionStart(
        agent_name="demo-agent",
        agent_command=("sh", "agent.sh"),
        cwd=str(work),
        policy=POLICY.encode(),
        policy_name=str(home.user_policy),
        path=os.environ.get("PATH", os.defpath),
        home=os.path.expanduser("~"),
    )


def _stream(grant: SessionGrant, work: Path, control: LocalControl) -> int:
    environ = child_environment(os.environ, {**grant.environ, "NO_COLOR": "1"}, grant.withheld)
    agent = subprocess.Popen(
        ["sh", "agent.sh"],
        cwd=work,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    control.child_started(grant.id, agent.pid)
    assert agent.stdout is not None
    with agent.stdout as lines:
        for line in lines:
            data(f"  agent | {visible(line.rstrip())}")
            sys.stdout.flush()
    return agent.wait()


class _Answering:
    """The person of the demo: looks at the card, pauses, allows it once."""

    def __init__(self, control: LocalControl, pause: float) -> None:
        self._control = control
        self._pause = pause
        self._seen: set[str] = set()

    def receive(self, state: State) -> None:
        for request in state.requests:
            if request.id not in self._seen:
                self._seen.add(request.id)
                threading.Thread(
                    target=self._answer, args=(request.id, request.summary, request.rule)
                ).start()

    def _answer(self, request_id: str, summary: str, rule: str) -> None:
        data(f"  [ASK]  | {summary}   (rule {rule})")
        data(f"         | a person looks at it for {self._pause:g} s …")
        sys.stdout.flush()
        time.sleep(self._pause)
        result = self._control.answer(AnswerCommand(request=request_id, kind="allow_once", by="cli"))
        data(f"         | … and allows it once ({result})")
        sys.stdout.flush()


_BADGES = {"allow": "[ALLOW]", "deny": "[DENY] ", "require_approval": "[ASK]  "}


def _print_log(home: Home) -> None:
    for row in _rows(home):
        badge = _BADGES[row["final_effect"] or row["verdict"]]
        target = row["payload"].get("raw", "")
        if row["final_effect"]:
            waited = row["payload"]["waited"] / 1e9
            target = f"answered by {row['approved_by']} after {waited:.1f} s"
        name = row["rule_name"] or ""
        data(
            f"  {row['seq']:>2}  {row['ts'][11:23]}  {row['action']:<13} {badge} {name:<17} {visible(target)}"
        )


def _rows(home: Home) -> list[dict[str, Any]]:
    from vaultroom.audit.reader import AuditReader

    with AuditReader(home.audit_db) as log:
        return [
            {
                "seq": row.seq,
                "ts": row.ts,
                "action": row.action,
                "verdict": row.verdict,
                "rule_name": row.rule_name,
                "final_effect": row.final_effect,
                "approved_by": row.approved_by,
                "payload": json.loads(row.payload),
            }
            for row in log.page(100)
        ]


def _verify(home: Home) -> int:
    from vaultroom.cli import verify

    before = os.environ.get("VAULTROOM_HOME")
    os.environ["VAULTROOM_HOME"] = str(home.data)
    try:
        _title("vaultroom verify")
        parser = argparse.ArgumentParser()
        verify.add_arguments(parser)
        return verify.run(parser.parse_args([]))
    finally:
        if before is None:
            del os.environ["VAULTROOM_HOME"]
        else:
            os.environ["VAULTROOM_HOME"] = before


def _title(text: str) -> None:
    data(f"\n── {text} " + "─" * max(2, 76 - len(text)))
    sys.stdout.flush()


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))

"""What `vaultroom run` does around a TtyPrompter, in small: a process with a terminal and a child job.

`tty_driver.py TTY CHILD…` makes TTY its controlling terminal and starts CHILD as the foreground job.
It takes JSON lines on standard input and writes JSON lines to standard output.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from vaultroom.approvals.answer import Answer, AnswerResult, Outcome, RequestState
from vaultroom.approvals.card import card_from_dict
from vaultroom.approvals.channels.tty import Ended, TtyPrompter
from vaultroom.terminal import all_processes, find_jobs


def say(**members: Any) -> None:
    sys.stdout.write(json.dumps(members) + "\n")
    sys.stdout.flush()


def answered(request_id: str, answer: Answer) -> AnswerResult:
    say(answer=answer.kind.value, id=request_id, reason=answer.reason, shown=answer.shown, by=answer.by)
    return AnswerResult(Outcome.ACCEPTED)


def main() -> None:
    tty = os.open(sys.argv[1], os.O_RDWR)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    child = subprocess.Popen(
        sys.argv[2:], stdin=tty, stdout=tty, stderr=tty, process_group=0, restore_signals=True
    )
    os.tcsetpgrp(tty, child.pid)
    # A shell that looked before it had the terminal stopped itself.
    os.killpg(child.pid, signal.SIGCONT)
    prompter = TtyPrompter(answered, child=child.pid)

    def terminated(number: int, frame: object) -> None:
        prompter.close()
        say(closed=prompter.state)
        child.kill()
        os._exit(0)

    signal.signal(signal.SIGTERM, terminated)
    started = prompter.start()
    say(started=started, child=child.pid)
    stranger = 0
    for line in sys.stdin:
        order = json.loads(line)
        if "show" in order:
            ended = [Ended(one["id"], RequestState(one["state"]), one["by"]) for one in order["ended"]]
            prompter.show([card_from_dict(card) for card in order["show"]], ended)
        elif "enabled" in order:
            prompter.set_enabled(order["enabled"])
        elif "background" in order:
            stranger = stranger or _stranger()
            os.tcsetpgrp(tty, stranger if order["background"] else child.pid)
            say(moved=True)
        elif "state" in order:
            say(state=prompter.state, foreground=_foreground(tty), failure=prompter.failure)
    prompter.close()
    for group in find_jobs(all_processes(), root=os.getpid(), child=child.pid, own=os.getpgrp()).ours:
        os.killpg(group, signal.SIGKILL)
    child.wait()
    if stranger:
        os.kill(stranger, signal.SIGKILL)


def _stranger() -> int:
    """A job on this terminal that is not ours: its parent is gone, so that it does not descend from us."""
    program = (
        "from subprocess import DEVNULL, Popen; "
        "print(Popen(['sleep', '600'], process_group=0, stdout=DEVNULL).pid, flush=True)"
    )
    made = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    return int(made.stdout)


def _foreground(tty: int) -> int:
    try:
        return os.tcgetpgrp(tty)
    except OSError:
        return -1


if __name__ == "__main__":
    main()

"""The prompt on a real pseudo-terminal, with a real job under it."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from tests.terminal.tty_bench import READY, Bench, a_card
from tests.unit.approvals.making import command

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

SLEEP = (sys.executable, "-c", "import time\nprint('child runs', flush=True)\ntime.sleep(600)")
CONTINUED = (
    sys.executable,
    "-u",
    "-c",
    "import signal, time\nsignal.signal(signal.SIGCONT, lambda *_: print('was continued'))\n"
    "print('child runs')\nwhile True: time.sleep(60)",
)
ECHO = (sys.executable, "-u", "-c", "print('child runs')\nwhile True: print('child got', repr(input()))")
RAW = (
    sys.executable,
    "-u",
    "-c",
    "import tty, sys, time\ntty.setraw(0)\nprint('child runs')\ntime.sleep(600)",
)
BASH = ("bash", "--norc", "--noprofile", "-i")

OpenBench = Callable[..., Bench]


@pytest.fixture
def bench() -> Iterator[OpenBench]:
    with contextlib.ExitStack() as stack:

        def open_bench(*child: str, **size: int) -> Bench:
            made = Bench(*child, **size)
            stack.callback(made.close)
            return made

        yield open_bench


def asked(made: Bench, *cards: object) -> None:
    made.show(*cards)
    made.sees("approval requested")
    made.sees(READY)


@pytest.mark.parametrize("child", [SLEEP, RAW], ids=["cooked", "raw"])
@pytest.mark.parametrize(
    ("key", "answer"), [("a", "allow_once"), ("r", "allow_rule"), ("d", "deny"), ("\x03", "deny")]
)
def test_one_key_answers_and_everything_is_as_before(
    bench: OpenBench, child: tuple[str, ...], key: str, answer: str
) -> None:
    made = bench(*child)
    made.sees("child runs")
    before, card = made.modes(), a_card()
    made.show(card)
    made.sees("$ git push origin main")
    made.sees("cwd: /home/dev/proj")
    made.sees("r remembers: $ git push origin main")
    made.sees(READY)
    assert made.process(made.child).state == "T"
    assert made.modes() != before
    assert made.state()["foreground"] == made.driver.pid
    made.press(key)
    heard = made.heard("answer")
    assert (heard["answer"], heard["id"], heard["shown"], heard["by"]) == (answer, card.id, card.shown, "tty")
    assert made.until_state("idle")["foreground"] == made.child
    made.until_process(made.child, stopped=False)
    assert made.modes() == before


def test_keys_typed_before_and_at_the_first_moment_answer_nothing(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    made.type("aaaa")
    made.show(a_card())
    made.sees("approval requested")
    for _ in range(30):
        made.type("a")
        time.sleep(0.02)
    made.sees("keys count in a moment")
    made.press("d")
    assert made.heard("answer")["answer"] == "deny"


def test_a_paste_and_an_arrow_answer_nothing(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    asked(made, a_card())
    made.press("\x1b[200~a\x1b[201~")
    made.press("all good")
    made.press("\x1b[A")
    made.press("\x1bOa")
    made.press("d")
    assert made.heard("answer")["answer"] == "deny"


def test_what_is_typed_at_the_prompt_does_not_reach_the_agent(bench: OpenBench) -> None:
    made = bench(*ECHO)
    made.sees("child runs")
    made.type("typed ahead")
    time.sleep(0.1)
    asked(made, a_card())
    made.press("d")
    made.heard("answer")
    made.until_state("idle")
    made.type("hello\n")
    made.sees("child got 'hello'")


def test_a_deny_with_a_typed_reason(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    asked(made, a_card())
    made.press("e")
    made.sees("reason")
    made.type("not on friday\x7fy\r")
    heard = made.heard("answer")
    assert (heard["answer"], heard["reason"]) == ("deny", "not on fridayy"[:-2] + "y")


def test_a_long_command_is_allowed_only_after_its_end_was_seen(bench: OpenBench) -> None:
    made = bench(*SLEEP, rows=12, columns=60)
    made.sees("child runs")
    made.show(a_card(command("git", *(f"--option-{n}" for n in range(40)))))
    made.sees("space: more")
    made.press("a")
    made.sees("read to the end first")
    while "--option-39" not in made.screen.replace("\r\n  ", ""):
        made.press(" ")
        made.quiet(0.1)
    made.press(" ")
    made.press("a")
    assert made.heard("answer")["answer"] == "allow_once"


def test_it_expires_and_says_so(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    before = made.modes()
    made.show(a_card(seconds=1.5))
    made.sees("expires 0:00")
    made.sees("expired: denied")
    made.until_state("idle")
    made.until_process(made.child, stopped=False)
    assert made.modes() == before


def test_an_answer_from_elsewhere_takes_the_prompt_away(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    card = a_card()
    asked(made, card)
    made.show(ended=({"id": card.id, "state": "denied", "by": "telegram:42"},))
    made.sees("denied (by telegram:42)")
    made.until_state("idle")
    made.until_process(made.child, stopped=False)


def test_one_question_at_a_time_and_the_next_has_to_be_read_too(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    first, second = a_card(), a_card(command("npm", "publish"))
    made.show(first, second)
    made.sees("$ git push")
    made.sees("1 more waiting")
    made.press("a")
    assert made.heard("answer")["id"] == first.id
    made.type("a")
    made.sees("$ npm publish")
    assert made.process(made.child).state == "T"
    made.press("d")
    heard = made.heard("answer")
    assert (heard["answer"], heard["id"]) == ("deny", second.id)


def test_an_open_room_takes_the_prompt_away_and_gives_it_back(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    made.order(enabled=False)
    card = a_card()
    made.show(card)
    made.quiet(0.5)
    assert "approval" not in made.screen and made.state()["state"] == "idle"
    made.order(enabled=True)
    made.sees("approval requested")
    made.order(enabled=False)
    made.sees("asked in the room instead")
    made.until_state("idle")
    made.order(enabled=True)
    made.sees("approval requested")
    made.sees(READY)
    made.press("a")
    assert made.heard("answer")["id"] == card.id


def test_hostile_text_reaches_the_terminal_as_marks(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    made.show(a_card(command("x", "\x1b]52;c;AAAA\x07\x1b[2J\u202e")))
    made.sees("␛]52;c;AAAA␇␛[2J<U+202E>")


def test_a_terminal_that_is_closed_in_mid_prompt_answers_nothing(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    asked(made, a_card())
    made.hang_up()
    assert made.until_state("lost")["failure"]
    made.show(a_card())
    assert made.state()["state"] == "lost"


def test_sigterm_in_mid_prompt_puts_the_terminal_back(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    before = made.modes()
    asked(made, a_card())
    made.driver.send_signal(signal.SIGTERM)
    assert made.heard("closed")["closed"] == "closed"
    assert made.modes() == before
    made.driver.wait(20)


def test_the_end_of_the_program_puts_the_terminal_back(bench: OpenBench) -> None:
    made = bench(*SLEEP)
    made.sees("child runs")
    before = made.modes()
    asked(made, a_card())
    assert made.driver.stdin is not None
    made.driver.stdin.close()
    made.driver.wait(20)
    assert made.modes() == before


def test_a_shells_foreground_job_survives_without_a_stopped_message(bench: OpenBench) -> None:
    made = bench(*BASH)
    made.sees("PROMPT> ")
    made.type(
        "sleep 600 & python3 -u -c \"print('job'+' runs')\nwhile True: print('job got', repr(input()))\"\n"
    )
    made.sees("job runs")
    job = made.state()["foreground"]
    assert job not in (made.child, made.driver.pid)
    before = made.modes()
    made.screen = ""
    asked(made, a_card())
    assert made.process(made.child).state == "T" and made.process(job).state == "T"
    made.press("a")
    assert made.heard("answer")["answer"] == "allow_once"
    assert made.until_state("idle")["foreground"] == job
    made.until_process(job, stopped=False)
    assert made.modes() == before
    made.type("hello\n")
    made.sees("job got 'hello'")
    made.type("\x04")
    made.sees("PROMPT> ")
    made.type("echo shell $((40+2)) lives\n")
    made.sees("shell 42 lives")
    made.quiet(0.3)
    assert "Stopped" not in made.screen


def test_a_terminal_that_another_job_has_is_left_alone(bench: OpenBench) -> None:
    made = bench(*CONTINUED)
    made.sees("child runs")
    made.order(background=True)
    made.heard("moved")
    before = made.modes()
    made.show(a_card())
    made.quiet(1.2)
    assert "approval" not in made.screen and "was continued" not in made.screen
    assert made.modes() == before and made.process(made.child).state != "T"
    made.order(background=False)
    made.heard("moved")
    made.sees("approval requested")

"""A pseudo-terminal with the driver on it, and a person's hands and eyes for the tests."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.unit.approvals.making import request_for
from vaultroom import clock
from vaultroom.approvals.card import Card, card_of, card_to_dict
from vaultroom.events import Event
from vaultroom.terminal import Process, read_process

PATIENCE = 20.0
READY = "expires"


def a_card(event: Event | None = None, *, seconds: float = 60) -> Card:
    """A card whose deadline is `seconds` from now."""
    return replace(card_of(request_for(event)), deadline=clock.monotonic() + seconds)


class Bench:
    """The terminal's other end (`primary`), its modes (`secondary`), and the driver's orders."""

    def __init__(self, *child: str, rows: int = 40, columns: int = 100) -> None:
        self.primary, self.secondary = pty.openpty()
        self.size(columns, rows)
        self.screen = ""
        self._talk = b""
        driver = Path(__file__).with_name("tty_driver.py")
        self.driver = subprocess.Popen(
            [sys.executable, str(driver), os.ttyname(self.secondary), *child],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.getcwd(), "PS1": "PROMPT> ", "TERM": "xterm"},
        )
        started = self.heard("started")
        assert started["started"]
        self.child: int = started["child"]

    def size(self, columns: int, rows: int) -> None:
        termios.tcsetwinsize(self.secondary, (rows, columns))

    def order(self, **order: Any) -> None:
        assert self.driver.stdin is not None
        self.driver.stdin.write(json.dumps(order).encode() + b"\n")
        self.driver.stdin.flush()

    def show(self, *cards: Card, ended: tuple[dict[str, str], ...] = ()) -> None:
        self.order(show=[card_to_dict(card) for card in cards], ended=list(ended))

    def type(self, text: str) -> None:
        os.write(self.primary, text.encode())

    def press(self, key: str) -> None:
        """Press a key as a person does who has read the card: after the pause."""
        time.sleep(0.7)
        self.type(key)

    def heard(self, member: str) -> dict[str, Any]:
        """The driver's next line that has `member`."""
        return self._until(lambda: self._line(member), f"the driver to say {member!r}")

    def sees(self, text: str) -> None:
        """Wait until `text` is on the screen, and look only at what follows from then on."""

        def found() -> bool:
            return text in self.screen

        self._until(found, f"{text!r} on the screen")
        self.screen = self.screen.partition(text)[2]

    def quiet(self, seconds: float) -> None:
        """Look on for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look()

    def state(self) -> dict[str, Any]:
        self.order(state=True)
        return self.heard("state")

    def until_state(self, wanted: str) -> dict[str, Any]:
        def reached() -> dict[str, Any] | None:
            found = self.state()
            return found if found["state"] == wanted else None

        return self._until(reached, f"the prompter to be {wanted}")

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.secondary)

    def process(self, pid: int) -> Process:
        found = read_process(pid)
        assert found is not None, f"process {pid} is gone"
        return found

    def until_process(self, pid: int, stopped: bool) -> None:
        self._until(lambda: (self.process(pid).state == "T") is stopped, f"process {pid}: stopped={stopped}")

    def hang_up(self) -> None:
        os.close(self.primary)
        self.primary = -1

    def close(self) -> None:
        if self.driver.stdin is not None:
            self.driver.stdin.close()
        try:
            self.driver.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
            raise
        finally:
            if self.driver.stdout is not None:
                self.driver.stdout.close()
            for descriptor in (self.primary, self.secondary):
                if descriptor >= 0:
                    os.close(descriptor)

    def _until(self, found: Any, what: str) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = found()
            if value:
                return value
            self._look()
        raise AssertionError(f"expected {what}; the screen shows {self.screen[-2000:]!r}")

    def _line(self, member: str) -> dict[str, Any] | None:
        assert self.driver.stdout is not None
        ready, _, _ = select.select([self.driver.stdout], [], [], 0)
        if ready:
            self._talk += os.read(self.driver.stdout.fileno(), 65536)
        while b"\n" in self._talk:
            line, _, self._talk = self._talk.partition(b"\n")
            message: dict[str, Any] = json.loads(line)
            if member in message:
                return message
        return None

    def _look(self) -> None:
        if self.primary < 0:
            time.sleep(0.02)
            return
        ready, _, _ = select.select([self.primary], [], [], 0.02)
        if ready:
            self.screen += os.read(self.primary, 65536).decode("utf-8", "replace")

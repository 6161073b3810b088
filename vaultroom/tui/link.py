"""The line to the host: snapshots come in, a lost host is noticed, and a new one is looked for.

One thread of its own, no Textual. The room empties `states` and looks at `phase` on a timer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from vaultroom.control.protocol import Control, State
from vaultroom.errors import VaultroomError
from vaultroom.tui.slot import Slot

SURFACE = "tui"
PULSE_SECONDS = 1.0
RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Phase:
    """Whether a host answers. `why` says what was wrong last; `turn` counts the hosts that were joined."""

    lost: bool
    why: str = ""
    turn: int = 0


class Link:
    """Holds the present control. `start` and `stop` are called by the room, everything else from anywhere."""

    def __init__(
        self,
        control: Control,
        rejoin: Callable[[], Control],
        *,
        pulse: float = PULSE_SECONDS,
        retry: float = RETRY_SECONDS,
    ) -> None:
        self.control = control
        self.states: Slot[State] = Slot()
        self.phase = Phase(lost=False)
        self._rejoin = rejoin
        self._pulse, self._retry = pulse, retry
        self._order = threading.Lock()
        self._newest = -1
        self._stopping = threading.Event()
        self._doubt = threading.Event()
        self._thread = threading.Thread(target=self._run, name="room-link", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The first control stays open: who made it closes it."""
        self._stopping.set()
        self._doubt.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def doubt(self) -> None:
        """A command found no host: look now."""
        self._doubt.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            why = self._follow(self.control)
            if self._stopping.is_set():
                return
            self.phase = Phase(lost=True, why=why, turn=self.phase.turn)
            self._find_host()

    def _follow(self, control: Control) -> str:
        """Receive from this host until it is gone; why it is gone."""
        end: Callable[[], None] | None = None
        try:
            self._newest = -1
            end = control.watch(self._receive, surface=SURFACE)
            while not self._stopping.is_set():
                self._doubt.wait(self._pulse)
                self._doubt.clear()
                if not self._stopping.is_set():
                    self._receive(control.state())
        except (VaultroomError, OSError, RuntimeError) as error:
            return str(error)
        finally:
            if end is not None:
                with suppress(Exception):
                    end()
        return ""

    def _receive(self, state: State) -> None:
        """From the host's thread and from ours: an older state never replaces a newer one."""
        with self._order:
            if state.version > self._newest:
                self._newest = state.version
                self.states.put(state)

    def _find_host(self) -> None:
        old = self.control
        while not self._stopping.wait(self._retry):
            try:
                self.control = self._rejoin()
            except (VaultroomError, OSError, RuntimeError) as error:
                self.phase = Phase(lost=True, why=str(error), turn=self.phase.turn)
                continue
            if old is not self.control and self.phase.turn:
                with suppress(Exception):
                    old.close()
            self.phase = Phase(lost=False, turn=self.phase.turn + 1)
            return

"""The prompt on the terminal of `vaultroom run` (specification section 4.4).

The agent's jobs stand still while a question is on the screen, so that its keys and its output do not
mix with ours; afterwards modes, foreground and jobs are as before. Runs in a thread of its own, in
whichever process owns the terminal, and deals in plain cards. A terminal that is lost ends the
prompter, never the request: others can still answer, and time denies.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from vaultroom import clock
from vaultroom.approvals.answer import Answer, AnswerResult, Outcome, RequestState
from vaultroom.approvals.card import Card
from vaultroom.approvals.channels.keys import KeyDecoder
from vaultroom.approvals.channels.prompt_state import Command, Draw, PromptState, Send, Status
from vaultroom.terminal import NotForeground, Terminal, shield_thread, wait_for
from vaultroom.visible import visible

_TICK = 0.1
_RETRY = 0.5
"""Seconds until a terminal that another job has is looked at again."""

_ANSWER_PATIENCE = 5.0
_CLOSE_PATIENCE = 5.0
_HANDLED = 200

AnswerFuture = concurrent.futures.Future[AnswerResult]
GiveAnswer = Callable[[str, Answer], AnswerResult | AnswerFuture | None]
"""Called on the prompter's thread. An answer to a loop is given with `run_coroutine_threadsafe`."""


class PrompterState(StrEnum):
    IDLE = "idle"
    ASKING = "asking"
    LOST = "lost"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a request ended that may be on the screen: its id, final state, and who answered."""

    id: str
    state: RequestState
    by: str = ""


class TtyPrompter:
    """Asks one question at a time on the terminal.

    `child` is the agent's process group, None where there is none to hold. `answer` gives an answer to the
    broker, here or in the host. Call `show` with every new snapshot; all methods may be called from any
    thread, `close` from a signal handler's thread too.
    """

    def __init__(
        self,
        answer: GiveAnswer,
        *,
        child: int | None = None,
        tty_path: str = "/dev/tty",
        enabled: bool = True,
        monotonic: Callable[[], float] = clock.monotonic,
        hung_up: Callable[[], None] = lambda: None,
    ) -> None:
        self._answer = answer
        self._hung_up = hung_up
        self._child = child
        self._path = tty_path
        self._enabled = enabled
        self._monotonic = monotonic
        self._cards: tuple[Card, ...] = ()
        self._ended: dict[str, Ended] = {}
        self._handled: list[tuple[str, str]] = []
        self._state = PrompterState.IDLE
        self.failure = ""
        """Why the terminal was lost."""
        self._closing = False
        self._thread: threading.Thread | None = None
        self._terminal: Terminal | None = None
        self._wake_read = self._wake_write = -1

    @property
    def state(self) -> PrompterState:
        return self._state

    def start(self) -> bool:
        """Open the terminal and begin; False where there is none."""
        try:
            self._terminal = Terminal(self._path)
        except OSError as error:
            self.failure = str(error)
            self._state = PrompterState.LOST
            return False
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="tty prompt", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        return True

    def set_enabled(self, enabled: bool) -> None:
        """Ask here or not (not while a room is open). A question on the screen goes away."""
        self._enabled = enabled
        self._wake()

    def show(self, cards: Iterable[Card], ended: Iterable[Ended] = ()) -> None:
        """The newest snapshot: what waits, oldest first, and what ended lately."""
        self._ended = {one.id: one for one in ended}
        self._cards = tuple(cards)
        self._wake()

    def close(self) -> None:
        """Put the terminal back and end the thread."""
        atexit.unregister(self.close)
        self._closing = True
        self._wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_PATIENCE)

    def _wake(self) -> None:
        if self._wake_write >= 0:
            with contextlib.suppress(OSError):
                os.write(self._wake_write, b".")

    def _run(self) -> None:
        terminal = self._terminal
        assert terminal is not None
        shield_thread()
        try:
            while not self._closing:
                if self._next() is None:
                    self._sleep(None)
                    continue
                try:
                    with terminal.taken(self._child):
                        self._state = PrompterState.ASKING
                        self._ask_all(terminal)
                except NotForeground:
                    self._sleep(_RETRY)
                self._state = PrompterState.IDLE
            self._state = PrompterState.CLOSED
        except Exception as error:
            # A prompter that fails leaves its requests to others: it must not take the agent down.
            self.failure = f"{type(error).__name__}: {error}"
            self._state = PrompterState.LOST
            self._hung_up()
        finally:
            terminal.close()
            write, self._wake_write = self._wake_write, -1
            os.close(write)
            os.close(self._wake_read)

    def _sleep(self, seconds: float | None) -> None:
        """Wait for a wake-up; the caller looks at the state afterwards, so that none is missed."""
        wait_for([self._wake_read], seconds)
        self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)

    def _waiting(self) -> list[Card]:
        if not self._enabled or self._closing:
            return []
        now = self._monotonic()
        return [c for c in self._cards if c.deadline > now and (c.id, c.shown) not in self._handled]

    def _next(self) -> Card | None:
        waiting = self._waiting()
        return waiting[0] if waiting else None

    def _ask_all(self, terminal: Terminal) -> None:
        """Ask one question after the other; the jobs stay still in between."""
        while (card := self._next()) is not None:
            text = self._ask(terminal, card)
            terminal.write(f"\r\x1b[K{visible(text)}\r\n")

    def _ask(self, terminal: Terminal, card: Card) -> str:
        columns, rows = terminal.size()
        state = PromptState(card, columns=columns, rows=rows, queued=len(self._waiting()) - 1)
        decoder = KeyDecoder()
        todo = state.start()
        while True:
            for command in todo:
                text = self._perform(terminal, state, command)
                if text is not None:
                    return text
            todo = [*self._look(state), *state.resize(*terminal.size())]
            if todo:
                continue
            if terminal.wait(self._wake_read, _TICK):
                todo = state.keys(decoder.feed(terminal.read()), self._monotonic())
            else:
                todo = state.keys(decoder.idle(), self._monotonic())
            self._drain()
            todo += state.tick(self._monotonic())

    def _perform(self, terminal: Terminal, state: PromptState, command: Command) -> str | None:
        """Do one command; a text when the question is over."""
        if isinstance(command, Draw):
            terminal.write("\r\x1b[K" + "".join(f"{visible(line)}\r\n" for line in command.lines))
            state.painted(self._monotonic())
        elif isinstance(command, Status):
            terminal.write(f"\r\x1b[K{visible(command.text)}")
        elif isinstance(command, Send):
            self._handled = [*self._handled[-_HANDLED:], (state.card.id, state.card.shown)]
            return give(self._answer, state.card.id, command.answer)
        else:
            return command.text
        return None

    def _look(self, state: PromptState) -> list[Command]:
        """What the newest snapshot says about the question on the screen."""
        if self._closing:
            return state.end("not answered here")
        if not self._enabled:
            return state.end("asked in the room instead")
        waiting = self._waiting()
        current = next((card for card in waiting if card.id == state.card.id), None)
        if current is not None:
            return state.update(current, len(waiting) - 1)
        if any(card.id == state.card.id for card in self._cards):
            return []
        ended = self._ended.get(state.card.id)
        if ended is None:
            return state.end("no longer asked")
        return state.end(_ended_text(ended.state, ended.by))


def give(answer_to: GiveAnswer, request_id: str, answer: Answer) -> str:
    """Give an answer, and say in a few words what really became of the request. Raises nothing."""
    try:
        result = answer_to(request_id, answer)
        if isinstance(result, concurrent.futures.Future):
            result = result.result(_ANSWER_PATIENCE)
    except Exception as error:
        return f"the answer did not arrive ({type(error).__name__}: {error}); the request waits on"
    if result is None or result.outcome is Outcome.ACCEPTED:
        return _ended_text(answer.kind.state, "")
    if result.outcome is Outcome.ALREADY and result.state is not None:
        return "too late: " + _ended_text(result.state, result.by)
    return f"the answer was not taken: {result.message or result.outcome}"


def _ended_text(state: RequestState, by: str) -> str:
    text = state.value.replace("_", " ")
    return f"{text} (by {by})" if by else text

"""Questions of one session on the terminal that its runner owns.

Between the host's states and the prompter: only this session's requests, only while no room is open.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

from vaultroom.approvals.answer import Answer, AnswerResult, Outcome, RequestState
from vaultroom.approvals.card import card_from_dict
from vaultroom.approvals.channels.tty import Ended, TtyPrompter
from vaultroom.control.protocol import AnswerCommand, State

GiveCommand = Callable[[AnswerCommand], str]


class TerminalPrompts:
    """Asks on /dev/tty; without a terminal it does nothing, and others answer."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._prompter: TtyPrompter | None = None

    @property
    def surface(self) -> str:
        """`tty` while somebody can be asked here."""
        return "tty" if self._prompter is not None else ""

    def start(self, child_group: int, give: GiveCommand) -> None:
        def answer(request_id: str, answer: Answer) -> AnswerResult:
            return result_of(give(command_of(request_id, answer)))

        prompter = TtyPrompter(answer, child=child_group, hung_up=_hang_up)
        if prompter.start():
            self._prompter = prompter

    def receive(self, state: State | None) -> None:
        """A new state of the host; None while there is no host."""
        if self._prompter is None:
            return
        if state is None:
            self._prompter.show(())
            return
        self._prompter.set_enabled(state.rooms == 0)
        self._prompter.show(
            [card_from_dict(dict(r.card)) for r in state.requests if r.session == self._session_id],
            [Ended(ended.id, RequestState(ended.state), ended.by) for ended in state.ended],
        )

    def give_way(self) -> None:
        """Take a question off the screen and let the agent go, until the host's next state."""
        if self._prompter is not None:
            self._prompter.set_enabled(False)

    def stop(self) -> None:
        if self._prompter is not None:
            self._prompter.close()


def _hang_up() -> None:
    """The terminal went away while a question was on it: the kernel's own hang-up may have found nobody."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGHUP)


def command_of(request_id: str, answer: Answer) -> AnswerCommand:
    """The answer as the control socket carries it."""
    return AnswerCommand(
        request=request_id,
        kind=answer.kind.value,
        by=answer.by,
        reason=answer.reason,
        shown=answer.shown,
        minutes=answer.minutes or 0,
        directory=answer.directory,
    )


def result_of(text: str) -> AnswerResult:
    """The host's word on an answer, as Control.answer gives it."""
    word, _, rest = text.partition(":")
    outcome = Outcome(word)
    if outcome is Outcome.ALREADY:
        return AnswerResult(outcome, state=RequestState(rest))
    return AnswerResult(outcome, message=rest.strip())

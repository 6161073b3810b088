from __future__ import annotations

from concurrent.futures import Future

import pytest

from vaultroom.approvals.answer import Answer, AnswerKind, AnswerResult, Outcome, RequestState
from vaultroom.approvals.channels.tty import PrompterState, TtyPrompter, give

ALLOW = Answer(AnswerKind.ALLOW_ONCE, by="tty", shown="0" * 64)


def arrived(result: AnswerResult) -> Future[AnswerResult]:
    future: Future[AnswerResult] = Future()
    future.set_result(result)
    return future


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "allowed once"),
        (AnswerResult(Outcome.ACCEPTED), "allowed once"),
        (arrived(AnswerResult(Outcome.ACCEPTED)), "allowed once"),
        (AnswerResult(Outcome.ALREADY, state=RequestState.EXPIRED), "too late: expired"),
        (
            arrived(AnswerResult(Outcome.ALREADY, state=RequestState.DENIED, by="tui")),
            "too late: denied (by tui)",
        ),
        (AnswerResult(Outcome.REFUSED, message="it cannot"), "the answer was not taken: it cannot"),
        (AnswerResult(Outcome.CHANGED), "the answer was not taken: changed"),
    ],
)
def test_the_person_is_told_what_really_happened(result: object, text: str) -> None:
    assert give(lambda request_id, answer: result, "01", ALLOW) == text


def test_an_answer_that_cannot_be_given_says_so() -> None:
    def lost(request_id: str, answer: Answer) -> None:
        raise ConnectionError("no host")

    assert "did not arrive (ConnectionError: no host)" in give(lost, "01", ALLOW)


def test_without_a_terminal_there_is_no_prompt() -> None:
    prompter = TtyPrompter(lambda request_id, answer: None, tty_path="/dev/null")
    assert not prompter.start()
    assert prompter.state is PrompterState.LOST and prompter.failure
    prompter.show([])
    prompter.close()

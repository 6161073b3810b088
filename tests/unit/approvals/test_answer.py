from __future__ import annotations

import pytest

from vaultroom.approvals.answer import Answer, AnswerKind, AnswerResult, Outcome, RequestState


@pytest.mark.parametrize(
    "values",
    [
        {"by": ""},
        {"by": "x" * 129},
        {"reason": "x" * 4097},
        {"minutes": 5},
        {"directory": "/srv"},
        {"kind": AnswerKind.ALLOW_RULE, "minutes": 0},
        {"kind": AnswerKind.ALLOW_RULE, "minutes": 61},
        {"kind": AnswerKind.ALLOW_RULE, "directory": "relative"},
    ],
)
def test_answers_that_no_surface_may_send(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"expected|narrow"):
        Answer(**({"kind": AnswerKind.DENY, "by": "cli"} | values))


def test_results_read_as_one_word() -> None:
    assert str(AnswerResult(Outcome.ACCEPTED)) == "accepted"
    assert str(AnswerResult(Outcome.ALREADY, state=RequestState.EXPIRED)) == "already:expired"

"""Answers that come after the agent was told to try again.

An agent waits for its hook only so long. When a person needs longer the act is turned away, its question
stays open, and the answer is kept for the identical act that the agent tries next: once, and no longer than
the question would have lived.
"""

from __future__ import annotations

from collections.abc import Callable

from vaultroom import clock
from vaultroom.approvals.answer import RequestState, Resolution
from vaultroom.approvals.request import ApprovalRequest

TRY_AGAIN = (
    "a person was asked and has not answered yet; answer in the Vaultroom room, then run exactly the same "
    "again"
)
ANSWERED_LATE = "answered after the agent was told to try again"
PENDING = "pending"
"""The state of an outcome that says so."""

_KEPT = frozenset({RequestState.ALLOWED_ONCE, RequestState.DENIED, RequestState.RESPONDED})

Key = tuple[str, str, str]


class LateAnswers:
    """Those of one session. Used on the supervisor's loop alone.

    Several identical acts may wait for one answer; the newest is the one that the agent listens to.
    """

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._askers: dict[Key, list[str]] = {}
        self._answers: dict[Key, tuple[Resolution, float]] = {}

    def asks(self, request: ApprovalRequest) -> None:
        """An act begins to wait."""
        self._askers.setdefault(_key(request), []).append(request.id)

    def left(self, request: ApprovalRequest) -> None:
        """Its client went away: an earlier act that was turned away may still get the answer."""
        askers = self._askers.get(_key(request), [])
        if request.id in askers:
            askers.remove(request.id)
        if not askers:
            self._askers.pop(_key(request), None)

    def answered(self, request: ApprovalRequest) -> None:
        """It got its answer in time, which nobody else gets."""
        self._askers.pop(_key(request), None)

    def settle(self, request: ApprovalRequest, resolution: Resolution) -> None:
        """The answer to an act that was turned away."""
        key = _key(request)
        is_newest = self._askers.get(key, [])[-1:] == [request.id]
        self.left(request)
        if is_newest and resolution.state in _KEPT:
            self._answers[key] = (resolution, request.deadline)

    def take(self, request: ApprovalRequest) -> Resolution | None:
        """The answer that waits for exactly this act; it is gone then."""
        now = self._monotonic()
        self._answers = {key: kept for key, kept in self._answers.items() if kept[1] > now}
        found = self._answers.pop(_key(request), None)
        return found[0] if found else None


def _key(request: ApprovalRequest) -> Key:
    return request.shown, request.rule_name, request.sameness

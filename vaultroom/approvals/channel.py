"""Channel: one way to reach a person. Telegram, links and mail are written against this."""

from __future__ import annotations

from typing import Protocol

from vaultroom.approvals.answer import Answer, AnswerResult, Resolution
from vaultroom.approvals.request import ApprovalRequest


class Answers(Protocol):
    """The part of the broker that a channel sees. Call it on the broker's loop."""

    def answer(self, request_id: str, answer: Answer) -> AnswerResult:
        """Give an answer and learn what it did. First decide, then tell the person what really happened."""
        ...


class Channel(Protocol):
    """Carries questions out; answers come back through the `Answers` given at `start`.

    Each method may raise or take long: the broker bounds it, marks the delivery as failed, and goes on.
    """

    @property
    def name(self) -> str:
        """`telegram`, `link`, `mail`, …: shown with each delivery."""
        ...

    async def start(self, answers: Answers) -> None:
        """Called once, before the first `ask`."""
        ...

    def reachable(self) -> bool:
        """Whether a question sent now has a chance to arrive. Must not block."""
        ...

    async def ask(self, request: ApprovalRequest) -> None:
        """Deliver a question; returning means that it is delivered."""
        ...

    async def retract(self, request: ApprovalRequest, resolution: Resolution) -> None:
        """Say how it ended, wherever the answer came from (this channel too), also after a failed `ask`."""
        ...

    async def stop(self) -> None:
        """Called once, when the host closes."""
        ...

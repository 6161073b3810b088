"""What the screens draw at one moment: the newest snapshot and how the line to the host stands."""

from __future__ import annotations

from dataclasses import dataclass

from vaultroom.control.protocol import RequestView, SessionView, State


@dataclass(frozen=True, slots=True)
class Scene:
    """`received_at` and `now` are seconds on the room's monotonic clock. `state` is None before the first.

    `notice` is what there is to say just now, empty most of the time.
    """

    state: State | None = None
    received_at: float = 0.0
    now: float = 0.0
    lost: bool = False
    why: str = ""
    attached: bool = False
    notice: str = ""
    bad_news: bool = False

    @property
    def sessions(self) -> tuple[SessionView, ...]:
        return self.state.sessions if self.state else ()

    @property
    def requests(self) -> tuple[RequestView, ...]:
        return self.state.requests if self.state else ()

    def session(self, session_id: str) -> SessionView | None:
        return next((session for session in self.sessions if session.id == session_id), None)

    def seconds_left(self, request: RequestView) -> float:
        """Until the request expires; never below 0."""
        return max(0.0, request.seconds_left - (self.now - self.received_at))

"""Which waiting request lies on the table. A new one never changes it; only the person or its end does."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.control.protocol import RequestView


class Deck:
    """The waiting requests of the agents in view, in the host's order, and the one that is shown."""

    def __init__(self) -> None:
        self._all: tuple[RequestView, ...] = ()
        self._session = ""
        self._current = ""
        self.requests: tuple[RequestView, ...] = ()

    @property
    def current(self) -> RequestView | None:
        return next((request for request in self.requests if request.id == self._current), None)

    @property
    def position(self) -> int:
        """The current request's place, counted from 1; 0 when there is none."""
        return next((at for at, r in enumerate(self.requests, 1) if r.id == self._current), 0)

    def update(self, requests: Sequence[RequestView]) -> None:
        """A newer snapshot."""
        self._all = tuple(request for request in requests if request.state == "pending")
        self._choose_again()

    def filter(self, session: str) -> None:
        """Only one session's requests; all of them when it is empty."""
        self._session = session
        self._choose_again()

    def choose(self, request_id: str) -> None:
        if any(request.id == request_id for request in self.requests):
            self._current = request_id

    def step(self, by: int) -> None:
        """The next or an earlier one, round and round."""
        if self.requests:
            at = (max(self.position, 1) - 1 + by) % len(self.requests)
            self._current = self.requests[at].id

    def _choose_again(self) -> None:
        before = self.position
        self.requests = tuple(r for r in self._all if self._session in ("", r.session))
        if not self.requests:
            self._current = ""
        elif self.current is None:
            # What stood below moves up into the place of the one that ended.
            self._current = self.requests[min(max(before, 1), len(self.requests)) - 1].id

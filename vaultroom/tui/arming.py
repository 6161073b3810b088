"""When a key answers: nobody answers what they have not seen (design, law 5). No I/O, no clock of its own.

A key counts only when the card has stood painted for 400 ms, no other key came for 400 ms before it and
none right after it, and, for whatever allows, when the card's last needed line has been on the screen.
"""

from __future__ import annotations

from collections.abc import Hashable

ARM_SECONDS = 0.4
ALONE_SECONDS = 0.06
"""A key is acted on when this long no other followed: of keys that come together none counts."""

MOMENT = "keys count in a moment"
READ_ON = "space: read to the end first"


class Guard:
    """`now` is always seconds on one monotonic clock."""

    def __init__(self) -> None:
        self._shown: Hashable = None
        self._painted_at: float | None = None
        self._last_key: float | None = None
        self._key_before: float | None = None
        self._needed = 0
        self._seen = 0
        self.presses = 0

    @property
    def shown(self) -> Hashable:
        """What the person has before them; None while there is nothing to answer."""
        return self._shown

    def show(self, what: Hashable, needed: int) -> None:
        """Something else is drawn: `needed` lines must have been on the screen before it can be allowed."""
        self._shown = what
        self._painted_at = None
        self._needed = needed
        self._seen = 0

    def grow(self, needed: int) -> None:
        """The same thing, with more or fewer lines to see."""
        self._needed = needed

    def painted(self, what: Hashable, seen: int, now: float) -> None:
        """It is on the screen down to line `seen`."""
        if what is None or what != self._shown:
            return
        if self._painted_at is None:
            self._painted_at = now
        self._seen = max(self._seen, seen)

    def key(self, now: float) -> None:
        """Any key at all, in any place."""
        self.presses += 1
        self._key_before, self._last_key = self._last_key, now

    def ready(self, now: float) -> bool:
        """Whether a key pressed now would count."""
        return self._stood(now) and (self._last_key is None or now - self._last_key >= ARM_SECONDS)

    def counts(self) -> bool:
        """Whether the key that was pressed last counts."""
        return self._last_key is not None and self._stood(self._last_key) and self.quiet()

    def quiet(self) -> bool:
        """Whether no key came for 400 ms before the last one."""
        if self._last_key is None:
            return False
        return self._key_before is None or self._last_key - self._key_before >= ARM_SECONDS

    @property
    def on_screen(self) -> bool:
        """Whether it has been painted at all."""
        return self._painted_at is not None

    @property
    def read(self) -> bool:
        """Whether everything that is needed has been on the screen."""
        return self._painted_at is not None and self._seen >= self._needed

    def _stood(self, now: float) -> bool:
        return self._painted_at is not None and now - self._painted_at >= ARM_SECONDS

"""One place between two threads: the newest value wins, nothing queues up, nobody waits."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Slot(Generic[Value]):
    """Filled from any thread, emptied on a timer by the screen's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: Value | None = None

    def put(self, value: Value) -> None:
        with self._lock:
            self._value = value

    def take(self) -> Value | None:
        """The newest value since the last call; None when there was none."""
        with self._lock:
            value, self._value = self._value, None
            return value

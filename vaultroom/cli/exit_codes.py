"""The exit codes of every command, in one place: they are a contract (design section 7)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    FAILED = 1
    """A fixture failed, a replay loosened, `init` aborted, `verify` could not check."""
    INVALID = 2
    """A policy or a command line that cannot be used."""
    TAMPERED = 3
    NO_SUCH_REQUEST = 4
    CHECK_FAILED = 77
    """No verdict could be had: start-up failed or no host answered."""
    DENIED = 126
    NOT_FOUND = 127
    STOPPED = 130
    SIGNAL_BASE = 128

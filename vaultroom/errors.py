"""Errors that somebody catches. Everything else raises a builtin error.

An error says what was expected, what was found and where; advice stands on a line of its own.
"""

from __future__ import annotations


class VaultroomError(Exception):
    """An error with a text for the user and, on a separate line, advice.

    `str(error)` is the text alone; `error.advice` is empty where there is nothing to advise.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class PolicyError(VaultroomError):
    """A policy that cannot be loaded. The command line ends with exit code 2."""


class FrameError(VaultroomError):
    """A frame on a socket that breaks the wire format (specification section 3.3)."""


class StoreError(VaultroomError):
    """The audit log cannot be written or read: names the store, the error and the way out."""


class HostUnavailable(VaultroomError):
    """No supervisor answers for this home; clients refuse (exit 77)."""

"""What workers tell the room when a command came back."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class Answered(Message):
    """The host's word on an answer: `accepted`, `unknown`, `changed`, `already:<state>`, `refused: …`."""

    request: str
    kind: str
    word: str


@dataclass
class Failed(Message):
    """A command could not be done; `text` and `advice` are visible. `request` names the card, if any."""

    text: str
    advice: str = ""
    request: str = ""
    no_host: bool = False


@dataclass
class Did(Message):
    """A command was done; say so."""

    text: str
    session: str = ""
    """An agent that was started."""


@dataclass
class Printed(Message):
    """More output of a launched agent."""

    session: str
    lines: list[str]
    end: int
    closed: bool
    skipped: int = 0

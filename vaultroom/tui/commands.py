"""Every action of the room under one name: keys, footer, help, palette and the user's keymap read this."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding
from textual.keys import format_key, key_to_character

from vaultroom.visible import visible


class Group(StrEnum):
    """The headings of the help screen."""

    ANSWER = "Answer what an agent asks"
    AGENT = "Agents"
    LOOK = "Look around"
    ROOM = "The room"


@dataclass(frozen=True, slots=True)
class Command:
    """`label` is for the footer, `help` for the help screen. `palette` commands can be searched for by name.

    An `allows` command lets something happen and is locked until the card was read to its end.
    """

    id: str
    keys: str
    action: str
    label: str
    help: str
    group: Group
    palette: bool = False
    allows: bool = False
    everywhere: bool = False
    footer: int = 0
    """Where it stands in the footer, from 1; 0 leaves it out."""


COMMANDS: tuple[Command, ...] = (
    Command(
        "answer.allow_once",
        "a",
        "answer('allow_once')",
        "allow once",
        "Allow this act, this time.",
        Group.ANSWER,
        allows=True,
    ),
    Command(
        "answer.allow_rule",
        "r",
        "answer('allow_rule')",
        "allow rule",
        "Allow it, and remember exactly what the card says until the session ends.",
        Group.ANSWER,
        allows=True,
    ),
    Command(
        "answer.allow_minutes",
        "m",
        "answer('minutes')",
        "minutes",
        "Allow it, and remember the same for 1 to 60 minutes.",
        Group.ANSWER,
        allows=True,
    ),
    Command(
        "answer.allow_here",
        "w",
        "answer('here')",
        "here",
        "Allow it, and remember the same while the agent works in this directory.",
        Group.ANSWER,
        allows=True,
    ),
    Command("answer.deny", "d", "answer('deny')", "deny", "Deny this act.", Group.ANSWER),
    Command(
        "answer.deny_reason",
        "e",
        "answer('reason')",
        "deny, say why",
        "Deny it with a reason that you type; the agent reads it.",
        Group.ANSWER,
    ),
    Command(
        "agent.freeze",
        "z",
        "freeze",
        "freeze",
        "Freeze the agent's processes, or let them go on.",
        Group.AGENT,
        footer=1,
    ),
    Command(
        "agent.stop",
        "x",
        "stop",
        "stop",
        "End the agent. You are asked first.",
        Group.AGENT,
        footer=2,
    ),
    Command(
        "agent.start",
        "n",
        "start",
        "new",
        "Start an agent under your policy; its output is shown here.",
        Group.AGENT,
        palette=True,
        footer=3,
    ),
    Command("look.next", "j", "step(1)", "next", "Show the next waiting request.", Group.LOOK, palette=True),
    Command(
        "look.previous", "k", "step(-1)", "previous", "Show the one before it.", Group.LOOK, palette=True
    ),
    Command(
        "look.more", "space", "more", "more", "Show more of the card, then start at its top.", Group.LOOK
    ),
    Command(
        "look.grants",
        "g",
        "lower('grants')",
        "grants",
        "List what was remembered: how often it answered, how long it lasts. Delete revokes.",
        Group.LOOK,
        palette=True,
        footer=4,
    ),
    Command(
        "look.output",
        "o",
        "lower('output')",
        "output",
        "Show what an agent started here has printed.",
        Group.LOOK,
        palette=True,
        footer=5,
    ),
    Command(
        "look.all",
        "escape",
        "everything",
        "everything",
        "Back to the timeline, then to all agents.",
        Group.LOOK,
    ),
    Command(
        "look.focus",
        "tab",
        "app.focus_next",
        "panes",
        "Go through the panes; arrows, Page Up and Page Down move in the one that is marked.",
        Group.LOOK,
        footer=7,
    ),
    Command(
        "room.help",
        "question_mark,f1",
        "app.help",
        "help",
        "These keys.",
        Group.ROOM,
        palette=True,
        everywhere=True,
        footer=6,
    ),
    Command(
        "room.room",
        "1",
        "app.go('room')",
        "room",
        "The room.",
        Group.ROOM,
        palette=True,
        everywhere=True,
    ),
    Command(
        "room.timeline",
        "2",
        "app.go('timeline')",
        "timeline",
        "The whole log.",
        Group.ROOM,
        palette=True,
        everywhere=True,
    ),
    Command(
        "room.policy",
        "3",
        "app.go('policy')",
        "policy",
        "The policy.",
        Group.ROOM,
        palette=True,
        everywhere=True,
    ),
    Command(
        "room.tests",
        "4",
        "app.go('tests')",
        "tests",
        "Test environments.",
        Group.ROOM,
        palette=True,
        everywhere=True,
    ),
    Command(
        "room.theme",
        "t",
        "app.next_theme",
        "theme",
        "The next colour theme.",
        Group.ROOM,
        palette=True,
        everywhere=True,
    ),
    Command(
        "room.close",
        "q,ctrl+q",
        "app.close_room",
        "close",
        "Close the room. With agents running you are asked first.",
        Group.ROOM,
        palette=True,
        everywhere=True,
        footer=9,
    ),
)

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}
_KEY = re.compile(r"[a-zA-Z0-9]|((ctrl|shift|alt)\+)*[a-z0-9_]+", re.ASCII)


class KeyTable:
    """The keys in force: the registry's, with the user's changes that make sense.

    `problems` names, for the person, every change that was left out.
    """

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self.overrides: dict[str, str] = {}
        for name, keys in keymap.items():
            problem = self._problem(name, keys)
            if problem:
                self.problems.append(f"keymap: {problem}; the usual key stays")
            else:
                self.overrides[name] = ",".join(_split(keys))

    def keys(self, command_id: str) -> tuple[str, ...]:
        return _split(self.overrides.get(command_id, BY_ID[command_id].keys))

    def label(self, command_id: str) -> str:
        """The first key as people read it: `a`, `F1`, `ctrl+q`."""
        return key_label(self.keys(command_id)[0])

    def labels(self, command_id: str) -> str:
        return " ".join(key_label(key) for key in self.keys(command_id))

    def _problem(self, name: object, keys: object) -> str:
        shown = visible(str(name))[:60]
        if name not in BY_ID:
            return f"there is no action {shown!r}"
        if not isinstance(keys, str) or not _split(keys):
            return f"expected a key for {shown}"
        for key in _split(keys):
            if not _KEY.fullmatch(key):
                return f"expected a key like `a`, `f5` or `ctrl+k` for {shown}, found {visible(key)[:30]!r}"
            for other in COMMANDS:
                if other.id != name and key in self.keys(other.id):
                    return f"{key_label(key)} for {shown} is the key of {other.id}"
        return ""


def key_label(key: str) -> str:
    """One key as people read it."""
    character = key_to_character(key)
    if key == "space":
        return "space"
    if character is not None and character.isprintable():
        return character
    return "esc" if key == "escape" else format_key(key)


def bindings(commands: Iterable[Command]) -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    """Textual's bindings; their ids let the keymap change them."""
    return [
        Binding(command.keys, command.action, command.label, id=command.id, show=False)
        for command in commands
    ]


def _split(keys: str) -> tuple[str, ...]:
    return tuple(key.strip() for key in keys.split(",") if key.strip())

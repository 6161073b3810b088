"""What the room says while there is nothing to show, and about what happened."""

from __future__ import annotations

from vaultroom.tui.spans import BLANK, Line, Role, line, wrap

NO_AGENT = (
    "No agent runs yet.",
    "",
    "In another terminal:  vaultroom run -- claude",
    "Or here:              press {start} and type a command",
)
NOBODY = ("none",)
NOTHING_WAITS = (
    "Nothing waits for you.",
    "",
    "When a rule asks, the act stands here in full, with one key for each answer.",
)
NO_LOG = ("The log is empty. The first act of an agent will stand here.",)
NO_GRANTS = (
    "Nothing is remembered.",
    "{rule}, {minutes} and {here} on a card leave an answer behind; it is listed here and can be revoked.",
)
NO_OUTPUT = (
    "This agent runs in a terminal of its own: its output is there.",
    "Agents started here with {start} print here.",
)
CONNECTING = ("Looking for the host …",)
TOO_SMALL = "Make the window larger: the room needs 40 × 12."

LATER = {
    "timeline": (
        "Timeline",
        "The whole log: every act, searchable and filtered, with the row and the rule behind it.",
        "Meanwhile   vaultroom log       the same rows on the command line",
        "            vaultroom verify    whether chain and signatures hold",
    ),
    "policy": (
        "Policy",
        "The policy in an editor that explains it: what each rule matches, what a change lets through.",
        "Meanwhile   vaultroom policy check      whether it can be loaded",
        "            vaultroom policy explain    what it says to a command",
    ),
    "tests": (
        "Tests",
        "Test environments of the system component: what runs, what waits, what it printed.",
        "Meanwhile   vaultroom system serve    starts the component",
    ),
}

_STATES = {
    "allowed_once": "it had been allowed",
    "allowed_rule": "it had been allowed by rule",
    "denied": "it had been denied",
    "responded": "it had been answered",
    "expired": "it had expired",
    "withdrawn": "the agent had withdrawn it",
    "stopped": "the agent had been stopped",
}
_DONE = {
    "allow_once": "Allowed once.",
    "allow_rule": "Allowed, and remembered.",
    "deny": "Denied.",
}


def paragraph(texts: tuple[str, ...], width: int, **keys: str) -> list[Line]:
    """An empty state: the first line plain, the rest dim."""
    lines: list[Line] = []
    for at, text in enumerate(texts):
        pieces = wrap(text.format(**keys), width) if text else [""]
        lines += [
            line((" " + piece, Role.INK if at == 0 else Role.DIM)) if piece else BLANK for piece in pieces
        ]
    return lines


def about_answer(kind: str, word: str) -> tuple[str, bool]:
    """What to say about the host's word on an answer, and whether it is bad news."""
    name, _, rest = word.partition(":")
    if name == "accepted":
        return _DONE.get(kind, "Answered."), False
    if name == "already":
        return f"Too late: {_STATES.get(rest.strip(), 'it had been answered')}.", True
    if name == "changed":
        return "It has changed since you saw it; look again.", True
    if name == "unknown":
        return "Too late: it no longer waits.", True
    return (rest.strip() or word), True

"""Answers to the request on the table: whether a key counts, and what is typed on the way to the host."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import Input

from vaultroom.control.protocol import RequestView
from vaultroom.tui import texts
from vaultroom.tui.arming import ALONE_SECONDS, MOMENT, READ_ON
from vaultroom.tui.card_text import essence
from vaultroom.tui.deck import Deck
from vaultroom.tui.messages import Answered, Failed
from vaultroom.tui.scene import Scene
from vaultroom.tui.screens.base import KeyBar, RoomishScreen
from vaultroom.tui.widgets.card import CardBody, CardPane
from vaultroom.tui.widgets.prompt import Field, Prompt

TOO_SMALL = "this window is too small to allow anything"
ALONE = "of keys that come together none counts"
HINT_SECONDS = 2.0
_MIN_CARD_ROWS = 3


class Answering(RoomishScreen):
    """The part of the room that answers. `_token` names what the card shows; see `Guard`."""

    def __init__(self) -> None:
        super().__init__()
        self.deck = Deck()
        self._scene = Scene()
        self._token: object = None
        self._sending: set[str] = set()
        self._hint, self._hint_until = "", 0.0
        self._asked: RequestView | None = None

    @property
    def _card(self) -> CardPane:
        return self.query_one(CardPane)

    def refresh_now(self) -> None:
        """Draw what a key changed without waiting for the next tick."""
        if self.standing:
            self.show(self.room.scene())

    # Answers

    def on_card_body_seen(self, message: CardBody.Seen) -> None:
        self.room.guard.painted(message.token, message.bottom, self.room.monotonic())

    def on_card_body_resized(self) -> None:
        self._token = None

    @property
    def _roomy(self) -> bool:
        return not self.tiny and self._card.body.size.height >= _MIN_CARD_ROWS

    def _may_answer(self, request: RequestView | None) -> bool:
        return (
            request is not None
            and not self._scene.lost
            and request.id not in self._sending
            and self._scene.seconds_left(request) > 0
        )

    def _say(self, hint: str) -> None:
        self._hint, self._hint_until = hint, self.room.monotonic() + HINT_SECONDS
        self.refresh_now()

    def action_answer(self, how: str) -> None:
        """An answer's key was pressed: see whether it counts, wait whether it stays alone, then act."""
        request = self.deck.current
        if isinstance(self.focused, Input) or request is None or not self._may_answer(request):
            return
        guard = self.room.guard
        why_not = self._why_not(how, request)
        if why_not:
            self._say(why_not)
            return
        shown = guard.shown

        def act() -> None:
            if guard.shown == shown and self.deck.current is not None and self._may_answer(request):
                self._act(how, request)

        self._when_alone(act)

    def _why_not(self, how: str, request: RequestView) -> str:
        guard = self.room.guard
        if guard.shown is None or guard.shown != self._token or not guard.counts():
            return MOMENT
        if how in ("deny", "reason"):
            return ""
        if not self._roomy:
            return TOO_SMALL
        if not guard.read:
            return READ_ON
        if how != "allow_once" and not request.card.get("remembers"):
            return "this cannot be remembered"
        return ""

    def _when_alone(self, act: Callable[[], None]) -> None:
        guard = self.room.guard
        presses = guard.presses

        def check() -> None:
            if guard.presses == presses and self.is_current:
                act()
            elif self.deck.current is not None:
                self._say(ALONE)

        self.set_timer(ALONE_SECONDS, check)

    def _act(self, how: str, request: RequestView) -> None:
        if how == "allow_once":
            self._send(request, "allow_once")
        elif how == "allow_rule":
            self._send(request, "allow_rule")
        elif how == "here":
            directory = request.card.get("cwd")
            self._send(request, "allow_rule", directory=directory if isinstance(directory, str) else "")
        elif how == "deny":
            self._send(request, "deny")
        elif how == "reason":
            self._ask(request, "reason", (Field("Deny, because", "the agent reads this; Enter sends it"),))
        elif how == "minutes":
            self._ask(
                request, "minutes", (Field("Allow for minutes", "1 to 60, then Enter", limit=2, digits=True),)
            )

    def _send(
        self, request: RequestView, kind: str, *, reason: str = "", minutes: int = 0, directory: str = ""
    ) -> None:
        self._sending.add(request.id)
        self.room.send_answer(request, kind, reason=reason, minutes=minutes, directory=directory)
        self.refresh_now()

    def take_answered(self, message: Answered) -> None:
        text, bad = texts.about_answer(message.kind, message.word)
        if bad:
            self._sending.discard(message.request)
        self.room.say(text, bad=bad)

    def take_failed(self, message: Failed) -> None:
        self._sending.discard(message.request)
        self.room.say(" ".join(part for part in (message.text, message.advice) if part), bad=True)

    # Typing

    def _ask(self, request: RequestView | None, purpose: str, fields: tuple[Field, ...]) -> None:
        if self.query(Prompt):
            return
        self._asked = request
        self.query_one(KeyBar).display = False
        self.query_one("#foot").mount(Prompt(purpose, fields))

    def on_prompt_left(self) -> None:
        self._close_prompt()

    def on_prompt_given(self, message: Prompt.Given) -> None:
        if self._asked is not None:
            self._finish(message.purpose, self._asked, message.values[0])
        else:
            self.start_agent(*message.values)

    def start_agent(self, command_line: str, agent: str = "") -> None:
        """The command of an agent was typed."""
        raise NotImplementedError

    def _finish(self, purpose: str, request: RequestView, text: str) -> None:
        if purpose == "reason":
            self._close_prompt()
            self._send(request, "deny", reason=text.strip())
            return
        if not text or not 1 <= int(text) <= 60:
            self._say("from 1 to 60 minutes")
        elif not self.room.guard.quiet():
            self._say("Enter counts in a moment")
        elif self.deck.current is None or self.room.guard.shown != self._token or not self._same(request):
            self._close_prompt()
            self.room.say("The request has changed or ended; nothing was sent.", bad=True)
        else:
            self._close_prompt()
            self._send(request, "allow_rule", minutes=int(text))

    def _same(self, request: RequestView) -> bool:
        current = self.deck.current
        return current is not None and essence(current) == essence(request)

    def _close_prompt(self) -> None:
        self._asked = None
        for prompt in self.query(Prompt):
            prompt.remove()
        self.query_one(KeyBar).display = True
        self._card.body.focus()

"""The room: agents, the request on the table, and what happens, on one screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import ContentSwitcher, Input

from vaultroom.control.protocol import RequestView, SessionView
from vaultroom.tui import rows, texts
from vaultroom.tui.arming import ALONE_SECONDS, MOMENT, READ_ON
from vaultroom.tui.card_text import essence
from vaultroom.tui.commands import COMMANDS, bindings
from vaultroom.tui.deck import Deck
from vaultroom.tui.log_tail import Page, View
from vaultroom.tui.messages import Answered, Failed, Printed
from vaultroom.tui.scene import Scene
from vaultroom.tui.screens.base import KeyBar, RoomishScreen
from vaultroom.tui.screens.dialogs import Confirm
from vaultroom.tui.spans import Line, Role, line
from vaultroom.tui.widgets.card import CardBody, CardPane
from vaultroom.tui.widgets.choices import Choices
from vaultroom.tui.widgets.grants import GrantsPane
from vaultroom.tui.widgets.lines import TitleBar
from vaultroom.tui.widgets.output import OutputPane
from vaultroom.tui.widgets.prompt import Field, Prompt
from vaultroom.tui.widgets.timeline import TimelinePane

TOO_SMALL = "this window is too small to allow anything"
ALONE = "of keys that come together none counts"
HINT_SECONDS = 2.0
_MIN_CARD_ROWS = 3


class RoomScreen(RoomishScreen):
    """Views of the scene, and what the keys mean here."""

    MODE = "room"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        command for command in COMMANDS if not command.everywhere
    )
    AUTO_FOCUS = "#card-body"

    def __init__(self) -> None:
        super().__init__()
        self.deck = Deck()
        self.selected = ""
        """The session that is looked at; empty for all."""
        self._scene = Scene()
        self._drawn: tuple[object, ...] = ()
        self._token: object = None
        self._sending: set[str] = set()
        self._hint, self._hint_until = "", 0.0
        self._asked: tuple[RequestView, str] | None = None
        self._page: Page | None = None

    def compose_body(self) -> ComposeResult:
        with Vertical(id="side"):
            with Vertical(id="agents"):
                yield TitleBar("Agents", id="agents-title")
                yield Choices(above=rows.ALL, id="agents-list")
            with Vertical(id="queue"):
                yield TitleBar("Queue", id="queue-title")
                yield Choices(id="queue-list")
        with Container(id="main"):
            yield CardPane()
            with ContentSwitcher(id="lower", initial="timeline"):
                yield TimelinePane()
                yield GrantsPane()
                yield OutputPane()

    # What is drawn

    def show(self, scene: Scene) -> None:
        self._scene = scene
        if self.selected and scene.state is not None and scene.session(self.selected) is None:
            self._select("")
        self.deck.update(scene.requests)
        self._sending &= {request.id for request in scene.requests}
        self.show_frame(scene, scene.session(self.selected) or self.policy_session(scene))
        page = self.room.tail.pages.take()
        if page is not None:
            self._page = page
            self._timeline.show(page)
        self._draw_lists()
        self._draw_card()
        self._draw_countdown()
        self._draw_lower()

    def on_resize(self) -> None:
        super().on_resize()
        self._drawn = ()

    def on_screen_resume(self) -> None:
        """Whatever was hidden has to be seen again."""
        self._token = None

    def _draw_lists(self) -> None:
        scene, deck = self._scene, self.deck
        agents, queue = self.query_one("#agents-list", Choices), self.query_one("#queue-list", Choices)
        tall = self.has_class("-wide")
        seconds = int(scene.now)
        drawn = (scene.state, self.selected, deck.current, agents.size, queue.size, tall, seconds)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        items = rows.agent_items(scene.sessions, agents.inner_width - 1, tall=tall)
        agents.show(items, self.selected or rows.ALL)
        title, end = rows.agents_title(scene.sessions, marked=not self.selected and not tall)
        self.query_one("#agents-title", TitleBar).show(title, end)
        height = sum(len(item.lines) for item in items)
        most = max(3, self.size.height * 6 // 10) if tall else 4
        self.query_one("#agents").styles.height = min(1 + max(1, height), most)
        if not items:
            agents.set_lines([line((" " + text, Role.DIM)) for text in texts.NOBODY])
        self.query_one("#queue").display = len(deck.requests) > 1
        current = deck.current
        queue.show(
            rows.queue_items(deck.requests, scene, queue.inner_width - 1), current.id if current else ""
        )
        step = f"{self.room.labels['look.next']} {self.room.labels['look.previous']}"
        self.query_one("#queue-title", TitleBar).show(*rows.count_title("Queue", len(deck.requests), step))

    def _draw_card(self) -> None:
        request = self.deck.current
        token = None if request is None else (essence(request), self._card.body.size)
        if request is not None and token != self._token:
            self.room.guard.show(token, 0)
        elif request is None:
            self.room.guard.show(None, 0)
        changed = token != self._token or not self._card.same(request, self._card.request)
        self._token = token
        if changed or request is None:
            self._card.show(request, self.room.labels, token, self._nothing_waits())
            if request is not None:
                self.room.guard.grow(self._card.text.needed)

    def _nothing_waits(self) -> list[Line]:
        labels = self.room.labels
        width = self._card.body.inner_width - 1
        if self._scene.state is None:
            return texts.paragraph(texts.CONNECTING, width)
        if not self._scene.sessions:
            return texts.paragraph(texts.NO_AGENT, width, start=labels["agent.start"])
        return texts.paragraph(texts.NOTHING_WAITS, width)

    def _draw_countdown(self) -> None:
        request, now = self.deck.current, self._scene.now
        guard = self.room.guard
        ready = guard.ready(now) and self._may_answer(request)
        hint = ""
        if request is not None:
            if request.id in self._sending:
                hint = "sending …"
            elif self._hint and now < self._hint_until:
                hint = self._hint
            elif not ready:
                hint = "" if self._scene.lost else MOMENT
            elif not guard.read:
                hint = READ_ON
        title = rows.card_title(request, self.deck.position, len(self.deck.requests), self._scene, hint)
        self._card.show_title(*title)
        remembers = request is not None and bool(request.card.get("remembers"))
        self._card.show_keys(ready=ready, may_allow=guard.read and self._roomy, remembers=remembers)

    def _draw_lower(self) -> None:
        scene = self._scene
        session = scene.session(self.selected)
        shown = self.query_one("#lower", ContentSwitcher).current
        if shown == "timeline":
            self._timeline.show_title(f"of {session.agent}" if session else "", self.own_trouble)
            if self._page is None or not self._page.entries:
                self._timeline.show_empty(texts.NO_LOG)
        elif shown == "grants":
            grants = (
                [g for g in scene.state.grants if self.selected in ("", g.session)] if scene.state else []
            )
            self.query_one(GrantsPane).show(grants, scene, self.room.labels)
        elif shown == "output":
            self._output.show_title(*rows.output_title(self._output_session(), self._output.closed))
        host = scene.state.host.audit_db if scene.state is not None else ""
        self.room.tail.look(View(host, self.selected))

    @property
    def own_trouble(self) -> str:
        return self._page.trouble if self._page is not None else ""

    # Panes

    @property
    def _card(self) -> CardPane:
        return self.query_one(CardPane)

    @property
    def _timeline(self) -> TimelinePane:
        return self.query_one(TimelinePane)

    @property
    def _output(self) -> OutputPane:
        return self.query_one(OutputPane)

    # Choosing

    def on_choices_chosen(self, message: Choices.Chosen) -> None:
        if message.pane.id == "agents-list":
            self._select("" if message.item == rows.ALL else message.item)
        elif message.pane.id == "queue-list":
            self.deck.choose(message.item)
        self.refresh_now()

    def refresh_now(self) -> None:
        """Draw what a key changed without waiting for the next tick."""
        if self.standing:
            self.show(self.room.scene())

    def _select(self, session: str) -> None:
        self.selected = session
        self.deck.filter(session)
        if self.query_one("#lower", ContentSwitcher).current == "output":
            self._follow_output()

    def action_step(self, by: int) -> None:
        self.deck.step(by)
        self.refresh_now()

    def action_more(self) -> None:
        self._card.page()

    def action_everything(self) -> None:
        switcher = self.query_one("#lower", ContentSwitcher)
        if switcher.current != "timeline":
            self._show_lower("timeline")
        else:
            self._select("")
        self.refresh_now()

    def action_lower(self, pane: str) -> None:
        shown = self.query_one("#lower", ContentSwitcher).current
        self._show_lower("timeline" if shown == pane else pane)
        self.refresh_now()

    def _show_lower(self, pane: str) -> None:
        switcher = self.query_one("#lower", ContentSwitcher)
        inside = self.focused is not None and switcher in self.focused.ancestors
        switcher.current = pane
        if pane == "grants":
            self.query_one(GrantsPane).query_one(Choices).focus()
        elif inside:
            self._card.body.focus()
        if pane == "output":
            self._follow_output()

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
        self._asked = None if request is None else (request, str(request.card.get("shown", "")))
        self.query_one(KeyBar).display = False
        self.query_one("#foot").mount(Prompt(purpose, fields))

    def on_prompt_left(self) -> None:
        self._close_prompt()

    def on_prompt_given(self, message: Prompt.Given) -> None:
        if message.purpose == "start":
            self._start_agent(*message.values)
        elif self._asked is not None:
            self._finish(message.purpose, self._asked[0], message.values[0])

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

    # Agents

    def _target(self) -> SessionView | None:
        """The agent that a key means: the selected one, else the one that asks, else the only one."""
        scene, current = self._scene, self.deck.current
        if self.selected:
            return scene.session(self.selected)
        if current is not None:
            return scene.session(current.session)
        return scene.sessions[0] if len(scene.sessions) == 1 else None

    def _steered(self) -> SessionView | None:
        if self._scene.lost or isinstance(self.focused, Input):
            return None
        session = self._target()
        if session is None:
            self.room.say("Select an agent first." if self._scene.sessions else "No agent runs.", bad=True)
            return None
        if not self.room.guard.quiet():
            self._say(MOMENT)
            return None
        return session

    def action_freeze(self) -> None:
        session = self._steered()
        if session is not None:
            self._when_alone(lambda: self.room.freeze_or_thaw(session))

    def action_stop(self) -> None:
        session = self._steered()
        if session is None:
            return

        def ask() -> None:
            self.app.push_screen(
                Confirm(
                    f"Stop {session.agent}?",
                    (
                        " ".join(session.command),
                        "",
                        "Its processes are ended, and everything it still asks is refused.",
                    ),
                    "stop it",
                    "let it run",
                ),
                lambda yes: self.room.stop_agent(session) if yes else None,
            )

        self._when_alone(ask)

    def action_start(self) -> None:
        if self._scene.lost or isinstance(self.focused, Input):
            return
        self._when_alone(
            lambda: self._ask(
                None,
                "start",
                (Field("Run", "claude -p 'fix the tests'"), Field("as", "its name", limit=40)),
            )
        )

    def _start_agent(self, command_line: str, agent: str = "") -> None:
        if not command_line.strip():
            self._close_prompt()
            return
        self._close_prompt()
        self.room.launch(command_line.strip(), agent.strip())

    # Output

    def _output_session(self) -> SessionView | None:
        target = self._scene.session(self.selected)
        if target is None and not self.selected:
            launched = [session for session in self._scene.sessions if session.launched]
            target = launched[-1] if launched else None
        return target

    def _follow_output(self) -> None:
        session = self._output_session()
        if session is None or not session.launched:
            self._output.begin("")
            self._output.show_empty(
                texts.paragraph(texts.NO_OUTPUT, 76, start=self.room.labels["agent.start"])
            )
        elif self._output.session != session.id:
            self._output.begin(session.id)

    def output_wanted(self) -> tuple[str, int] | None:
        """The session whose output is looked at, and how far it was read; None when there is none."""
        output = self._output
        if self.query_one("#lower", ContentSwitcher).current != "output" or output.closed:
            return None
        if not output.session:
            self._follow_output()
        return (output.session, output.end) if output.session else None

    def take_printed(self, message: Printed) -> None:
        self._output.add(message)

    def show_started(self, session: str) -> None:
        """An agent was started here: look at it."""
        self._select(session)
        self._show_lower("output")

"""The room: agents, the request on the table, and what happens, on one screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import ContentSwitcher

from vaultroom.control.protocol import SessionView
from vaultroom.tui import rows, texts
from vaultroom.tui.arming import MOMENT, READ_ON
from vaultroom.tui.card_text import essence
from vaultroom.tui.commands import COMMANDS, bindings
from vaultroom.tui.log_tail import Page, View
from vaultroom.tui.messages import Printed
from vaultroom.tui.scene import Scene
from vaultroom.tui.screens.steering import Steering
from vaultroom.tui.spans import Line, Role, line
from vaultroom.tui.widgets.card import CardPane
from vaultroom.tui.widgets.choices import Choices
from vaultroom.tui.widgets.grants import GrantsPane
from vaultroom.tui.widgets.lines import TitleBar
from vaultroom.tui.widgets.output import OutputPane
from vaultroom.tui.widgets.timeline import TimelinePane

IDLE_SECONDS = 5.0
"""Without a request for so long the timeline gets the room that the card does not need."""


class RoomScreen(Steering):
    """What is drawn where, and what the person looks at."""

    MODE = "room"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        command for command in COMMANDS if not command.everywhere
    )
    AUTO_FOCUS = "#card-body"

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[object, ...] = ()
        self._busy_until = 0.0
        self._laid_out: object = None
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
            with Vertical(id="under"):
                # In a narrow window the queue stands here: when it grows, the card neither moves nor shrinks.
                yield Choices(id="queue-strip")
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
        tall = self.has_class("-wide")
        agents = self.query_one("#agents-list", Choices)
        queue = self.query_one("#queue-list" if tall else "#queue-strip", Choices)
        below = self.query_one("#lower", ContentSwitcher).current
        seconds = int(scene.now)
        drawn = (scene.state, self.selected, deck.current, agents.size, queue.size, tall, below, seconds)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        items = rows.agent_items(scene.sessions, agents.inner_width - 1, tall=tall)
        agents.show(items, self.selected or rows.ALL)
        title, end = rows.agents_title(scene.sessions, marked=not self.selected and not tall)
        self.query_one("#agents-title", TitleBar).show(title, end)
        height = sum(len(item.lines) for item in items)
        most = max(3, self.size.height * 6 // 10) if tall else 4
        if tall or deck.current is None or self._laid_out != self.size:
            # An agent that joins does not push a card down that somebody reads.
            self.query_one("#agents").styles.height = min(1 + max(1, height), most)
            self._laid_out = self.size
        if not items:
            agents.set_lines([line((" " + text, Role.DIM)) for text in texts.NOBODY])
        several = len(deck.requests) > 1
        self.query_one("#queue").display = tall and several
        self.query_one("#queue-strip").display = several and not tall and below == "timeline"
        current = deck.current
        queue.show(
            rows.queue_items(deck.requests, scene, queue.inner_width - 1), current.id if current else ""
        )
        step = f"{self.room.labels['look.next']} {self.room.labels['look.previous']}"
        self.query_one("#queue-title", TitleBar).show(*rows.count_title("Queue", len(deck.requests), step))

    def _draw_card(self) -> None:
        request = self.deck.current
        if request is not None:
            self._busy_until = self._scene.now + IDLE_SECONDS
        self.set_class(request is None and self._scene.now >= self._busy_until, "-idle")
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
        bar = self._card.size.width >= 60
        title = rows.card_title(
            request, self.deck.position, len(self.deck.requests), self._scene, hint, bar=bar
        )
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
    def _timeline(self) -> TimelinePane:
        return self.query_one(TimelinePane)

    @property
    def _output(self) -> OutputPane:
        return self.query_one(OutputPane)

    # Choosing

    def on_choices_chosen(self, message: Choices.Chosen) -> None:
        if message.pane.id == "agents-list":
            self._select("" if message.item == rows.ALL else message.item)
        elif message.pane.id in ("queue-list", "queue-strip"):
            self.deck.choose(message.item)
        self.refresh_now()

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

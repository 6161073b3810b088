"""One question on a terminal: keys and clock ticks in, drawing and answers out. No I/O.

Nobody answers what they have not seen (design, law 5): keys count only once the card has stood painted
for 400 ms and no key came for 400 ms; of keys that come together none counts; a card that is longer
than the screen can be allowed only after it was paged to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultroom.approvals.answer import Answer, AnswerKind
from vaultroom.approvals.card import Card, detail_lines, lines_of, memory_lines
from vaultroom.approvals.summary import cells, wrap
from vaultroom.visible import visible

ARM_SECONDS = 0.4
MAX_TYPED = 500
"""Characters of a reason typed here at most."""

_MIN_COLUMNS, _MIN_ROWS = 24, 6
_BY = "tty"


@dataclass(frozen=True, slots=True)
class Draw:
    """Print these lines, each on its own, then call `painted`."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """Redraw the last line."""

    text: str


@dataclass(frozen=True, slots=True)
class Send:
    """Give this answer."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Done:
    """The question is over without an answer from here; say why."""

    text: str


Command = Draw | Status | Send | Done


class PromptState:
    """`now` is always seconds on the monotonic clock that the card's deadline is on."""

    def __init__(self, card: Card, *, columns: int, rows: int, queued: int = 0) -> None:
        self.card = card
        self.queued = queued
        self._columns, self._rows = columns, rows
        self._details = False
        self._reason: str | None = None
        self._hint = ""
        self._last_key: float | None = None
        self._status = ""
        self._lines: list[str] = []
        self._printed = 0
        self._painted_at: float | None = None
        self._over = False

    def start(self) -> list[Command]:
        """Draw the card from its top."""
        width = self._columns - 1
        self._lines = ["", *lines_of(self.card, width), *memory_lines(self.card, width)]
        if self._details:
            self._lines += detail_lines(self.card, width)
        keys = "a allow once · r allow this rule · d deny · e deny with a reason · ? details"
        self._lines += wrap(keys if self.card.remembers else keys.replace("r allow this rule · ", ""), width)
        self._printed = 0
        return self._next_page()

    def painted(self, now: float) -> None:
        """What was last drawn is on the screen."""
        self._painted_at = now

    def armed(self, now: float) -> bool:
        """Whether a key pressed now would count."""
        if self._over or self._painted_at is None or now - self._painted_at < ARM_SECONDS:
            return False
        return self._last_key is None or now - self._last_key >= ARM_SECONDS

    @property
    def at_end(self) -> bool:
        """Whether the whole card has been on the screen."""
        return bool(self._lines) and self._printed >= len(self._lines) and self._painted_at is not None

    @property
    def may_allow(self) -> bool:
        return self.at_end and self._columns >= _MIN_COLUMNS and self._rows >= _MIN_ROWS

    def keys(self, keys: Sequence[str], now: float) -> list[Command]:
        """Keys that were read together."""
        if self._over or not keys:
            return []
        if now >= self.card.deadline:
            return self.tick(now)
        armed = self.armed(now)
        self._last_key = now
        if self._reason is not None:
            return self._edit(keys)
        self._hint = ""
        if not armed or len(keys) != 1:
            return self._redraw(now)
        return self._act(keys[0], now)

    def tick(self, now: float) -> list[Command]:
        """Time passes."""
        if self._over:
            return []
        if now >= self.card.deadline:
            self._over = True
            return [Done("expired: denied")]
        return self._redraw(now)

    def resize(self, columns: int, rows: int) -> list[Command]:
        """The window changed: the card is drawn again, and has to be seen again."""
        if self._over or (columns, rows) == (self._columns, self._rows):
            return []
        self._columns, self._rows = columns, rows
        return self.start()

    def update(self, card: Card, queued: int) -> list[Command]:
        """The same question in a newer snapshot: its deadline, who waits, how many more are queued."""
        if self._over:
            return []
        changed = card.shown != self.card.shown
        self.card, self.queued = card, queued
        return self.start() if changed else []

    def end(self, text: str) -> list[Command]:
        """It was answered elsewhere, or is not to be asked here any more."""
        if self._over:
            return []
        self._over = True
        return [Done(text)]

    def _act(self, key: str, now: float) -> list[Command]:
        if key == " " and self._printed < len(self._lines):
            return self._next_page()
        if key == "a":
            return self._allow(AnswerKind.ALLOW_ONCE, now)
        if key == "r":
            if not self.card.remembers:
                return self._hinted("this cannot be remembered", now)
            return self._allow(AnswerKind.ALLOW_RULE, now)
        if key in ("d", "ctrl-c"):
            return self._send(AnswerKind.DENY)
        if key == "e":
            self._reason = ""
            return self._redraw(now)
        if key == "?" and not self._details:
            self._details = True
            return self.start()
        if key in ("A", "R", "D", "E"):
            return self._hinted("keys are lower case", now)
        return self._redraw(now)

    def _allow(self, kind: AnswerKind, now: float) -> list[Command]:
        if self.may_allow:
            return self._send(kind)
        if not self.at_end:
            return self._hinted("read to the end first", now)
        return self._hinted("this window is too small to allow anything", now)

    def _send(self, kind: AnswerKind, reason: str = "") -> list[Command]:
        self._over = True
        return [Send(Answer(kind, by=_BY, reason=reason, shown=self.card.shown))]

    def _edit(self, keys: Sequence[str]) -> list[Command]:
        reason = self._reason or ""
        for key in keys:
            if key == "enter":
                return self._send(AnswerKind.DENY, reason.strip())
            if key == "ctrl-c":
                return self._send(AnswerKind.DENY)
            if key == "escape":
                self._reason = None
                return self._force("")
            if key == "backspace":
                reason = reason[:-1]
            elif key == "ctrl-u":
                reason = ""
            elif len(key) == 1 and len(reason) < MAX_TYPED:
                reason += key
        self._reason = reason
        return self._force(self._reason_text())

    def _next_page(self) -> list[Command]:
        room = max(1, self._rows - 2)
        lines = self._lines[self._printed : self._printed + room]
        self._printed += len(lines)
        self._painted_at = None
        self._status = ""
        return [Draw(tuple(lines))]

    def _hinted(self, hint: str, now: float) -> list[Command]:
        self._hint = hint
        return self._redraw(now)

    def _redraw(self, now: float) -> list[Command]:
        if self._reason is not None:
            return self._force(self._reason_text())
        minutes, seconds = divmod(max(0, int(self.card.deadline - now)), 60)
        parts = [f"expires {minutes}:{seconds:02d}"]
        if self._hint:
            parts.append(self._hint)
        elif not self.armed(now):
            parts.append("keys count in a moment")
        if self._printed < len(self._lines):
            parts.append(f"space: more ({self._printed}/{len(self._lines)})")
        if self.queued:
            parts.append(f"{self.queued} more waiting")
        return self._force(" · ".join(parts))

    def _reason_text(self) -> str:
        label = "reason (Enter denies, Esc goes back): "
        room = max(5, self._columns - 2 - cells(label))
        shown = visible(self._reason or "")
        while cells(shown) > room:
            shown = shown[1:]
        return label + shown

    def _force(self, text: str) -> list[Command]:
        fitting = (
            wrap(text, self._columns - 1)[0] if self._columns > _MIN_COLUMNS else text[: self._columns - 1]
        )
        if fitting == self._status:
            return []
        self._status = fitting
        return [Status(fitting)]

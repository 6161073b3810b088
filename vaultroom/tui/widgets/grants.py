"""What was remembered: what it answers, how often it did, how long it lasts. Delete revokes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from vaultroom.control.protocol import GrantView
from vaultroom.tui import rows, texts
from vaultroom.tui.scene import Scene
from vaultroom.tui.widgets.choices import Choices
from vaultroom.tui.widgets.lines import TitleBar


class GrantsPane(Vertical):
    """A list of grants with a cursor of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("delete,backspace", "revoke", show=False)]

    @dataclass
    class Revoked(Message):
        """The person takes back the grant `grant`."""

        grant: str

    def __init__(self) -> None:
        super().__init__(id="grants")
        self._chosen = ""

    def compose(self) -> ComposeResult:
        yield TitleBar("Grants", id="grants-title")
        yield Choices(id="grants-list")

    def show(self, grants: Sequence[GrantView], scene: Scene, labels: Mapping[str, str]) -> None:
        pane = self.query_one(Choices)
        if not any(grant.id == self._chosen for grant in grants):
            self._chosen = grants[0].id if grants else ""
        hint = "delete revokes" if pane.has_focus else "tab here, then delete revokes"
        title, end = rows.count_title("Grants", len(grants), hint if grants else "")
        self.query_one(TitleBar).show(title, end)
        if grants:
            pane.show(rows.grant_items(grants, scene, pane.inner_width - 1), self._chosen)
        else:
            pane.show((), "")
            pane.set_lines(
                texts.paragraph(
                    texts.NO_GRANTS,
                    pane.inner_width,
                    rule=labels["answer.allow_rule"],
                    minutes=labels["answer.allow_minutes"],
                    here=labels["answer.allow_here"],
                )
            )

    def on_choices_chosen(self, message: Choices.Chosen) -> None:
        message.stop()
        self._chosen = message.item

    def action_revoke(self) -> None:
        if self._chosen and self.query_one(Choices).has_focus:
            self.post_message(self.Revoked(self._chosen))

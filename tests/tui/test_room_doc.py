"""The page about the room lists the keys that there are."""

from __future__ import annotations

import re
from pathlib import Path

from vaultroom.tui.commands import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "room.md"


def test_the_page_has_every_key_as_it_is() -> None:
    rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+?) \|$", PAGE.read_text(), re.MULTILINE)
    assert rows == [(command.keys, command.id, command.help) for command in COMMANDS]

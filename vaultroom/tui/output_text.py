"""What a launched agent printed, as lines that are safe to show. Colours are dropped, all else is visible."""

from __future__ import annotations

import re

from vaultroom.visible import visible

LONGEST_LINE = 2000
_COLOUR = re.compile("\x1b\\[[0-9;:]{0,40}m")


class OutputText:
    """Joins the pieces of an output; a line is given out when its end has come."""

    def __init__(self) -> None:
        self._rest = ""

    def lines(self, text: str, *, closed: bool = False) -> list[str]:
        """The lines that are complete now; all that is left when the output is closed."""
        parts = (self._rest + text).split("\n")
        self._rest = "" if closed else parts.pop()
        if len(self._rest) > LONGEST_LINE:
            parts.append(self._rest)
            self._rest = ""
        if closed and parts and not parts[-1]:
            parts.pop()
        return [_safe(part) for part in parts]


def _safe(text: str) -> str:
    text = text.removesuffix("\r")
    if len(text) > LONGEST_LINE:
        text = text[:LONGEST_LINE] + "…"
    return visible(_COLOUR.sub("", text).replace("\t", "    "))

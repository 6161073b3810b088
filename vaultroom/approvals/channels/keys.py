"""Bytes from a terminal → keys. Whole escape sequences are swallowed: the `D` of an arrow is no key.

Pure. A key is one visible character, or `enter`, `backspace`, `escape`, `ctrl-c`, `ctrl-u`, or `other`
for everything that means nothing here (arrows, mouse, pastes, replies of the terminal).
"""

from __future__ import annotations

import codecs

OTHER = "other"

_NAMED = {"\r": "enter", "\n": "enter", "\x7f": "backspace", "\b": "backspace"}
_NAMED |= {"\x03": "ctrl-c", "\x15": "ctrl-u"}
_CODES = {13: "enter", 27: "escape", 127: "backspace", 8: "backspace"}
_STRINGS = frozenset("]P_^X")
_PASTE_START, _PASTE_END = "200", "201"
_MAX_PARAMETERS = 64
_MAX_IDLE = 20
"""Idle ticks after which a sequence that never ended is given up."""


class KeyDecoder:
    """Feed it what was read; it keeps a sequence that is cut in the middle."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._mode = "ground"
        self._parameters = ""
        self._pasting = False
        self._skip = 0
        self._idle = 0
        self._modes = {
            "ground": self._in_ground,
            "escape": self._in_escape,
            "csi": self._in_csi,
            "string": self._in_string,
            "string_end": self._in_string_end,
        }

    def feed(self, data: bytes) -> list[str]:
        """The keys that are complete with `data`."""
        keys: list[str] = []
        self._idle = 0
        for char in self._text.decode(data):
            key = self._take(char)
            if key and not self._pasting:
                keys.append(key)
        return keys

    def idle(self) -> list[str]:
        """Nothing came for a tick: a lone escape was the key itself; other sequences get more time."""
        if self._mode == "escape" and not self._pasting:
            self._mode = "ground"
            return ["escape"]
        self._idle += 1
        if self._idle >= _MAX_IDLE and (self._pasting or self._skip or self._mode != "ground"):
            self._mode, self._pasting, self._skip = "ground", False, 0
            return [OTHER]
        return []

    def _take(self, char: str) -> str:
        if self._skip:
            self._skip -= 1
            return "" if self._skip else OTHER
        return self._modes[self._mode](char)

    def _in_ground(self, char: str) -> str:
        if char == "\x1b":
            self._mode = "escape"
            return ""
        if char in _NAMED:
            return _NAMED[char]
        return char if char.isprintable() else OTHER

    def _in_escape(self, char: str) -> str:
        if char == "\x1b":
            return "escape"
        self._mode = "ground"
        if char == "[":
            self._mode, self._parameters = "csi", ""
            return ""
        if char == "O":
            self._skip = 1
            return ""
        if char in _STRINGS:
            self._mode = "string"
            return ""
        return OTHER

    def _in_csi(self, char: str) -> str:
        if char == "\x1b":
            self._mode = "escape"
            return OTHER
        if " " <= char <= "?" and len(self._parameters) < _MAX_PARAMETERS:
            self._parameters += char
            return ""
        self._mode = "ground"
        if char == "M" and not self._parameters:
            self._skip = 3
            return ""
        if char == "~" and self._parameters == _PASTE_START:
            self._pasting = True
            return ""
        if char == "~" and self._parameters == _PASTE_END:
            self._pasting = False
            return OTHER
        return _reported(self._parameters, char)

    def _in_string(self, char: str) -> str:
        if char in "\x07\x9c":
            self._mode = "ground"
            return OTHER
        if char == "\x1b":
            self._mode = "string_end"
        return ""

    def _in_string_end(self, char: str) -> str:
        if char == "\\":
            self._mode = "ground"
            return OTHER
        return self._in_escape(char)


def _reported(parameters: str, final: str) -> str:
    """The key that a keyboard protocol spells out: `CSI code;modifiers u`, `CSI 27;modifiers;code ~`."""
    parts = [part.split(":") for part in parameters.split(";")]
    if final == "~" and len(parts) == 3 and parts[0] == ["27"]:
        parts = [parts[2], parts[1]]
    elif final != "u":
        return OTHER
    modifiers = parts[1] if len(parts) > 1 else ["1"]
    try:
        code, modifier = int(parts[0][0]), int(modifiers[0] or 1) - 1
    except ValueError:
        return OTHER
    released = len(modifiers) > 1 and modifiers[1] not in ("", "1")
    held = modifier & 0b111111
    if released:
        return OTHER
    if held == 0b100 and code in (ord("c"), ord("u")):
        return f"ctrl-{chr(code)}"
    if held:
        return OTHER
    if code in _CODES:
        return _CODES[code]
    return chr(code) if 0x20 <= code < 0x7F else OTHER

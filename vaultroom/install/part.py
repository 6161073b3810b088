"""A part: what was put into a file, and how to put it in and take it out. Pure text work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from vaultroom.install import json_text, toml_text


class PartKind(StrEnum):
    JSON = "json"
    """One element of a list in a JSON file."""
    TOML = "toml"
    """A marked block at the end of a TOML file."""
    FILE = "file"
    """The whole file."""


class Unusable(ValueError):
    """The file cannot be merged with. `line` is where (1-based), 0 where it is the whole file."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Part:
    """`path` leads to the list of a JSON part; `value` is the element, the block or the file."""

    kind: PartKind
    path: tuple[str, ...]
    value: Any

    def added_to(self, text: str | None) -> str:
        """`text` with this part in it (None: there is no file). Raises Unusable."""
        try:
            if self.kind is PartKind.JSON:
                return _into_json(text, self)
            if self.kind is PartKind.TOML:
                return toml_text.append_block(text or "", self.value)
        except (json_text.NotPlainJson, toml_text.NotToml) as error:
            raise Unusable(str(error), error.line) from None
        if text is not None and text != self.value:
            raise Unusable("expected no such file yet; it was not written by `vaultroom init`", 0)
        return str(self.value)

    def removed_from(self, text: str) -> str | None:
        """`text` without this part; None where the part is not there as it was put. Raises Unusable."""
        try:
            if self.kind is PartKind.JSON:
                return json_text.remove_element(text, self.path, self.value)
            if self.kind is PartKind.TOML:
                return toml_text.remove_block(text, self.value)
        except (json_text.NotPlainJson, toml_text.NotToml) as error:
            raise Unusable(str(error), error.line) from None
        return "" if text == self.value else None

    def is_in(self, text: str) -> bool:
        """Raises Unusable."""
        return self.removed_from(text) is not None

    def has_trace_in(self, text: str) -> bool:
        """Whether something of ours is there in another form: a person changed it."""
        if self.kind is PartKind.TOML:
            return toml_text.has_block(text)
        if self.kind is PartKind.FILE:
            return True
        commands = [hook.get("command") for hook in self.value.get("hooks", ())]
        return any(json.dumps(word, ensure_ascii=False)[1:-1] in text for word in commands if word)


def _into_json(text: str | None, part: Part) -> str:
    if text is not None:
        return json_text.insert_element(text, part.path, part.value)
    value: Any = [part.value]
    for name in reversed(part.path):
        value = {name: value}
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

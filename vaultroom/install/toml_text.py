"""A marked block at the end of a TOML file, and out again. The rest of the file stays byte for byte."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

BEGIN: Final = "# >>> vaultroom: added by `vaultroom init`, taken out by `vaultroom init --remove`"
END: Final = "# <<< vaultroom"
_LINE: Final = re.compile(r"at line (\d+)")


class NotToml(ValueError):
    """The text is not TOML. `line` is where (1-based)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """Raises NotToml."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE.search(str(error))
        line = int(found.group(1)) if found else text.count("\n") + 1
        raise NotToml(f"expected TOML: {str(error).split(' (at ')[0]}", line) from None


def append_block(text: str, body: str) -> str:
    """`text` with `body` between our marks at its end. Raises NotToml where the two do not go together."""
    parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    block = newline.join([BEGIN, *body.rstrip("\n").split("\n"), END, ""])
    whole = f"{text}{gap}{block}"
    try:
        parse(whole)
    except NotToml as error:
        raise NotToml(
            "expected [[hooks.PreToolUse]] to be free for an entry more; it is written in another form there",
            _hooks_line(text) or error.line,
        ) from None
    return whole


def remove_block(text: str, body: str) -> str | None:
    """`text` without exactly the block that `append_block` wrote; None when it is not there so."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([BEGIN, *body.rstrip("\n").split("\n"), END, ""])
    start = text.find(block)
    if start < 0:
        return None
    before, after = text[:start], text[start + len(block) :]
    if before.endswith(newline * 2) or before == newline:
        before = before.removesuffix(newline)
    return before + after


def has_block(text: str) -> bool:
    """Whether a block of ours is there, changed or not."""
    return BEGIN in text or END in text


def _hooks_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(\[\s*)?hooks\b", line):
            return number
    return 0

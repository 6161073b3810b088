"""Minimal edits of a JSON file: one element into a list, or out of it, and every other byte stays.

The file is read strictly, by hand and with positions: comments, trailing commas, duplicate keys and text
after the end are refused with their line, since an agent may read such a file in another way than we do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DEEPEST: Final = 100


class NotPlainJson(ValueError):
    """The text is not strict JSON, or not shaped as a settings file. `line` is where (1-based)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: `text[start:end]`. `members` of an object, `items` of a list."""

    value: Any
    start: int
    end: int
    members: tuple[tuple[str, int, Node], ...] = ()
    """Key, where the key begins, and the value's node."""
    items: tuple[Node, ...] = ()

    def member(self, key: str) -> Node | None:
        return next((node for name, _, node in self.members if name == key), None)


def parse(text: str) -> Node:
    """Raises NotPlainJson."""
    reader = _Reader(text)
    node = reader.value(_skip(text, 0), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise reader.wrong("expected the end of the file", end)
    return node


def insert_element(text: str, path: Sequence[str], element: dict[str, Any]) -> str:
    """`text` with `element` as the last item of the list at `path`; objects and the list on the way are made.

    Raises NotPlainJson, also where something on the way is of another kind.
    """
    node = parse(text)
    for depth, key in enumerate(path):
        _want(text, node, dict, "an object", path[:depth])
        inner = node.member(key)
        if inner is None:
            value: Any = [element]
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _spliced(text, node, depth, f"{json.dumps(key)}: ", value)
        node = inner
    _want(text, node, list, "a list", path)
    return _spliced(text, node, len(path), "", element)


def remove_element(text: str, path: Sequence[str], element: dict[str, Any]) -> str | None:
    """`text` without `element` in the list at `path`; None if it is not there.

    Lists and objects on the way that become empty go with it. Raises NotPlainJson.
    """
    chain = [parse(text)]
    for key in path:
        inner = chain[-1].member(key)
        if inner is None:
            return None
        chain.append(inner)
    places = [item for item in chain[-1].items if item.value == element]
    if not places:
        return None
    cut = places[-1]
    siblings = chain[-1].items
    start = cut.start
    for depth in range(len(path), 0, -1):
        if len(siblings) > 1:
            break
        holder = chain[depth - 1]
        start, cut = next((at, node) for name, at, node in holder.members if name == path[depth - 1])
        siblings = tuple(node for _, _, node in holder.members)
    return _without(text, start, cut.end)


def find_elements(text: str, path: Sequence[str]) -> tuple[Any, ...]:
    """The items of the list at `path`; empty where there is none. Raises NotPlainJson."""
    node: Node | None = parse(text)
    for key in path:
        node = node.member(key) if node is not None else None
    return tuple(item.value for item in node.items) if node is not None else ()


def _spliced(text: str, holder: Node, depth: int, prefix: str, value: Any) -> str:
    """`text` with `prefix` and `value` as the last child of the object or list `holder`."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _indentation(text)
    last = max((child.end for child in _children(holder)), default=None)
    if last is not None and "\n" not in text[holder.start : _first_child(holder)]:
        return f"{text[:last]}, {prefix}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    indent = _indent_of(text, holder, unit * (depth + 1)) if last is not None else None
    if indent is None:
        indent = _line_indent(text, holder.start) + unit
    written = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)
    if last is not None:
        return f"{text[:last]},{newline}{indent}{prefix}{written}{text[last:]}"
    outer = _line_indent(text, holder.start)
    close = text[holder.end - 1]
    head = text[: holder.start + 1]
    return f"{head}{newline}{indent}{prefix}{written}{newline}{outer}{close}{text[holder.end :]}"


def _without(text: str, start: int, end: int) -> str:
    """Cut a child and one comma: the one before it, else the one after it."""
    before = text[:start].rstrip(" \t\r\n")
    if before.endswith(","):
        return before[:-1] + text[end:]
    after = _skip(text, end)
    if text[after : after + 1] == ",":
        return text[:start] + text[_skip(text, after + 1) :]
    return before + text[after:]


def _children(holder: Node) -> list[Node]:
    return [node for _, _, node in holder.members] or list(holder.items)


def _first_child(holder: Node) -> int:
    return holder.members[0][1] if holder.members else holder.items[0].start


def _indent_of(text: str, holder: Node, fallback: str) -> str:
    start = _first_child(holder)
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line if not line.strip(" \t") else fallback


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indentation(text: str) -> str:
    """One level of indentation as the file has it; two spaces where it has none."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _want(text: str, node: Node, kind: type, name: str, path: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        where = ".".join(path) or "the file"
        found = "nothing" if node.value is None else f"a {type(node.value).__name__}"
        raise NotPlainJson(f"expected {name} at {where}, found {found}", _line(text, node.start))


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, expected: str, position: int) -> NotPlainJson:
        rest = self._text[position : position + 12]
        found = rest.partition("\n")[0].strip()
        if found.startswith(("//", "/*", "#")):
            shown = "a comment"
        elif found:
            shown = repr(found)
        else:
            shown = "the end of a line" if rest else "the end of the file"
        return NotPlainJson(f"{expected}, found {shown}", _line(self._text, position))

    def value(self, position: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.wrong(f"expected at most {_DEEPEST} levels", position)
        char = self._text[position : position + 1]
        if char == "{":
            return self._object(position, depth)
        if char == "[":
            return self._list(position, depth)
        if char == '"':
            value, end = self._string(position)
            return Node(value, position, end)
        found = _SCALAR.match(self._text, position)
        if found is None:
            raise self.wrong("expected a JSON value", position)
        return Node(json.loads(found.group()), position, found.end())

    def _string(self, position: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, position + 1, True)
        except ValueError:
            raise self.wrong("expected a whole text in quotes", position) from None
        return str(value), int(end)

    def _object(self, start: int, depth: int) -> Node:
        members: list[tuple[str, int, Node]] = []
        position = _skip(self._text, start + 1)
        while self._text[position : position + 1] != "}" or members:
            if self._text[position : position + 1] != '"':
                raise self.wrong("expected a key in quotes", position)
            key, end = self._string(position)
            if any(key == name for name, _, _ in members):
                raise self.wrong(f"expected the key {key!r} once in an object", position)
            colon = _skip(self._text, end)
            if self._text[colon : colon + 1] != ":":
                raise self.wrong("expected ':'", colon)
            node = self.value(_skip(self._text, colon + 1), depth + 1)
            members.append((key, position, node))
            position, done = self._after(node, "}")
            if done:
                break
        value = {key: node.value for key, _, node in members}
        return Node(value, start, position + 1, members=tuple(members))

    def _list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        position = _skip(self._text, start + 1)
        while self._text[position : position + 1] != "]" or items:
            node = self.value(position, depth + 1)
            items.append(node)
            position, done = self._after(node, "]")
            if done:
                break
        return Node([node.value for node in items], start, position + 1, items=tuple(items))

    def _after(self, node: Node, close: str) -> tuple[int, bool]:
        """Where the next child begins, or where the holder closes."""
        position = _skip(self._text, node.end)
        char = self._text[position : position + 1]
        if char == close:
            return position, True
        if char != ",":
            raise self.wrong(f"expected ',' or '{close}'", position)
        return _skip(self._text, position + 1), False

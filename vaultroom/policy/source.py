"""A policy's text as nodes with exact places. Nothing is constructed: values stay text until checked.

YAML's conveniences are refused where they can make a file mean something else than it says: anchors,
aliases, merge keys, tags, several documents, duplicate keys, tabs for indentation, invisible characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from vaultroom.policy.finding import Finding, Severity
from vaultroom.policy.spot import LineTable, Spot

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libyaml: the same events, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

LARGEST: Final = 1 << 20
"""Bytes of a policy at most."""
DEEPEST: Final = 12
"""Levels of nesting; the schema needs six."""
MOST_NODES: Final = 100_000

_INVISIBLE: Final = frozenset({"Cf", "Zl", "Zp"})
_NEXT_LINE: Final = "\x85"
_TAG_PREFIX: Final = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `kind` is what YAML makes of it: str, bool, int, float, null, timestamp, merge, value.

    `style` is empty for a plain scalar, else one of ' " | >. `start` and `end` are offsets into the text.
    """

    value: str
    kind: str
    style: str
    start: int
    end: int
    spot: Spot


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    spot: Spot


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries in file order; duplicate keys are found by the reader, which can say where the first one is."""

    entries: tuple[tuple[Node, Node], ...]
    spot: Spot


Node = Scalar | Sequence | Mapping


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text. `root` is None where the text is empty or broken; `findings` are errors of form."""

    text: str
    root: Node | None
    lines: LineTable
    findings: tuple[Finding, ...] = ()


def parse_source(data: bytes) -> Document:
    """Read the bytes of a policy. Never raises: what is wrong is in `findings`."""
    if len(data) > LARGEST:
        return _broken("", "too-large", f"expected a policy of at most {LARGEST} bytes, found {len(data)}")
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"expected UTF-8, found the byte 0x{data[error.start]:02x}"
        return _broken(before, "encoding", message, len(before))
    problem = _bad_character(text)
    if problem is not None:
        offset, code, message = problem
        return _broken(text, code, message, offset)
    return _Parser(text).document()


def _broken(text: str, code: str, message: str, offset: int = 0) -> Document:
    lines = LineTable.of(text)
    spot = lines.spot(offset)
    finding = Finding(code, Severity.ERROR, "", spot.line, spot.column, message)
    return Document(text, None, lines, (finding,))


def _bad_character(text: str) -> tuple[int, str, str] | None:
    """The first character that a reader would not see, or that indents differently than it looks."""
    if text.startswith("\ufeff"):
        return 0, "byte-order-mark", "expected no byte order mark at the start of the file"
    if not text.isascii() or "\r" in text:
        for offset, char in enumerate(text):
            if char in ("\r", _NEXT_LINE) or (
                not char.isascii() and unicodedata.category(char) in _INVISIBLE
            ):
                name = unicodedata.name(char, "a control character")
                message = (
                    f"expected visible characters, found U+{ord(char):04X} ({name}); write it as an escape"
                )
                return offset, "invisible-character", message
    if "\t" in text:
        offset = 0
        for line in text.split("\n"):
            indentation = line[: len(line) - len(line.lstrip(" \t"))]
            if "\t" in indentation:
                return offset + indentation.index("\t"), "tab", "expected spaces for indentation, found a tab"
            offset += len(line) + 1
    return None


class _Stop(Exception):
    """Parsing cannot go on; the finding is already noted."""


class _Parser:
    """Builds nodes from libyaml's events, so that bounds hold while reading."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = LineTable.of(text)
        self._findings: list[Finding] = []
        self._resolve: Any = yaml.resolver.Resolver().resolve
        self._nodes = 0

    def document(self) -> Document:
        root: Node | None = None
        try:
            root = self._root()
        except _Stop:
            root = None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = " ".join(part for part in (error.context, error.problem) if part) or "broken"
            self._note("yaml-syntax", f"expected YAML: {what}", mark.index if mark else 0)
        except yaml.reader.ReaderError as error:
            what = f"expected YAML: {error.reason}"
            self._note("yaml-syntax", what, min(max(error.position, 0), len(self._text)))
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            self._note("yaml-syntax", f"expected YAML: {error}", 0)
        if self._findings and self._findings[-1].code == "yaml-syntax":
            root = None
        return Document(self._text, root, self._lines, tuple(self._findings))

    def _root(self) -> Node | None:
        events = yaml.parse(self._text, Loader=_Loader)
        root: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._note(
                        "several-documents", "expected one YAML document, a second begins", _start(event)
                    )
                    raise _Stop
                if event.version is not None or event.tags:
                    self._note("directive", "expected no YAML directive (%…)", _start(event))
                root = self._node(next(events), events, 1)
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        self._nodes += 1
        start = _start(event)
        spot = self._lines.spot(start)
        if self._nodes > MOST_NODES:
            self._stop("too-many-values", f"expected at most {MOST_NODES} values", start)
        if depth > DEEPEST:
            self._stop("too-deep", f"expected at most {DEEPEST} levels of nesting", start)
        if isinstance(event, yaml.AliasEvent):
            self._note("alias", f"expected the value itself, found the alias *{event.anchor}", start)
            return Scalar("", "alias", "", start, start, spot)
        if event.anchor is not None:
            self._note("anchor", f"expected no anchor, found &{event.anchor}", start)
        if event.tag is not None:
            shown = event.tag.removeprefix(_TAG_PREFIX)
            self._note("tag", f"expected no YAML tag, found {shown!r}", start)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, spot)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                items.append(self._node(event, events, depth + 1))
            return Sequence(tuple(items), spot)
        entries = []
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events, depth + 1)
            entries.append((key, self._node(next(events), events, depth + 1)))
        return Mapping(tuple(entries), spot)

    def _scalar(self, event: Any, spot: Spot) -> Scalar:
        plain = not event.style
        kind = "str"
        if plain:
            tag = self._resolve(yaml.ScalarNode, event.value, (True, False))
            kind = tag.removeprefix(_TAG_PREFIX)
        return Scalar(
            event.value, kind, event.style or "", event.start_mark.index, event.end_mark.index, spot
        )

    def _note(self, code: str, message: str, offset: int) -> None:
        spot = self._lines.spot(min(offset, len(self._text)))
        self._findings.append(Finding(code, Severity.ERROR, "", spot.line, spot.column, message))

    def _stop(self, code: str, message: str, offset: int) -> None:
        self._note(code, message, offset)
        raise _Stop


def _start(event: Any) -> int:
    return int(event.start_mark.index)

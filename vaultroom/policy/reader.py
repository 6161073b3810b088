"""Typed reading of nodes: every wrong kind of value becomes a finding with its place, and reading goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from vaultroom.policy import source as yaml_source
from vaultroom.policy.durations import parse_duration
from vaultroom.policy.finding import Finding, Severity
from vaultroom.policy.source import Node, Scalar
from vaultroom.policy.spot import Spot
from vaultroom.policy.suggest import did_you_mean

Word = TypeVar("Word", bound=StrEnum)
Parsed = TypeVar("Parsed")

_KINDS: Final = {
    "bool": "a boolean",
    "int": "a number",
    "float": "a number",
    "null": "nothing",
    "timestamp": "a date",
    "merge": "a merge key",
    "value": "a special value",
}
_INTEGER: Final = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?", re.ASCII)
_EXCERPT: Final = 60


def shown(text: str) -> str:
    """A value as a message shows it: quoted, and cut where it is long."""
    return repr(text) if len(text) <= _EXCERPT else repr(text[:_EXCERPT]) + "…"


class Reader:
    """Collects findings while a policy's nodes are read. Every method returns None for a value it refused."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.rule = ""
        """The name of the rule that is being read, for its findings."""

    def note(self, severity: Severity, code: str, spot: Spot, message: str) -> None:
        self.findings.append(Finding(code, severity, self.rule, spot.line, spot.column, message))

    def error(self, code: str, spot: Spot, message: str) -> None:
        self.note(Severity.ERROR, code, spot, message)

    def warning(self, code: str, spot: Spot, message: str) -> None:
        self.note(Severity.WARNING, code, spot, message)

    def inform(self, code: str, spot: Spot, message: str) -> None:
        self.note(Severity.INFO, code, spot, message)

    def mapping(
        self,
        node: Node | None,
        where: str,
        keys: Collection[str],
        *,
        required: Sequence[str] = (),
        synonyms: Mapping[str, str] | None = None,
    ) -> dict[str, Node]:
        """The known entries of a mapping. `where` is its path in the policy, empty for the whole file."""
        place = where or "the policy"
        if node is None:
            return {}
        if not isinstance(node, yaml_source.Mapping):
            self.error("wrong-type", node.spot, f"expected {place} to be a mapping, found {describe(node)}")
            return {}
        entries: dict[str, Node] = {}
        first: dict[str, Spot] = {}
        for key, value in node.entries:
            name = self._key(key)
            if name is None:
                continue
            if name in first:
                where_first = f"{first[name].line}:{first[name].column}"
                self.error(
                    "duplicate-key", key.spot, f"expected {name!r} once, it stands already at {where_first}"
                )
                continue
            first[name] = key.spot
            if name not in keys:
                hint = did_you_mean(name, keys, synonyms) or f" (expected one of {', '.join(sorted(keys))})"
                level = f"in {where}" if where else "at the top level"
                self.error("unknown-key", key.spot, f"unknown key {shown(name)} {level}{hint}")
                continue
            entries[name] = value
        for name in required:
            if name not in first:
                self.error("missing-key", node.spot, f"expected {name!r} in {place}, found none")
        return entries

    def _key(self, key: Node) -> str | None:
        if not isinstance(key, Scalar):
            self.error("wrong-type", key.spot, f"expected a key to be a word, found {describe(key)}")
            return None
        if key.kind == "merge":
            self.error("merge-key", key.spot, "expected no merge key (<<); write the entries out")
            return None
        if key.kind != "str":
            what = (
                f"expected a key, YAML reads {shown(key.value)} as {_KINDS.get(key.kind, key.kind)}; quote it"
            )
            self.error("wrong-type", key.spot, what)
            return None
        return key.value

    def text(self, node: Node | None, where: str) -> str | None:
        """A string, also an empty one."""
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.error("wrong-type", node.spot, f"expected {where} to be a string, found {describe(node)}")
            return None
        if node.kind in ("str", "alias"):
            return node.value if node.kind == "str" else None
        if node.kind == "null" and not node.value:
            self.error("wrong-type", node.spot, f"expected {where} to be a string, found nothing")
        else:
            kind = _KINDS.get(node.kind, node.kind)
            message = f"expected {where} to be a string, YAML reads {shown(node.value)} as {kind}; quote it"
            self.error("wrong-type", node.spot, message)
        return None

    def line_of_text(self, node: Node | None, where: str, *, longest: int = 200) -> str | None:
        """A string for people and logs: not empty, on one line, without control characters."""
        value = self.text(node, where)
        if value is None or node is None:
            return None
        if not value.strip() or len(value) > longest or not value.isprintable():
            message = (
                f"expected {where} to be one line of 1 to {longest} visible characters, found {shown(value)}"
            )
            self.error("bad-text", node.spot, message)
            return None
        return value

    def items(self, node: Node | None, where: str, *, empty_ok: bool = False) -> list[Node] | None:
        """The items of a list; a single scalar counts as a list of one."""
        if node is None:
            return None
        if isinstance(node, Scalar) and node.kind != "null":
            return [node]
        if not isinstance(node, yaml_source.Sequence):
            self.error("wrong-type", node.spot, f"expected {where} to be a list, found {describe(node)}")
            return None
        if not node.items and not empty_ok:
            self.error("empty-list", node.spot, f"expected items in {where}: an empty list matches nothing")
            return None
        return list(node.items)

    def texts(
        self, node: Node | None, where: str, *, empty_ok: bool = False
    ) -> list[tuple[str, Scalar]] | None:
        """A list of strings with their nodes, without the items that were refused."""
        items = self.items(node, where, empty_ok=empty_ok)
        if items is None:
            return None
        found = []
        for item in items:
            value = self.text(item, f"an item of {where}")
            if value is not None and isinstance(item, Scalar):
                found.append((value, item))
        return found

    def word(
        self, node: Node | None, where: str, words: type[Word], *, synonyms: Mapping[str, str] | None = None
    ) -> Word | None:
        """One of a closed set of words."""
        value = self.text(node, where)
        if value is None or node is None:
            return None
        known = [word.value for word in words]
        if value not in known:
            hint = did_you_mean(value, known, synonyms)
            message = f"expected {where} to be one of {', '.join(known)}, found {shown(value)}{hint}"
            self.error("unknown-word", node.spot, message)
            return None
        return words(value)

    def boolean(self, node: Node | None, where: str) -> bool | None:
        if node is None:
            return None
        if isinstance(node, Scalar) and not node.style and node.value in ("true", "false"):
            return node.value == "true"
        self.error("wrong-type", node.spot, f"expected {where} to be true or false, found {describe(node)}")
        return None

    def integer(self, node: Node | None, where: str, *, highest: int) -> int | None:
        """A whole number from 0 to `highest`, in plain decimal digits."""
        if node is None:
            return None
        if isinstance(node, Scalar) and not node.style and _INTEGER.fullmatch(node.value):
            value = int(node.value)
            if value <= highest:
                return value
        message = f"expected {where} to be a whole number from 0 to {highest}, found {describe(node)}"
        self.error("wrong-type", node.spot, message)
        return None

    def decimal(self, node: Node | None, where: str) -> float | None:
        """A number that is not negative."""
        if node is None:
            return None
        if isinstance(node, Scalar) and not node.style and _DECIMAL.fullmatch(node.value):
            return float(node.value)
        self.error(
            "wrong-type", node.spot, f"expected {where} to be a number such as 2.00, found {describe(node)}"
        )
        return None

    def duration(self, node: Node | None, where: str) -> float | None:
        """Seconds."""
        if node is None:
            return None
        if isinstance(node, Scalar) and node.kind != "null":
            return self.parsed(node.value, node.spot, "bad-duration", parse_duration)
        self.error(
            "bad-duration",
            node.spot,
            f"expected {where} to be a duration such as 60s, found {describe(node)}",
        )
        return None

    def parsed(self, text: str, spot: Spot, code: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        """What `parse` makes of `text`; its ValueError becomes a finding."""
        try:
            return parse(text)
        except ValueError as error:
            self.error(code, spot, str(error))
            return None


def describe(node: Node) -> str:
    """What a node is, for messages."""
    if isinstance(node, yaml_source.Mapping):
        return "a mapping"
    if isinstance(node, yaml_source.Sequence):
        return "a list"
    return "nothing" if node.kind == "null" and not node.value else shown(node.value)

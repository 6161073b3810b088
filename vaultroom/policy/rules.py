"""Reading the `rules` of a policy (specification section 3.1, design sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from vaultroom.events import AGENT_ACTIONS, Action, Effect
from vaultroom.policy.cel import CelCompileError, Program, compile_all, compile_program
from vaultroom.policy.matchers.hosts import HostPattern, parse_host_pattern
from vaultroom.policy.matchers.paths import Glob, parse_glob, segments_regex
from vaultroom.policy.model import Condition, Expression, Match, Rule
from vaultroom.policy.re2 import compile_pattern
from vaultroom.policy.reader import Reader, describe, shown
from vaultroom.policy.scalar_offsets import scalar_offsets
from vaultroom.policy.source import Document, Node, Scalar, Sequence
from vaultroom.policy.source import Mapping as YamlMapping
from vaultroom.policy.spot import Spot
from vaultroom.policy.suggest import did_you_mean

RESERVED_PREFIXES: Final = ("builtin:", "budget:", "mcp:")
"""Names that Vaultroom gives to what is not a rule of the policy."""
MOST_RULES: Final = 2_000

EFFECT_SYNONYMS: Final = {
    "ask": "require_approval",
    "block": "deny",
    "approve": "require_approval",
    "permit": "allow",
}
_ACTION_SYNONYMS: Final = {
    "exec": "shell.exec",
    "shell": "shell.exec",
    "bash": "shell.exec",
    "command": "shell.exec",
    "read": "fs.read",
    "write": "fs.write",
    "edit": "fs.write",
    "delete": "fs.delete",
    "rm": "fs.delete",
    "net": "net.egress",
    "network": "net.egress",
    "mcp": "mcp.tool",
    "tool": "mcp.tool",
}
_RULE_KEYS: Final = ("name", "match", "effect", "message")
_RULE_SYNONYMS: Final = {
    "action": "effect",
    "decision": "effect",
    "verdict": "effect",
    "reason": "message",
    "when": "match",
}
_MATCH_KEYS: Final = ("action", "path", "host", "not_host", "tool", "cel")
_MATCH_SYNONYMS: Final = {
    "command": "cel",
    "cmd": "cel",
    "when": "cel",
    "argv": "cel",
    "domain": "host",
    "file": "path",
}
Value = TypeVar("Value")
_ACTIONS: Final = sorted(action.value for action in AGENT_ACTIONS)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What paths in a policy are read with: the home folder (absolute) and the environment."""

    home: str
    environ: Mapping[str, str]


def read_rules(
    reader: Reader, document: Document, node: Node | None, around: Surroundings
) -> tuple[Rule, ...]:
    """The rules in order. What is wrong is in the reader's findings, and then the result is not complete."""
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        reader.error("wrong-type", node.spot, f"expected rules to be a list, found {describe(node)}")
        return ()
    if len(node.items) > MOST_RULES:
        reader.error(
            "too-many-rules", node.spot, f"expected at most {MOST_RULES} rules, found {len(node.items)}"
        )
        return ()
    rules = _RuleReader(reader, document, around)
    for index, item in enumerate(node.items):
        rules.read(item, index)
    reader.rule = ""
    return rules.finish()


class _RuleReader:
    def __init__(self, reader: Reader, document: Document, around: Surroundings) -> None:
        self._reader = reader
        self._document = document
        self._around = around
        self._rules: list[Rule] = []
        self._names: dict[str, Spot] = {}
        self._expressions: list[tuple[str, Expression]] = []

    def read(self, node: Node, index: int) -> None:
        reader = self._reader
        reader.rule = ""
        where = f"rules[{index}]"
        before = len(reader.findings)
        entries = reader.mapping(
            node, where, _RULE_KEYS, required=("name", "effect"), synonyms=_RULE_SYNONYMS
        )
        name = self._name(entries.get("name"), where)
        reader.rule = name or where
        reader.findings[before:] = [
            replace(finding, rule=reader.rule) for finding in reader.findings[before:]
        ]
        effect = reader.word(entries.get("effect"), "effect", Effect, synonyms=EFFECT_SYNONYMS)
        message = reader.text(entries.get("message"), "message") or ""
        match = self._match(entries.get("match"), node.spot)
        if match is not None and name is not None and effect is not None:
            self._rules.append(Rule(name, match, effect, message, node.spot))

    def finish(self) -> tuple[Rule, ...]:
        """The rules with their expressions compiled."""
        programs = self._compile()
        return tuple(_with_program(rule, programs) for rule in self._rules)

    def _name(self, node: Node | None, where: str) -> str | None:
        name = self._reader.line_of_text(node, f"the name of {where}")
        if name is None or node is None:
            return None
        if name.startswith(RESERVED_PREFIXES):
            prefixes = " or ".join(RESERVED_PREFIXES)
            message = f"expected a rule name that does not begin with {prefixes}, found {name!r}"
            self._reader.error("reserved-name", node.spot, message)
        first = self._names.setdefault(name, node.spot)
        if first is not node.spot:
            message = f"expected rule names to differ, {name!r} stands already at {first.line}:{first.column}"
            self._reader.error("duplicate-name", node.spot, message)
        return name

    def _match(self, node: Node | None, rule_spot: Spot) -> Match | None:
        reader = self._reader
        if isinstance(node, Scalar) and node.kind == "str":
            if node.value == "all":
                return Match(everything=True)
            reader.error(
                "wrong-type", node.spot, f"expected match to be a mapping or all, found {shown(node.value)}"
            )
            return None
        if isinstance(node, Scalar) and node.kind == "null":
            node = None
        entries = reader.mapping(node, "match", _MATCH_KEYS, synonyms=_MATCH_SYNONYMS)
        match = Match(
            action=self._conditions(entries.get("action"), "action", self._action),
            path=self._conditions(entries.get("path"), "path", self._glob),
            host=self._conditions(entries.get("host"), "host", self._host),
            not_host=self._conditions(entries.get("not_host"), "not_host", self._host),
            tool=self._conditions(entries.get("tool"), "tool", self._tool),
            cel=self._cel(entries.get("cel")),
        )
        if node is None or (isinstance(node, YamlMapping) and not node.entries):
            message = "expected a condition: a rule without one needs 'match: all' to match every act"
            reader.error("no-condition", node.spot if node is not None else rule_spot, message)
        return match

    def _conditions(
        self, node: Node | None, where: str, read: Callable[[str, Scalar], Value | None]
    ) -> tuple[Condition[Value], ...] | None:
        """A list of a match; None where the match does not have it."""
        items = self._reader.texts(node, where)
        if items is None:
            return None
        conditions: dict[str, Condition[Value]] = {}
        for text, scalar in items:
            if text in conditions:
                first = conditions[text].spot
                message = f"{shown(text)} stands already at {first.line}:{first.column}"
                self._reader.warning("duplicate-item", scalar.spot, message)
                continue
            value = read(text, scalar)
            if value is not None:
                conditions[text] = Condition(value, text, scalar.spot)
        return tuple(conditions.values())

    def _action(self, text: str, scalar: Scalar) -> Action | None:
        if text in _ACTIONS:
            return Action(text)
        hint = did_you_mean(text, _ACTIONS, _ACTION_SYNONYMS)
        message = f"expected action to be one of {', '.join(_ACTIONS)}, found {shown(text)}{hint}"
        self._reader.error("unknown-word", scalar.spot, message)
        return None

    def _glob(self, text: str, scalar: Scalar) -> Glob | None:
        glob = self._reader.parsed(text, scalar.spot, "bad-glob", self._parse_glob)
        if glob is not None and len(text) > 1 and text.endswith("/"):
            message = (
                f"{shown(text)} matches the folder alone; write {shown(text + '**')} for what is in it too"
            )
            self._reader.warning("glob-trailing-slash", scalar.spot, message)
        return glob

    def _parse_glob(self, text: str) -> Glob:
        glob = parse_glob(text, home=self._around.home, environ=self._around.environ)
        for alternative in glob.alternatives:
            compile_pattern(segments_regex(alternative.segments))
        return glob

    def _host(self, text: str, scalar: Scalar) -> HostPattern | None:
        return self._reader.parsed(text, scalar.spot, "bad-host", parse_host_pattern)

    def _tool(self, text: str, scalar: Scalar) -> str | None:
        if not text or "*" in text or "?" in text:
            message = (
                f"expected the exact name of a tool, found {shown(text)}; use event.tool in cel for a pattern"
            )
            self._reader.error("bad-tool", scalar.spot, message)
            return None
        return text

    def _cel(self, node: Node | None) -> Expression | None:
        source = self._reader.text(node, "cel")
        if source is None or not isinstance(node, Scalar):
            return None
        offsets = scalar_offsets(self._document.text, node)
        expression = Expression(source, node.spot, offsets, self._document.lines)
        self._expressions.append((self._reader.rule, expression))
        return expression

    def _compile(self) -> dict[int, Program]:
        """The programs by their expression's identity, compiled together so that they share what they can."""
        expressions = [expression for _, expression in self._expressions]
        try:
            programs = compile_all([expression.source for expression in expressions])
        except CelCompileError:
            self._find_bad_expressions()
            return {}
        return {id(expression): program for expression, program in zip(expressions, programs, strict=True)}

    def _find_bad_expressions(self) -> None:
        for rule, expression in self._expressions:
            try:
                compile_program(expression.source)
            except CelCompileError as error:
                self._cel_error(rule, expression, error)
        if not any(finding.code == "cel" for finding in self._reader.findings):
            first = self._expressions[0][1]
            self._reader.error("cel", first.spot, "expected expressions that compile together, they do not")

    def _cel_error(self, rule: str, expression: Expression, error: CelCompileError) -> None:
        self._reader.rule = rule
        spot = expression.place(error.line, error.column)
        self._reader.error("cel", spot, f"rule {rule!r}: cel: {error.message}")


def _with_program(rule: Rule, programs: dict[int, Program]) -> Rule:
    expression = rule.match.cel
    if expression is None or id(expression) not in programs:
        return rule
    compiled = replace(expression, program=programs[id(expression)])
    return replace(rule, match=replace(rule.match, cel=compiled))

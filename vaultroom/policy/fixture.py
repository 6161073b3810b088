"""Fixtures: events as JSON, each with the verdict that somebody expects (design section 7, `policy test`).

A fixture file holds one fixture or a list. A fixture is an event object, an event object with a member
`expect`, or `{"event": …, "expect": …}`. `expect` is an effect, or an object with `verdict` and `rule`
(the empty text: no rule, a default).
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from vaultroom.events import Action, Effect, Event, Source, Verdict, event_from_dict, facets_from_list
from vaultroom.policy.suggest import did_you_mean
from vaultroom.shell import FileView, command_facets, join_argv, program_name, split_line, subcommand

_NO_ID: Final = "00000000000000000000000000"
_EPOCH: Final = "1970-01-01T00:00:00.000000000Z"
_TEXTS: Final = (
    "id", "session_id", "ts", "source", "action", "cmd", "raw", "subcommand", "path", "host", "server",
    "tool", "cwd", "agent", "agent_id", "tool_use_id",
)  # fmt: skip
_MEMBERS: Final = frozenset({*_TEXTS, "argv", "port", "tool_args", "pid", "opaque", "facets", "record"})
_SOURCES: Final = {
    Action.SHELL_EXEC: Source.SHIM,
    Action.NET_EGRESS: Source.EGRESS,
    Action.MCP_TOOL: Source.MCP,
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """`rule` is None where any rule will do."""

    effect: Effect
    rule: str | None = None

    def failure(self, verdict: Verdict) -> str:
        """How `verdict` differs, in words; empty when it does not."""
        if verdict.effect is not self.effect:
            return f"expected {self.effect}, found {verdict.effect}"
        if self.rule is not None and verdict.rule_name != self.rule:
            return f"expected {_rule_text(self.rule)} to decide, found {_rule_text(verdict.rule_name)}"
        return ""


def _rule_text(name: str) -> str:
    return f"rule {name!r}" if name else "a default"


@dataclass(frozen=True, slots=True)
class Fixture:
    event: Event
    expect: Expectation | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where fixtures play: the home that `~` means, the folder of events that name none, the file system."""

    home: str
    cwd: str
    files: FileView


def parse_fixtures(text: str, stage: Stage) -> list[Fixture]:
    """The fixtures in a JSON text. Raises ValueError, naming the fixture and the member."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("expected JSON of sane depth, it is nested too deeply") from None
    entries = value if isinstance(value, list) else [value]
    fixtures = []
    for index, entry in enumerate(entries):
        try:
            fixtures.append(_fixture(entry, stage))
        except ValueError as error:
            raise ValueError(f"fixture {index + 1}: {error}") from None
    return fixtures


def event_of_line(line: str, stage: Stage) -> Event:
    """The event of a shell command line, as `policy explain` judges it."""
    return parse_event({"action": "shell.exec", "raw": line}, stage)


def parse_event(data: Any, stage: Stage) -> Event:
    """An event with its facets. `id`, `session_id`, `ts`, `source`, `cwd` and `pid` may be left out."""
    if not isinstance(data, dict):
        raise ValueError(f"expected an event object, found a {type(data).__name__}")
    unknown = sorted(data.keys() - _MEMBERS)
    if unknown:
        raise ValueError(f"unknown member {unknown[0]!r} in an event{did_you_mean(unknown[0], _MEMBERS)}")
    if "action" not in data:
        raise ValueError("expected a member 'action', found none")
    action = _word(Action, data["action"], "action")
    filled = {
        "id": _NO_ID,
        "session_id": "",
        "ts": _EPOCH,
        "source": _SOURCES.get(action, Source.HOOK).value,
        "cwd": stage.cwd,
        **data,
    }
    filled["source"] = _word(Source, filled["source"], "source").value
    event = event_from_dict(filled)
    if not posixpath.isabs(event.cwd):
        raise ValueError(f"expected 'cwd' to be absolute, found {event.cwd!r}")
    if event.path:
        event = replace(event, path=_full_path(event.path, event.cwd, stage.home))
    recorded = data.get("facets", _recorded_facets(data))
    if recorded is not None:
        if not isinstance(recorded, list) or not all(isinstance(entry, dict) for entry in recorded):
            raise ValueError("expected 'facets' to be a list of objects")
        return replace(event, facets=facets_from_list(event, recorded))
    return _with_command(event, stage) if event.action is Action.SHELL_EXEC else event


def _recorded_facets(data: Mapping[str, Any]) -> Any:
    record = data.get("record")
    return record.get("facets") if isinstance(record, dict) else None


def _with_command(event: Event, stage: Stage) -> Event:
    """A shell.exec event with what its command would do; opaque when its line is more than that."""
    argv = event.argv or split_line(event.raw)
    if not argv:
        return replace(event, opaque=event.opaque or bool(event.raw))
    event = replace(
        event,
        argv=argv,
        cmd=event.cmd or program_name(argv[0]),
        raw=event.raw or join_argv(argv),
        subcommand=event.subcommand or subcommand(argv),
    )
    facets = command_facets(argv, cwd=event.cwd, view=stage.files)
    if event.opaque:
        facets = tuple(replace(facet, opaque=True) for facet in facets)
    return replace(event, facets=facets, opaque=event.opaque or facets[0].opaque)


def _full_path(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return posixpath.normpath(posixpath.join(cwd, path))


def _fixture(entry: Any, stage: Stage) -> Fixture:
    if not isinstance(entry, dict):
        raise ValueError(f"expected an object, found a {type(entry).__name__}")
    if "event" in entry:
        unknown = sorted(entry.keys() - {"event", "expect"})
        if unknown:
            raise ValueError(f"unknown member {unknown[0]!r} beside 'event'")
        return Fixture(parse_event(entry["event"], stage), _expectation(entry))
    event = {name: value for name, value in entry.items() if name != "expect"}
    return Fixture(parse_event(event, stage), _expectation(entry))


def _expectation(entry: Mapping[str, Any]) -> Expectation | None:
    if "expect" not in entry:
        return None
    expect = entry["expect"]
    if not isinstance(expect, dict):
        return Expectation(_word(Effect, expect, "expect"))
    unknown = sorted(expect.keys() - {"verdict", "rule"})
    if unknown or "verdict" not in expect:
        found = ", ".join(map(repr, expect)) or "nothing"
        raise ValueError(f"expected 'expect' to have 'verdict' and perhaps 'rule', found {found}")
    rule = expect.get("rule")
    if rule is not None and not isinstance(rule, str):
        raise ValueError(f"expected the rule of 'expect' to be a string, found a {type(rule).__name__}")
    return Expectation(_word(Effect, expect["verdict"], "expect"), rule)


def _word(words: Any, value: Any, member: str) -> Any:
    known = [str(word.value) for word in words]
    if value not in known:
        raise ValueError(f"expected {member!r} to be one of {', '.join(known)}, found {value!r}")
    return words(value)

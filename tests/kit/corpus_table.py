"""`python -m tests.kit.corpus_table FILE --policy F`: how a policy judges a file of labelled commands.

FILE has one JSON object a line: either labelled tool calls (family, command, cwd, expected `stop` or `pass`,
coverage) or cases (kind, input, expected). For each family it prints how many that ought to be stopped are
denied or asked about, and how many fully covered harmless ones are too; then the misses. No command is run:
the file system is not looked at either, unless `--real` says so.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vaultroom.events import Action, Effect, Event, Source
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.loader import load_policy
from vaultroom.shell import FileView, NoFiles, RealFiles, Surroundings, line_facets


class Labelled(NamedTuple):
    """One command and what ought to happen: any of these effects."""

    family: str
    name: str
    command: str
    cwd: str
    wanted: frozenset[Effect]
    is_covered: bool
    variables: dict[str, str]


@dataclass
class Tally:
    stops: int = 0
    stopped: int = 0
    passes: int = 0
    held: int = 0
    misses: list[str] = field(default_factory=list)


_HELD = frozenset((Effect.DENY, Effect.REQUIRE_APPROVAL))
_FREE = frozenset((Effect.ALLOW,))


def labelled(row: dict[str, Any], cwd: str) -> Iterator[Labelled]:
    """The commands of one line of the file; none if it is no shell command."""
    if "family" in row:
        if "command" in row:
            wanted = _HELD if row["expected"] == "stop" else _FREE
            covered = row["expected"] == "stop" or row.get("coverage") == "full"
            yield Labelled(row["family"], row["id"], row["command"], row["cwd"], wanted, covered, {})
        return
    given = row["input"]
    if given.get("type") != "bash":
        return
    wanted = _wanted(row["expected"])
    variables = {name: value for name, value in given.get("env", {}).items() if value is not None}
    command = given.get("command") or _built(ast.parse(given["command_template"], mode="eval").body)
    for number, text in enumerate([command, *given.get("variants", [])]):
        yield Labelled(row["kind"], f"{row['id']}.{number}", text, cwd, wanted, True, variables)


def _built(tree: ast.expr) -> str:
    """The text that an expression of string literals, `+` and `*` builds."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return tree.value
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return _built(tree.left) + _built(tree.right)
    if isinstance(tree, ast.BinOp) and isinstance(tree.right, ast.Constant):
        return _built(tree.left) * int(str(tree.right.value))
    raise ValueError(f"expected literals, + and *, found {ast.unparse(tree)}")


def _wanted(expected: str) -> frozenset[Effect]:
    if expected.startswith("allow"):
        return _FREE
    if expected.startswith("ask"):
        return _HELD
    return _HELD if expected.startswith("deny") else frozenset(Effect)


def judge(engine: Engine, one: Labelled, home: str, view: FileView) -> tuple[Effect, str]:
    """The verdict on one command and, in words, what decided."""
    around = Surroundings(home=home, variables=one.variables)
    read = line_facets(one.command, cwd=one.cwd, view=view, surroundings=around)
    first = read.facets[0]
    event = Event(
        "id", "session", 0, Source.HOOK, Action.SHELL_EXEC, cmd=first.cmd, argv=first.argv, raw=one.command,
        cwd=one.cwd, facets=read.facets, opaque=any(facet.opaque for facet in read.facets),
    )  # fmt: skip
    verdict = engine.evaluate(event)
    notes = ", ".join(reason for _, reason in read.notes[:3])
    return verdict.effect, " / ".join(filter(None, (verdict.rule_name, notes)))


def tallies(lines: Iterator[str], policy: Path, *, home: str, cwd: str, view: FileView) -> dict[str, Tally]:
    """The count of each family."""
    found: dict[str, Tally] = defaultdict(Tally)
    engines: dict[str, Engine] = {}
    loaded = load_policy(policy.read_bytes(), name=policy.name, environ={}, home=home)
    for line in lines:
        for one in labelled(json.loads(line), cwd):
            engine = engines.setdefault(one.cwd, Engine(loaded, cwd=one.cwd))
            effect, why = judge(engine, one, home, view)
            _count(found[one.family], one, effect, why)
    return found


def _count(tally: Tally, one: Labelled, effect: Effect, why: str) -> None:
    if one.wanted == _HELD:
        tally.stops += 1
        tally.stopped += effect in _HELD
    elif one.is_covered and one.wanted == _FREE:
        tally.passes += 1
        tally.held += effect in _HELD
    else:
        return
    if effect not in one.wanted:
        tally.misses.append(f"{one.name}: {effect.value} {one.command[:100]!r} ({why})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--policy", type=Path, required=True)
    parser.add_argument("--home", default="/home/test")
    parser.add_argument("--cwd", default="/home/dev/proj", help="where cases run that do not say")
    parser.add_argument("--real", action="store_true", help="look at this machine's files")
    args = parser.parse_args()
    view: FileView = RealFiles() if args.real else NoFiles()
    with args.file.open(encoding="utf-8") as lines:
        found = tallies(lines, args.policy, home=args.home, cwd=args.cwd, view=view)
    print(f"{'family':<20}{'stop: held':>14}{'pass: held':>14}")
    for family, tally in sorted(found.items()):
        print(f"{family:<20}{f'{tally.stopped}/{tally.stops}':>14}{f'{tally.held}/{tally.passes}':>14}")
    for family, tally in sorted(found.items()):
        for miss in tally.misses:
            print(f"{family}: {miss}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

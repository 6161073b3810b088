"""How long one judgement takes: `python tests/perf/policy_perf.py` prints medians and 99th percentiles.

Two policies. *Mixed*: 100 rules of every kind, 43 of them with CEL, against mixed events, half of which
match nothing. *Worst*: 100 rules that all have to be evaluated and all miss.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from vaultroom.events import Action, Effect, Event, Facet, Source
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy

HOME = "/home/dev"
CWD = "/home/dev/project"
ROUNDS = 4_000


def mixed_policy(rules: int = 100) -> Policy:
    """Of 100 rules 43 carry CEL; about half have path globs."""
    return _load([_mixed_rule(index) for index in range(rules)])


def worst_policy(rules: int = 100) -> Policy:
    """Every rule is for shell.exec and must be evaluated for every command."""
    return _load(
        [
            f'action: [shell.exec]\n      cel: \'event.cmd in ["a{i}", "b{i}"] ||'
            f' event.argv.exists(a, a.startsWith("--zz{i}")) || event.raw.matches("\\\\| *zsh{i}\\\\b")\''
            for i in range(rules)
        ]
    )


def mixed_policy_text(rules: int = 100, default: str = "deny") -> str:
    """The mixed policy as a file."""
    return _text([_mixed_rule(index) for index in range(rules)], default)


def _load(matches: list[str]) -> Policy:
    return load_policy(_text(matches).encode(), name="perf.yaml", environ={}, home=HOME)


def _text(matches: list[str], default: str = "deny") -> str:
    effects = ("deny", "allow", "require_approval")
    rules = [
        f"  - name: rule-{index}\n    match:\n      {match}\n    effect: {effects[index % 3]}\n"
        for index, match in enumerate(matches)
    ]
    return f"version: 1\ndefaults: {{action: {default}}}\nrules:\n" + "".join(rules)


def _mixed_rule(i: int) -> str:
    match i % 7:
        case 0:
            globs = f'["~/secret{i}/**", "/srv/*/data{i}/*.key"]'
            return f"action: [fs.read, fs.write, fs.delete]\n      path: {globs}"
        case 1:
            return f'action: [shell.exec]\n      cel: \'event.cmd == "tool{i}" && "--force" in event.argv\''
        case 2:
            return f'action: [net.egress]\n      host: ["api{i}.example.com", "*.svc{i}.example.org"]'
        case 3:
            expression = f'event.raw.matches("curl.*\\\\| *sh{i}") && event.cmd != ""'
            return f"action: [shell.exec]\n      cel: '{expression}'"
        case 4:
            return f'path: ["./src{i}/**/*.py", "**/.env{i}"]'
        case 5:
            return (
                f"action: [mcp.tool]\n      tool: [tool_{i}]\n"
                f"      cel: 'has(event.tool_args.path) && event.tool_args.path == \"/p{i}\"'"
            )
        case _:
            return f'action: [fs.write]\n      path: ["./build{i}/*", "~/projects/p{i}/**"]'


def mixed_events(count: int, seed: int = 7) -> list[Event]:
    """Commands, some with derived facets, file acts, connections and tool calls."""
    chance = random.Random(seed)
    return [_mixed_event(chance, index) for index in range(count)]


def _mixed_event(chance: random.Random, index: int) -> Event:
    kind = chance.randrange(4)
    # One rule in seven is of each kind, so half of these numbers belong to a rule and half to none.
    i = chance.randrange(15) * 7 + (1, 0, 2, 5)[kind] + chance.choice([0, 700])
    if kind == 0:
        argv = (f"tool{i}", "--force", "file.txt")
        shell = Facet(Action.SHELL_EXEC, cmd=argv[0], argv=argv)
        out = f"{CWD}/build{i + 5}/out"
        write = Facet(Action.FS_WRITE, cmd=argv[0], argv=argv, path=out, derived=True, parent=0)
        facets = (shell, write) if chance.random() < 0.5 else ()
        return event(Action.SHELL_EXEC, cmd=argv[0], argv=argv, raw=" ".join(argv), facets=facets)
    if kind == 1:
        path = chance.choice([f"{HOME}/secret{i}/x", f"{CWD}/src{i + 4}/a/b.py"])
        return event(chance.choice([Action.FS_READ, Action.FS_WRITE]), path=path)
    if kind == 2:
        host = chance.choice([f"api{i}.example.com", f"x.svc{i}.example.org"])
        return event(Action.NET_EGRESS, host=host, port=443)
    return event(Action.MCP_TOOL, server="files", tool=f"tool_{i}", tool_args={"path": f"/p{i}"})


def worst_events(count: int) -> list[Event]:
    """Commands that no rule of the worst policy matches."""
    argvs = [("git", "commit", "-m", f"message {i}", "--amend") for i in range(count)]
    return [event(Action.SHELL_EXEC, cmd="git", argv=argv, raw=" ".join(argv)) for argv in argvs]


def event(action: Action, **fields: object) -> Event:
    return Event("id", "session", 0, Source.SHIM, action, cwd=CWD, pid=1, **fields)  # type: ignore[arg-type]


def timings(engine: Engine, events: list[Event]) -> list[float]:
    """Microseconds of each judgement, sorted, after a warm-up."""
    judge: Callable[..., object] = engine.evaluate
    for one in events[:200]:
        judge(one)
    spent = []
    for one in events:
        begun = time.perf_counter_ns()
        judge(one)
        spent.append((time.perf_counter_ns() - begun) / 1000)
    return sorted(spent)


def measure() -> list[tuple[str, str]]:
    """What was measured and the figures, ready to print."""
    begun = time.perf_counter()
    mixed = Engine(mixed_policy(), cwd=CWD)
    built = (time.perf_counter() - begun) * 1000
    events = mixed_events(ROUNDS)
    matched = statistics.mean(bool(mixed.evaluate(one).rule_name) for one in events)
    results = [("policy: load and build 100 mixed rules", f"{built:.0f} ms")]
    label = f"policy: 100 mixed rules, 43 with CEL ({matched:.0%} match)"
    results.append((label, _figures(timings(mixed, events))))
    worst = Engine(worst_policy(), cwd=CWD)
    missing = timings(worst, worst_events(ROUNDS))
    results.append(("policy: 100 rules, all evaluated, none matches", _figures(missing)))
    return results


def _figures(spent: list[float]) -> str:
    return f"median {spent[len(spent) // 2]:.1f} µs, p99 {spent[int(len(spent) * 0.99)]:.1f} µs"


def main() -> None:
    assert Engine(worst_policy(), cwd=CWD).evaluate(worst_events(1)[0]).effect is Effect.DENY
    for what, figures in measure():
        print(f"{what}: {figures}")


if __name__ == "__main__":
    main()

"""The engine: order, facets, defaults, doubt; and the same verdicts as a naive reference."""

from __future__ import annotations

import fnmatch
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultroom.events import Action, Effect, Event, Facet, Source, Verdict
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy, Rule

CWD = "/home/dev/proj"
DENY, ASK, ALLOW = Effect.DENY, Effect.REQUIRE_APPROVAL, Effect.ALLOW


def policy(text: str) -> Policy:
    return load_policy(f"version: 1\n{text}".encode(), name="p.yaml", environ={}, home="/home/dev")


def engine(text: str) -> Engine:
    return Engine(policy(text), cwd=CWD)


def event(action: Action, source: Source = Source.SHIM, **fields: Any) -> Event:
    return Event("id", "s", 0, source, action, cwd=CWD, **fields)


def shell(*argv: str, facets: tuple[Facet, ...] = (), **fields: Any) -> Event:
    return event(Action.SHELL_EXEC, cmd=argv[0], argv=argv, raw=" ".join(argv), facets=facets, **fields)


def rules(*entries: str, default: str = "deny") -> str:
    listed = "".join(f"  - {{name: r{number}, {entry}}}\n" for number, entry in enumerate(entries))
    return f"defaults: {{action: {default}}}\nrules:\n{listed}"


def decided(verdict: Verdict) -> tuple[Effect, str]:
    return verdict.effect, verdict.rule_name


def test_a_verdict_carries_its_rule_line_message_and_trace() -> None:
    found = engine(rules('match: all, effect: deny, message: "not here"')).evaluate(shell("ls"))
    assert (found.effect, found.rule_name, found.line, found.message) == (DENY, "r0", 4, "not here")
    (facet,) = found.facets
    assert facet.why == "rule 'r0' (line 4) is the first that matches"
    assert found.eval_micros >= 0


def test_a_default_that_holds_back_says_so() -> None:
    found = engine("").evaluate(shell("ls"))
    assert (found.effect, found.rule_name, found.line) == (DENY, "", 0)
    assert found.message == "no rule matches; defaults.action is deny"


def test_of_equally_strict_facets_the_first_decides() -> None:
    judged = engine(
        rules(
            "match: {cel: 'event.cmd == \"b\"'}, effect: deny",
            "match: {cel: 'event.cmd == \"c\"'}, effect: deny",
            default="allow",
        )
    )
    facets = tuple(Facet(Action.SHELL_EXEC, cmd=cmd) for cmd in "acb")
    found = judged.evaluate(shell("a", facets=facets))
    assert (decided(found), found.decisive) == ((DENY, "r1"), 1)
    assert [one.effect for one in found.facets] == [ALLOW, DENY, DENY]


def derived(action: Action, **fields: Any) -> Event:
    facets = (Facet(Action.SHELL_EXEC, cmd="c"), Facet(action, derived=True, parent=0, **fields))
    return shell("c", "x", facets=facets)


@pytest.mark.parametrize(
    ("match", "touched", "counts"),
    [
        ("{action: [fs.write], path: ['./**']}", derived(Action.FS_WRITE, path=f"{CWD}/a"), True),
        ("{action: [fs.write]}", derived(Action.FS_WRITE, path="/x"), True),
        ("{path: ['/x']}", derived(Action.FS_WRITE, path="/x"), True),
        ("{path: ['/y']}", derived(Action.FS_WRITE, path="/x"), False),
        ("{host: [a.example]}", derived(Action.NET_EGRESS, host="a.example"), True),
        ("{not_host: [b.example]}", derived(Action.NET_EGRESS, host="a.example"), True),
        ("{tool: [t]}", derived(Action.MCP_TOOL, tool="t"), True),
        ("{path: ['/x']}", derived(Action.NET_EGRESS, host="a.example", path="/x"), False),
        ("{host: [a.example]}", derived(Action.FS_READ, path="/x", host="a.example"), False),
        ("{cel: 'event.derived'}", derived(Action.FS_WRITE, path="/x"), False),
        ("{tool: [t]}", derived(Action.FS_WRITE, path="/x", tool="t"), False),
    ],
)
def test_a_derived_facet_counts_only_where_a_rule_names_it(match: str, touched: Event, counts: bool) -> None:
    found = engine(rules(f"match: {match}, effect: deny", default="allow")).evaluate(touched)
    assert found.facets[1].counts is counts
    assert found.effect is (DENY if counts else ALLOW)


def test_match_all_is_not_about_derived_facets() -> None:
    found = engine(rules("match: all, effect: require_approval")).evaluate(derived(Action.FS_READ, path="/x"))
    assert [one.counts for one in found.facets] == [True, False]
    assert found.facets[1].why == "derived, and no rule names it"


def test_a_derived_facet_shows_its_parents_command_and_the_whole_line() -> None:
    judged = engine(
        rules(
            "match: {action: [fs.write], cel: "
            "\"event.cmd == 'c' && event.argv == ['c'] && event.raw == 'x && c'\""
            "},"
            " effect: deny",
            default="allow",
        )
    )
    facets = (
        Facet(Action.SHELL_EXEC, cmd="x"),
        Facet(Action.SHELL_EXEC, cmd="c", argv=("c",)),
        Facet(Action.FS_WRITE, path="/x", derived=True, parent=1),
    )
    whole = event(Action.SHELL_EXEC, raw="x && c", facets=facets)
    assert decided(judged.evaluate(whole)) == (DENY, "r0")


@pytest.mark.parametrize(
    ("entry", "effect"),
    [
        ("match: all, effect: allow", ASK),
        ("match: {action: [shell.exec]}, effect: allow", ASK),
        ("match: {cel: 'event.opaque'}, effect: allow", ALLOW),
        ("match: {cel: '!event.opaque || true'}, effect: allow", ALLOW),
        ("match: all, effect: deny", DENY),
        ("match: all, effect: require_approval", ASK),
    ],
)
def test_opaque_acts(entry: str, effect: Effect) -> None:
    assert engine(rules(entry, default="allow")).evaluate(shell("x", opaque=True)).effect is effect


def test_an_opaque_act_keeps_a_denying_default() -> None:
    assert engine("").evaluate(shell("x", opaque=True)).effect is DENY


def test_a_recursive_act_hits_a_deny_below_it_but_no_allow() -> None:
    judged = engine(
        rules(
            "match: {path: ['~/.ssh/**', '**/.env']}, effect: deny",
            "match: {path: ['~/proj/**']}, effect: allow",
        )
    )

    def delete(path: str) -> Verdict:
        facet = Facet(Action.FS_DELETE, path=path, recursive=True)
        return judged.evaluate(event(Action.FS_DELETE, path=path, facets=(facet,)))

    assert decided(delete("/home/dev")) == (DENY, "r0")
    assert decided(delete("/home/dev/proj/build")) == (ALLOW, "r1")
    assert decided(delete("/home/dev/other")) == (DENY, "")
    assert decided(delete("/")) == (DENY, "r0")


def test_an_expression_that_fails_denies_and_names_its_place() -> None:
    judged = engine(
        rules(
            "match: {action: [mcp.tool], cel: 'event.tool_args.n > 1'}, effect: allow",
            "match: all, effect: allow",
        )
    )
    found = judged.evaluate(event(Action.MCP_TOOL, tool="t"))
    assert decided(found) == (DENY, "r0")
    assert found.message.startswith("rule 'r0' could not be evaluated at p.yaml:4:")
    assert decided(judged.evaluate(shell("ls"))) == (ALLOW, "r1"), "a rule that is not reached cannot fail"


def test_an_error_of_the_engine_itself_is_a_deny(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = engine(rules("match: {path: ['/x']}, effect: deny", default="allow"))

    def broken(*_args: object, **_options: object) -> int:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(type(judged._paths), "matching", broken)
    found = judged.evaluate(event(Action.FS_READ, path="/y"))
    assert decided(found) == (DENY, "builtin:cannot-judge")
    assert found.message == "the act could not be judged: out of memory"


@pytest.mark.parametrize("host", ["0x7f.1", "a b", "a..b", "http://x"])
def test_a_host_that_two_programs_may_read_differently_is_denied(host: str) -> None:
    judged = engine("egress: {default: allow}\n")
    assert judged.evaluate(event(Action.NET_EGRESS, host=host)).effect is DENY
    assert judged.evaluate(event(Action.NET_EGRESS, host=host, opaque=True)).effect is ASK


def test_a_path_is_cleaned_before_it_is_compared() -> None:
    judged = engine(rules("match: {path: ['~/.ssh/**']}, effect: deny", default="allow"))
    for path in (
        "/home/dev/proj/../.ssh/x",
        "//home/dev//.ssh/x",
        "../.ssh/x",
        "/home/dev/.ssh/./x",
        "/home/dev/.ssh/",
    ):
        assert judged.evaluate(event(Action.FS_READ, path=path)).effect is DENY, path


def test_an_unknown_host_is_outside_for_a_rule_that_holds_back_only() -> None:
    text = rules("match: {not_host: [good.example]}, effect: require_approval") + "egress: {default: allow}\n"
    assert decided(engine(text).evaluate(event(Action.NET_EGRESS))) == (ASK, "r0")
    assert decided(engine(text).evaluate(shell("ls"))) == (DENY, "")
    loose = text.replace("require_approval", "allow").replace("default: allow}", "default: deny}")
    assert decided(engine(loose).evaluate(event(Action.NET_EGRESS))) == (DENY, "")


@pytest.mark.parametrize(
    ("text", "host", "effect"),
    [
        ("", "a.example", DENY),
        ("defaults: {action: allow}\n", "a.example", DENY),
        ("defaults: {action: allow}\negress: {allow_hosts: [a.example]}\n", "a.example", ALLOW),
        ("egress: {allow_hosts: ['*.example'], default: require_approval}\n", "a.example", ALLOW),
        ("egress: {allow_hosts: ['*.example'], default: require_approval}\n", "example", ASK),
        ("egress: {default: allow}\n", "a.example", ALLOW),
    ],
)
def test_the_network_has_its_own_default(text: str, host: str, effect: Effect) -> None:
    assert engine(text).evaluate(event(Action.NET_EGRESS, host=host)).effect is effect


def test_the_defaults_of_the_sources() -> None:
    judged = engine("defaults: {action: allow}\n")
    assert judged.evaluate(event(Action.FS_DELETE, Source.SERVER, path="/x")).effect is ASK
    assert judged.evaluate(event(Action.SHELL_EXEC, Source.SYSTEM)).effect is DENY
    for fallback in Effect:
        found = judged.evaluate(event(Action.SHELL_EXEC, Source.SYSTEM), fallback=fallback)
        assert found.effect is fallback
    assert judged.evaluate(event(Action.SHELL_EXEC), fallback=DENY).effect is ALLOW


MCP = "mcp_servers: [{name: s, command: [x], tool_policies: [{tool: t, effect: %s}]}]\n"


@pytest.mark.parametrize(
    ("entry", "override", "expected"),
    [
        ("match: all, effect: deny", "allow", (DENY, "r0")),
        ("match: all, effect: require_approval", "allow", (ALLOW, "mcp:s/t")),
        ("match: all, effect: allow", "require_approval", (ASK, "mcp:s/t")),
        ("match: all, effect: allow", "deny", (DENY, "mcp:s/t")),
        ("match: {action: [fs.read]}, effect: deny", "allow", (ALLOW, "mcp:s/t")),
        ("match: {cel: 'event.tool_args.x == 1'}, effect: allow", "allow", (DENY, "r0")),
    ],
)
def test_a_tools_own_policy(entry: str, override: str, expected: tuple[Effect, str]) -> None:
    judged = engine(rules(entry) + MCP % override)
    found = judged.evaluate(event(Action.MCP_TOOL, Source.MCP, server="s", tool="t"))
    assert decided(found) == expected
    assert decided(judged.evaluate(event(Action.MCP_TOOL, Source.MCP, server="o", tool="t")))[1] != "mcp:s/t"


def test_a_tools_own_policy_asks_for_the_call_alone() -> None:
    facets = (
        Facet(Action.FS_WRITE, path="/x", server="s", tool="t"),
        Facet(Action.MCP_TOOL, server="s", tool="t", derived=True, parent=0),
    )
    judged = engine(rules("match: {path: ['/x']}, effect: require_approval") + MCP % "require_approval")
    found = judged.evaluate(
        event(Action.FS_WRITE, Source.MCP, path="/x", server="s", tool="t", facets=facets)
    )
    assert (decided(found), found.decisive) == ((ASK, "mcp:s/t"), 1)
    assert [one.index for one in found.asking()] == [1]


def test_an_opaque_call_is_not_allowed_by_its_tool_policy() -> None:
    call = event(Action.MCP_TOOL, Source.MCP, server="s", tool="t", opaque=True)
    assert decided(engine(MCP % "allow").evaluate(call)) == (ASK, "mcp:s/t")


def test_an_act_of_nothing_but_derived_facets_is_denied() -> None:
    odd = event(Action.FS_READ, facets=(Facet(Action.FS_READ, derived=True, parent=0),))
    assert engine("defaults: {action: allow}\n").evaluate(odd).effect is DENY


def test_a_start_directory_must_be_absolute() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Engine(policy(""), cwd="proj")


# A naive reference: the rules of design section 4, written once more without an index, masks or RE2.

_ACTIONS = [Action.SHELL_EXEC, Action.FS_WRITE, Action.NET_EGRESS, Action.MCP_TOOL]
_PATHS = ["/a/x", "/a/y", "/b", ""]
_HOSTS = ["a.example", "b.a.example", ""]
_GLOBS = ["/a/*", "/a/x", "/b"]
_HOST_PATTERNS = ["a.example", "*.a.example"]
_CELS = {
    'event.cmd == "c"': lambda facet, cmd: cmd == "c",
    "event.opaque": lambda facet, cmd: facet.opaque,
    "event.tool_args.n == 1": lambda facet, cmd: (
        None if "n" not in facet.tool_args else facet.tool_args["n"] == 1
    ),
}


def reference(loaded: Policy, one: Event) -> tuple[Effect, str]:
    facets = one.judged_facets()
    best: tuple[Effect, str] | None = None
    for facet in facets:
        judged = _reference_facet(
            loaded, facet, facets[facet.parent].cmd if facet.parent is not None else facet.cmd
        )
        if judged is not None and (best is None or judged[0].strictness > best[0].strictness):
            best = judged
    assert best is not None
    return best


def _reference_facet(loaded: Policy, facet: Facet, cmd: str) -> tuple[Effect, str] | None:
    for rule in loaded.rules:
        if (facet.derived and not _names(rule, facet)) or not _structure(rule, facet):
            continue
        cel = rule.match.cel
        if facet.opaque and rule.effect is ALLOW and (cel is None or "opaque" not in cel.source):
            continue
        held = True if cel is None else _CELS[cel.source](facet, cmd)
        if held is None:
            return DENY, rule.name
        if held:
            return rule.effect, rule.name
    if facet.derived:
        return None
    effect = DENY if facet.action is Action.NET_EGRESS else loaded.defaults.action
    return (ASK if facet.opaque and effect is ALLOW else effect), ""


def _names(rule: Rule, facet: Facet) -> bool:
    match = rule.match
    if match.action is not None:
        return True
    by_path = facet.action is Action.FS_WRITE and match.path is not None
    by_host = facet.action is Action.NET_EGRESS and (match.host is not None or match.not_host is not None)
    return by_path or by_host or (facet.action is Action.MCP_TOOL and match.tool is not None)


def _structure(rule: Rule, facet: Facet) -> bool:
    match = rule.match

    def outside() -> bool:
        if not facet.host:
            return rule.effect is not ALLOW and facet.action is Action.NET_EGRESS
        return not any(item.value.matches(facet.host) for item in match.not_host or ())

    return (
        (match.action is None or facet.action in [item.value for item in match.action])
        and (match.path is None or any(fnmatch.fnmatchcase(facet.path, item.text) for item in match.path))
        and (match.tool is None or facet.tool in [item.value for item in match.tool])
        and (match.host is None or any(facet.host and item.value.matches(facet.host) for item in match.host))
        and (match.not_host is None or outside())
    )


def _some(values: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


_MATCHES = st.fixed_dictionaries(
    {},
    optional={
        "action": _some([action.value for action in _ACTIONS]),
        "path": _some(_GLOBS),
        "host": _some(_HOST_PATTERNS),
        "not_host": _some(_HOST_PATTERNS),
        "tool": _some(["t"]),
        "cel": st.sampled_from(list(_CELS)),
    },
)
_RULES = st.lists(st.tuples(_MATCHES, st.sampled_from(list(Effect))), max_size=6)


@st.composite
def _facets(draw: st.DrawFn) -> tuple[Facet, ...]:
    facets: list[Facet] = []
    for number in range(draw(st.integers(1, 4))):
        parents = [index for index, facet in enumerate(facets) if not facet.derived]
        parent = draw(st.sampled_from([None, *parents])) if number else None
        facets.append(
            Facet(
                draw(st.sampled_from(_ACTIONS)),
                cmd=draw(st.sampled_from(["c", "d"])),
                path=draw(st.sampled_from(_PATHS)),
                host=draw(st.sampled_from(_HOSTS)),
                tool=draw(st.sampled_from(["t", ""])),
                tool_args=draw(st.sampled_from([{}, {"n": 1}, {"n": 2}])),
                opaque=draw(st.booleans()),
                derived=parent is not None,
                parent=parent,
            )
        )
    return tuple(facets)


@settings(max_examples=300)
@given(_RULES, st.sampled_from(list(Effect)), st.lists(_facets(), min_size=1, max_size=5))
def test_verdicts_equal_those_of_the_reference(
    drawn: list[tuple[dict[str, Any], Effect]], default: Effect, acts: list[tuple[Facet, ...]]
) -> None:
    lines = [
        f"  - {{name: r{number}, match: {_yaml(match)}, effect: {effect}}}\n"
        for number, (match, effect) in enumerate(drawn)
    ]
    loaded = policy(f"defaults: {{action: {default}}}\nrules:\n" + "".join(lines or ["  []\n"]))
    judged = Engine(loaded, cwd="/")
    for facets in acts:
        one = event(facets[0].action, facets=facets)
        assert decided(judged.evaluate(one)) == reference(loaded, one)


def _yaml(match: dict[str, Any]) -> str:
    if not match:
        return "all"
    parts = [f"{name}: {value!r}" for name, value in match.items()]
    return "{" + ", ".join(parts) + "}"


def test_eight_threads_give_the_same_verdicts() -> None:
    judged = engine(
        rules(
            "match: {path: ['./a/**', '**/.env']}, effect: deny",
            "match: {cel: 'event.raw.matches(\"x[0-4]\")'}, effect: allow",
            'match: {cel: \'event.raw.matches("x[5-9]") && event.argv.exists(a, a == "x7")\'}, effect: deny',
            "match: {host: ['*.example']}, effect: require_approval",
        )
    )
    acts = [shell("c", f"x{number % 10}") for number in range(40)]
    acts += [event(Action.FS_READ, path=f"{CWD}/{name}/f") for name in "abc"]
    acts += [event(Action.NET_EGRESS, host=f"h{number}.example") for number in range(5)]
    expected = [replace(judged.evaluate(act), eval_micros=0) for act in acts]

    def all_of(_: int) -> bool:
        return all(
            [replace(judged.evaluate(act), eval_micros=0) for act in acts] == expected for _ in range(10)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(all_of, range(8)))

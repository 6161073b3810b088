"""Loading: the whole schema, and every mistake with its place. Anything wrong refuses the whole policy."""

# ruff: noqa: E501  (a table of mistakes reads best with one case a line)

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.errors import PolicyError
from vaultroom.events import Action, Effect
from vaultroom.policy.finding import PolicyInvalid, Severity
from vaultroom.policy.loader import load_policy
from vaultroom.policy.matchers.hosts import HostPattern
from vaultroom.policy.model import JudgeEngine, Policy, WithoutHost

ENVIRON = {"PROJECT": "/srv/project", "EMPTY": "", "STAR": "/srv/a*b"}


def load(text: str, environ: dict[str, str] | None = None) -> Policy:
    return load_policy(
        text.encode(), name="p.yaml", environ=ENVIRON if environ is None else environ, home="/home/dev"
    )


def errors(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(PolicyInvalid) as caught:
        load(text)
    return [(f.code, f.line, f.column) for f in caught.value.findings if f.severity is Severity.ERROR]


def rule(body: str) -> str:
    """A policy of one rule; `body` starts at line 4, indented by four."""
    return f"version: 1\nrules:\n  - name: r\n{body}"


WHOLE = """\
version: 1
engine: cel-python
agent: {name: a, command: [run, it]}
defaults: {action: allow, approval_timeout: 2m}
budgets: {max_actions_per_minute: 5}
approvals:
  timeout: 1m30s
  channels:
    telegram: {enabled: true, bot_token_env: PROJECT, chat_id_env: STAR}
    tty: {enabled: false}
mcp_servers:
  - name: s
    command: [x]
    tool_policies: [{tool: t, effect: deny}]
mcp: {unknown_methods: allow}
hooks: {without_host: native}
shims: {binaries: [rm]}
egress: {listen: "127.0.0.1:99", default: allow, allow_hosts: ["*.EXAMPLE.com."], no_proxy: [localhost]}
audit: {path: $PROJECT/log.db, retention_days: 0, sign_on_close: false}
rules:
  - name: one
    match:
      action: [fs.read]
      path: ["~/a", "${PROJECT}/**"]
      host: [a.example]
      not_host: [b.example]
      tool: [t]
      cel: event.cmd == "x"
    effect: deny
    message: no
  - {name: two, match: all, effect: allow}
"""


def test_the_whole_schema() -> None:
    policy = load(WHOLE.replace("message: no", "message: 'no'"))
    assert (
        policy.policy_hash
        == hashlib.sha256(WHOLE.replace("message: no", "message: 'no'").encode()).hexdigest()
    )
    assert policy.engine is JudgeEngine.CEL_PYTHON
    assert policy.agent.command == ("run", "it")
    assert (policy.defaults.action, policy.defaults.approval_timeout) == (Effect.ALLOW, 120)
    assert policy.approvals.timeout == 90
    assert not policy.approvals.channels.tty.enabled
    assert policy.approvals.channels.telegram.bot_token_env == "PROJECT"
    assert policy.mcp_servers[0].tool_policies[0].effect is Effect.DENY
    assert policy.mcp.unknown_methods is Effect.ALLOW
    assert policy.hooks.without_host is WithoutHost.NATIVE
    assert policy.shims.binaries == ("rm",)
    assert (policy.egress.listen_host, policy.egress.listen_port) == ("127.0.0.1", 99)
    assert policy.egress.allow_hosts == (HostPattern("example.com", subdomains=True),)
    assert policy.egress.no_proxy == (HostPattern("localhost"),)
    assert (policy.audit.path, policy.audit.retention_days) == ("/srv/project/log.db", 0)
    assert not policy.audit.sign_on_close
    one, two = policy.rules
    assert one.match.action is not None and one.match.action[0].value is Action.FS_READ
    assert one.match.path is not None and one.match.path[1].spot.line == 24
    assert one.match.cel is not None and one.match.cel.program is not None
    assert two.match.everything
    assert policy.findings == ()


def test_what_is_silent_has_its_default() -> None:
    policy = load("version: 1\n")
    assert policy.defaults.action is Effect.DENY
    assert policy.approvals.timeout == 60
    assert policy.egress.default is None
    assert policy.hooks.without_host is WithoutHost.DENY
    assert "rm" in policy.shims.binaries


def test_the_approval_timeout_falls_back_to_the_defaults() -> None:
    assert load("version: 1\ndefaults: {approval_timeout: 5s}\n").approvals.timeout == 5
    assert (
        load("version: 1\ndefaults: {approval_timeout: 5s}\napprovals: {timeout: 7s}\n").approvals.timeout
        == 7
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("empty", 1, 1)),
        ("# nothing\n", ("empty", 1, 1)),
        ("- a\n", ("wrong-type", 1, 1)),
        ("rules: []\n", ("missing-key", 1, 1)),
        ("version: 2\n", ("bad-version", 1, 10)),
        ("version: '1'\n", ("bad-version", 1, 10)),
        ("version: 1.0\n", ("bad-version", 1, 10)),
        ("version: 1\nruels: []\n", ("unknown-key", 2, 1)),
        ("version: 1\nversion: 1\n", ("duplicate-key", 2, 1)),
        ("version: 1\nrules: []\nrules: []\n", ("duplicate-key", 3, 1)),
        ("version: 1\nno: 1\n", ("wrong-type", 2, 1)),
        ("version: 1\n<<: {a: 1}\n", ("merge-key", 2, 1)),
        ("version: 1\n[a]: 1\n", ("wrong-type", 2, 1)),
        ("version: 1\nagent: {name: on}\n", ("wrong-type", 2, 15)),
        ("version: 1\nagent: {name: 12}\n", ("wrong-type", 2, 15)),
        ("version: 1\nagent: {name: ~}\n", ("wrong-type", 2, 15)),
        ("version: 1\nagent: {command: {a: b}}\n", ("wrong-type", 2, 18)),
        ('version: 1\nagent: {name: "a\\nb"}\n', ("bad-text", 2, 15)),
        ("version: 1\ndefaults: {action: alow}\n", ("unknown-word", 2, 20)),
        ("version: 1\ndefaults: {action: Deny}\n", ("unknown-word", 2, 20)),
        ("version: 1\ndefaults:\n  action:\n", ("wrong-type", 3, 10)),
        ("version: 1\ndefaults: {approval_timeout: 60}\n", ("bad-duration", 2, 30)),
        ("version: 1\ndefaults: {approval_timeout: [60s]}\n", ("bad-duration", 2, 30)),
        ("version: 1\nbudgets: {max_actions_per_minute: -1}\n", ("wrong-type", 2, 35)),
        ("version: 1\nbudgets: {max_actions_per_minute: 0x10}\n", ("wrong-type", 2, 35)),
        ("version: 1\nbudgets: {max_actions_per_minute: '5'}\n", ("wrong-type", 2, 35)),
        ("version: 1\nbudgets: {daily_spend_usd: much}\n", ("wrong-type", 2, 28)),
        ("version: 1\nrules: {a: b}\n", ("wrong-type", 2, 8)),
        ("version: 1\nrules:\n", ("wrong-type", 2, 7)),
        ("version: 1\nrules: [x]\n", ("wrong-type", 2, 9)),
        ("version: 1\nrules:\n  - match: all\n    effect: deny\n", ("missing-key", 3, 5)),
        (rule("    match: all\n"), ("missing-key", 3, 5)),
        (rule("    effect: deny\n"), ("no-condition", 3, 5)),
        (rule("    match: {}\n    effect: deny\n"), ("no-condition", 4, 12)),
        (rule("    match:\n    effect: deny\n"), ("no-condition", 3, 5)),
        (rule("    match: everything\n    effect: deny\n"), ("wrong-type", 4, 12)),
        (rule("    match: [all]\n    effect: deny\n"), ("wrong-type", 4, 12)),
        (rule("    match: all\n    effect: dney\n"), ("unknown-word", 5, 13)),
        (rule("    match: all\n    effect: ask\n"), ("unknown-word", 5, 13)),
        (rule("    match: all\n    effect: deny\n    action: deny\n"), ("unknown-key", 6, 5)),
        (rule("    match: {command: x}\n    effect: deny\n"), ("unknown-key", 4, 13)),
        (rule("    match: {action: [fs.reed]}\n    effect: deny\n"), ("unknown-word", 4, 22)),
        (rule("    match: {action: [session.open]}\n    effect: deny\n"), ("unknown-word", 4, 22)),
        (rule("    match: {action: []}\n    effect: deny\n"), ("empty-list", 4, 21)),
        (rule("    match: {action: }\n    effect: deny\n"), ("wrong-type", 4, 21)),
        (rule("    match: {path: ['a**b']}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: ['[a']}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: ['~bob/x']}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: [$UNSET/x]}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: [$EMPTY/x]}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: ['C:\\x']}\n    effect: deny\n"), ("bad-glob", 4, 20)),
        (rule("    match: {path: [~]}\n    effect: deny\n"), ("wrong-type", 4, 20)),
        (rule("    match: {host: ['http://a.example']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['a.example:80']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['a.*.example']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['10.0.0.*']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['*.10.0.0.1']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['*']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {host: ['*.']}\n    effect: deny\n"), ("bad-host", 4, 20)),
        (rule("    match: {not_host: ['a b']}\n    effect: deny\n"), ("bad-host", 4, 24)),
        (rule("    match: {tool: ['write_*']}\n    effect: deny\n"), ("bad-tool", 4, 20)),
        (rule("    match:\n      cel: 'event.cmdd == \"x\"'\n    effect: deny\n"), ("cel", 5, 19)),
        (rule("    match:\n      cel: >-\n        event.cmd == \"x\" &&\n        event.hst == \"y\"\n    effect: deny\n"), ("cel", 7, 15)),
        (rule("    match: {cel: '\"rm -rf\"'}\n    effect: deny\n"), ("cel", 4, 19)),
        (rule("    match: {cel: 'size(event.argv)'}\n    effect: deny\n"), ("cel", 4, 19)),
        (rule("    match: {cel: ''}\n    effect: deny\n"), ("cel", 4, 18)),
        (rule("    match: {cel: [a]}\n    effect: deny\n"), ("wrong-type", 4, 18)),
        ("version: 1\nrules:\n  - {name: a, match: all, effect: deny}\n  - {name: a, match: all, effect: deny}\n", ("duplicate-name", 4, 12)),
        ("version: 1\nrules:\n  - {name: 'mcp:a/b', match: all, effect: deny}\n", ("reserved-name", 3, 12)),
        ("version: 1\nrules:\n  - {name: '', match: all, effect: deny}\n", ("bad-text", 3, 12)),
        ("version: 1\nmcp_servers:\n  - {name: a b, command: [x]}\n", ("bad-text", 3, 12)),
        ("version: 1\nmcp_servers:\n  - {name: a, command: []}\n", ("empty-list", 3, 24)),
        ("version: 1\nmcp_servers:\n  - {name: my-fs, command: [x]}\n  - {name: My_FS, command: [x]}\n", ("server-name-collision", 4, 12)),
        ("version: 1\nmcp_servers:\n  - {name: a, command: [x], tool_policies: [{tool: t}]}\n", ("missing-key", 3, 45)),
        ("version: 1\nmcp_servers:\n  - {name: a, command: [x], tool_policies: [{tool: t*, effect: deny}]}\n", ("bad-tool", 3, 52)),
        ("version: 1\nmcp: {unknown_methods: maybe}\n", ("unknown-word", 2, 24)),
        ("version: 1\nhooks: {without_host: allow}\n", ("unknown-word", 2, 23)),
        ("version: 1\nshims: {binaries: [/bin/rm]}\n", ("bad-program", 2, 20)),
        ("version: 1\negress: {listen: '0.0.0.0:80'}\n", ("bad-listen", 2, 18)),
        ("version: 1\negress: {listen: '127.0.0.1:70000'}\n", ("bad-listen", 2, 18)),
        ("version: 1\negress: {allow_hosts: ['']}\n", ("bad-host", 2, 24)),
        ("version: 1\negress: {allow_hosts: [null]}\n", ("wrong-type", 2, 24)),
        ("version: 1\negress: {default: ask}\n", ("unknown-word", 2, 19)),
        ("version: 1\naudit: {path: log.db}\n", ("bad-path", 2, 15)),
        ("version: 1\naudit: {path: $UNSET/log.db}\n", ("bad-path", 2, 15)),
        ("version: 1\naudit: {sign_on_close: yes}\n", ("wrong-type", 2, 24)),
        ("version: 1\nengine: google\n", ("unknown-word", 2, 9)),
        ("version: 1\napprovals: {channels: {telegram: {bot_token: x}}}\n", ("unknown-key", 2, 35)),
        ("version: 1\napprovals: {channels: {telegram: {chat_id_env: 123456}}}\n", ("secret-literal", 2, 48)),
        ("version: 1\nagent: {name: '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawx'}\n", ("secret-literal", 2, 15)),
        ("version: 1\ndefault: alow\n", ("unknown-key", 2, 1)),
    ],
)  # fmt: skip
def test_mistakes_are_placed(text: str, expected: tuple[str, int, int]) -> None:
    assert expected in errors(text)


def test_all_mistakes_are_reported_at_once_in_file_order() -> None:
    text = "version: 2\nruels: []\nengine: x\nrules:\n  - {name: a, match: {cel: 'x', path: []}, effect: b}\n"
    found = errors(text)
    assert [code for code, _, _ in found] == [
        "bad-version", "unknown-key", "unknown-word", "cel", "empty-list", "unknown-word",
    ]  # fmt: skip
    assert found == sorted(found, key=lambda item: item[1:])


def test_the_text_of_the_error_has_a_line_for_each_mistake() -> None:
    with pytest.raises(PolicyError) as caught:
        load("version: 1\nruels: []\ndefaults: {action: dney}\n")
    assert str(caught.value) == (
        "p.yaml:2:1: unknown key 'ruels' at the top level (did you mean 'rules'?)\n"
        "p.yaml:3:20: expected defaults.action to be one of allow, deny, require_approval, found 'dney'"
        " (did you mean 'deny'?)"
    )


def test_the_words_of_other_tools_are_translated() -> None:
    with pytest.raises(PolicyInvalid, match=r"did you mean 'shell\.exec'\?"):
        load(rule("    match: {action: [bash]}\n    effect: deny\n"))
    with pytest.raises(PolicyInvalid, match="did you mean 'require_approval'"):
        load(rule("    match: all\n    effect: ask\n"))


def test_a_duplicate_key_names_both_places() -> None:
    with pytest.raises(PolicyInvalid, match=r"p\.yaml:3:1: expected 'rules' once, it stands already at 2:1"):
        load("version: 1\nrules: []\nrules: []\n")


def test_errors_name_their_rule() -> None:
    with pytest.raises(PolicyInvalid) as caught:
        load(rule("    match: {path: ['a**b'], cel: 'event.x'}\n    effect: deny\n"))
    assert {finding.rule for finding in caught.value.findings} == {"r"}
    assert "rule 'r': cel: " in str(caught.value)


def test_a_secret_is_not_repeated_in_the_message() -> None:
    token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawx"
    with pytest.raises(PolicyInvalid) as caught:
        load(f"version: 1\napprovals: {{channels: {{telegram: {{bot_token_env: '{token}'}}}}}}\n")
    assert token not in str(caught.value)
    assert "bot_token_env" in str(caught.value)


def _warnings(text: str, environ: dict[str, str] | None = None) -> list[tuple[str, Severity, int, int]]:
    return [(f.code, f.severity, f.line, f.column) for f in load(text, environ).findings]


def test_warnings_do_not_refuse() -> None:
    assert _warnings("version: 1\ndefaults: {action: allow}\n") == [
        ("allows-everything", Severity.WARNING, 2, 11)
    ]
    assert _warnings("version: 1\nbudgets: {daily_spend_usd: 2.00}\n") == [
        ("not-enforced", Severity.INFO, 2, 28)
    ]
    twice = rule("    match: {path: [a, a, b/]}\n    effect: deny\n")
    assert [code for code, *_ in _warnings(twice)] == ["duplicate-item", "glob-trailing-slash"]


def test_an_unset_telegram_variable_is_a_warning_where_telegram_is_enabled() -> None:
    text = "version: 1\napprovals: {channels: {telegram: {enabled: %s}}}\n"
    assert [code for code, *_ in _warnings(text % "true")] == ["telegram-variable-unset"] * 2
    assert _warnings(text % "false") == []
    set_ones = {"VAULTROOM_TELEGRAM_TOKEN": "t", "VAULTROOM_TELEGRAM_CHAT_ID": "1"}
    assert _warnings(text % "true", set_ones) == []


_LINES = WHOLE.splitlines(keepends=True)


@given(st.data())
def test_a_mutated_policy_loads_or_is_invalid(data: Any) -> None:
    """Cut, doubled, moved and overwritten pieces of a whole policy."""
    text = WHOLE
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 30)))
        insert = data.draw(st.one_of(st.sampled_from(_LINES), st.text(max_size=8)))
        text = text[:start] + insert + text[end:]
    _loads_or_is_invalid(text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=300))
def test_random_bytes_load_or_are_invalid(data: bytes) -> None:
    _loads_or_is_invalid(data)
    _loads_or_is_invalid(b"version: 1\n" + data)


def _loads_or_is_invalid(data: bytes) -> None:
    try:
        policy = load_policy(data, name="p", environ=ENVIRON, home="/home/dev")
    except PolicyInvalid as error:
        assert any(finding.severity is Severity.ERROR for finding in error.findings)
        assert all(finding.line > 0 and finding.column > 0 for finding in error.findings)
    else:
        assert all(one.match.cel is None or one.match.cel.program is not None for one in policy.rules)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "hostile",
    [
        "version: 1\nrules: " + "[" * 200_000,
        "version: 1\nrules: " + "{a: " * 100_000,
        "version: 1\nrules:\n" + "  - a\n" * 170_000,
        "version: 1\n" + "a: b\n" * 200_000,
        "version: 1\nrules:\n" + "  - {name: x, effect: deny, match: {cel: '('}}\n" * 1_900,
        rule("    match: {cel: '" + "(" * 500_000 + "'}\n    effect: deny\n"),
        rule("    match: {cel: '\"" + "\\\\a" * 2_000 + "'}\n    effect: deny\n"),
        rule("    match: {path: ['" + "{a,b}" * 100 + "']}\n    effect: deny\n"),
        rule("    match: {path: ['" + "{" * 4_000 + "']}\n    effect: deny\n"),
        rule("    match: {path: ['" + "a/" * 300_000 + "']}\n    effect: deny\n"),
        rule("    match: {host: ['" + "a." * 300_000 + "']}\n    effect: deny\n"),
        rule("    match: {host: ['" + "é." * 200_000 + "']}\n    effect: deny\n"),
    ],
    ids=lambda text: text[-30:],
)
def test_a_hostile_policy_is_refused_and_not_chewed_on(hostile: str) -> None:
    with pytest.raises(PolicyInvalid):
        load(hostile[:1_000_000])

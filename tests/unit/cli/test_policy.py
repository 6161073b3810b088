"""`vaultroom policy`: exit codes, JSON shapes and texts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from vaultroom.cli.main import main

POLICY = """\
version: 1
defaults: {action: allow}
budgets: {daily_spend_usd: 1.0}
rules:
  - name: keys
    match: {path: ["~/.ssh/**"]}
    effect: deny
    message: "hands off"
  - name: pushes
    match: {cel: 'event.subcommand == "push"'}
    effect: require_approval
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAULTROOM_HOME", str(tmp_path / "vaultroom"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY)
    return tmp_path


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["policy", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_check_says_how_each_rule_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = output(capsys, "check", "p.yaml")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "ok      keys (line 5): deny",
        "ok      pushes (line 9): require_approval, cel compiled",
        "p.yaml:3:28: info: budgets.daily_spend_usd is read but not enforced [not-enforced]",
        "p.yaml: valid, 2 rules",
    ]


def test_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = output(capsys, "check", "--json", "p.yaml")
    assert code == 0
    found = json.loads(out)
    assert found["ok"] is True
    (finding,) = found["findings"]
    assert finding == {
        "code": "not-enforced",
        "severity": "info",
        "rule": "",
        "line": 3,
        "column": 28,
        "message": "budgets.daily_spend_usd is read but not enforced",
        "covered_by": [],
        "witness": None,
    }


def test_check_of_an_invalid_policy(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (surroundings / "bad.yaml").write_text("version: 1\nruels: []\n")
    code, out, err = output(capsys, "check", "bad.yaml")
    assert (code, err) == (2, "")
    assert out.splitlines() == [
        "bad.yaml:2:1: error: unknown key 'ruels' at the top level (did you mean 'rules'?) [unknown-key]",
        "bad.yaml: invalid, 1 error",
    ]
    code, out, _ = output(capsys, "check", "bad.yaml", "--json")
    assert (code, json.loads(out)["ok"]) == (2, False)


def test_check_hides_no_control_characters(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (surroundings / "bad.yaml").write_text('version: 1\n"\\e[2Jx": 1\n')
    _, out, _ = output(capsys, "check", "bad.yaml")
    assert "\x1b" not in out


def test_check_reports_engines_that_disagree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultroom.policy.cel.second_opinion import SecondOpinion

    monkeypatch.setattr(SecondOpinion, "evaluate", lambda self, view: True)
    code, out, _ = output(capsys, "check", "p.yaml")
    assert code == 0
    assert "[cel-engines-disagree]" in out
    assert "warning pushes" in out


def test_a_missing_policy_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = output(capsys, "check")
    assert (code, out) == (2, "")
    assert "expected a policy" in err
    assert output(capsys, "explain", "--policy", "none.yaml", "ls")[0] == 2


def fixture(folder: Path, *entries: object) -> str:
    (folder / "f.json").write_text(json.dumps(list(entries)))
    return "f.json"


def test_test_judges_and_compares(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = {"action": "fs.read", "path": "~/.ssh/x", "expect": {"verdict": "deny", "rule": "keys"}}
    bad = {"action": "shell.exec", "argv": ["ls"], "expect": "deny"}
    plain = {"action": "shell.exec", "argv": ["git", "push"]}
    name = fixture(surroundings, good, plain)
    code, out, err = output(capsys, "test", name, "--policy", "p.yaml")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "1: ok deny by rule keys (p.yaml:5)",
        "2: require_approval by rule pushes (p.yaml:9)",
    ]
    code, out, err = output(capsys, "test", fixture(surroundings, good, bad), "--policy", "p.yaml")
    assert code == 1
    assert out.splitlines()[1] == "2: FAILED allow by default"
    assert err == "vaultroom: f.json: fixture 2: expected deny, found allow\n"


def test_test_as_json_has_one_object_for_each_event(
    surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = fixture(
        surroundings,
        {"action": "shell.exec", "argv": ["rm", "-r", "~/.ssh"]},
        {"action": "mcp.tool", "tool": "t"},
    )
    code, out, _ = output(capsys, "test", name, "--config", "p.yaml", "--json")
    assert code == 0
    first, second = map(json.loads, out.splitlines())
    assert first.keys() == {"verdict", "rule", "line", "message", "facets"}
    assert [facet.keys() - {"derived", "opaque", "verdict", "rule"} for facet in first["facets"]] == [
        {"action", "cmd"},
        {"action", "path"},
    ]
    assert first["facets"][1]["verdict"] is None
    assert second["facets"][0] == {
        "action": "mcp.tool", "tool": "t", "derived": False, "opaque": False, "verdict": "allow", "rule": "",
    }  # fmt: skip


def test_test_says_what_is_wrong_with_a_fixture(
    surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = fixture(surroundings, {"action": "fs.reed"})
    code, _, err = output(capsys, "test", name, "--policy", "p.yaml")
    assert code == 1
    assert "f.json: fixture 1: expected 'action' to be one of" in err
    assert output(capsys, "test", "none.json", "--policy", "p.yaml")[0] == 1


def test_explain_a_command_line(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = output(capsys, "explain", f"rm -rf {surroundings}", "--policy", "p.yaml")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["deny by rule keys (p.yaml:5)", "  hands off"]
    assert lines[2] == "  shell.exec rm: allow: no rule matches; defaults.action is allow"
    assert lines[3].startswith(f"  fs.delete {surroundings} (derived): deny: rule 'keys' (line 5)")


def test_explain_with_a_start_directory(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (surroundings / ".ssh").mkdir()
    arguments = ("explain", "rm x", "--cwd", ".ssh", "--policy", "p.yaml", "--json")
    _, out, _ = output(capsys, *arguments)
    found = json.loads(out)
    assert (found["verdict"], found["rule"], found["message"]) == ("deny", "keys", "hands off")


def test_explain_an_event(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    event = '{"action": "fs.read", "path": "~/.ssh/x"}'
    assert "deny by rule keys" in output(capsys, "explain", "--event", event, "--policy", "p.yaml")[1]
    monkeypatch.setattr("sys.stdin", io.StringIO(event))
    assert "deny by rule keys" in output(capsys, "explain", "--event", "-", "--policy", "p.yaml")[1]
    code, _, err = output(capsys, "explain", "--event", "{", "--policy", "p.yaml")
    assert (code, "the event cannot be read" in err) == (1, True)


@pytest.mark.parametrize("arguments", [("explain",), ("explain", "ls", "--event", "{}"), (), ("nonsense",)])
def test_wrong_usage_is_exit_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, *arguments)[0] == 2


def test_a_globs_linked_folder_counts_in_both_spellings(
    surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (surroundings / "real").mkdir()
    (surroundings / ".ssh").symlink_to("real")
    _, out, _ = output(capsys, "explain", "rm real/key", "--policy", "p.yaml")
    assert out.startswith("deny by rule keys")


def test_trust_makes_a_local_policy_count(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (surroundings / "vaultroom.yaml").write_text(POLICY)
    code, _, err = output(capsys, "explain", "ls")
    assert code == 2
    assert "vaultroom policy trust" in err
    code, out, err = output(capsys, "trust", "vaultroom.yaml")
    assert (code, out) == (0, "")
    assert "approved vaultroom.yaml with 2 rules" in err
    assert output(capsys, "explain", "ls")[0] == 0
    (surroundings / "vaultroom.yaml").write_text(POLICY + "# changed\n")
    assert output(capsys, "explain", "ls")[0] == 2


def test_an_invalid_policy_cannot_be_trusted(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (surroundings / "vaultroom.yaml").write_text("version: 3\n")
    assert output(capsys, "trust", "vaultroom.yaml")[0] == 2


def test_check_shows_the_built_in_rules(capsys: pytest.CaptureFixture[str]) -> None:
    from vaultroom.gate.protect import RULES

    code, out, err = output(capsys, "check", "--builtin")
    assert (code, err) == (0, "")
    for rule in RULES:
        assert f"{rule.name}: {rule.message}" in out
    code, out, _ = output(capsys, "check", "--builtin", "--json")
    assert code == 0
    assert [entry["name"] for entry in json.loads(out)["rules"]] == [rule.name for rule in RULES]

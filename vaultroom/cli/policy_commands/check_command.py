"""`vaultroom policy check [FILE]`: parse and compile everything, and say all that is wrong (exit 2)."""

from __future__ import annotations

import argparse
import os
import textwrap
from operator import attrgetter
from typing import Any

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, data_json
from vaultroom.cli.policy_commands.loading import chosen_policy, engine_for, finding_line, load, shown_name
from vaultroom.events import event_to_dict
from vaultroom.policy.agreement import disagreements
from vaultroom.policy.finding import Finding, PolicyInvalid
from vaultroom.policy.model import Policy, Rule
from vaultroom.visible import visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="the policy (default: the one that counts here)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--builtin", action="store_true", help="show the built-in rules that stand above every policy"
    )


def run(args: argparse.Namespace) -> int:
    if args.builtin:
        return _show_builtin(as_json=args.json)
    chosen = chosen_policy(args, args.file)
    policy: Policy | None = None
    try:
        policy = load(chosen)
        engine_for(policy, os.getcwd())  # a policy that is too large to be made ready is not valid either
        findings = tuple(sorted((*policy.findings, *disagreements(policy)), key=attrgetter("place")))
    except PolicyInvalid as error:
        findings = error.findings
    if args.json:
        data_json({"ok": policy is not None, "findings": [finding_object(finding) for finding in findings]})
    else:
        _print(shown_name(chosen.path), policy, findings)
    return Exit.OK if policy is not None else Exit.INVALID


def finding_object(finding: Finding) -> dict[str, Any]:
    """The JSON object of a finding (design section 7)."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "rule": finding.rule,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "covered_by": list(finding.covered_by),
        "witness": None if finding.witness is None else event_to_dict(finding.witness),
    }


def _show_builtin(*, as_json: bool) -> int:
    from vaultroom.gate.protect import RULES

    if as_json:
        data_json({"rules": [{"name": r.name, "message": r.message, "covers": r.covers} for r in RULES]})
        return Exit.OK
    data("These rules stand above every policy, deny, and cannot be switched off.")
    for rule in RULES:
        data(f"\n{rule.name}: {rule.message}")
        data(textwrap.fill(rule.covers, 80, initial_indent="    ", subsequent_indent="    "))
    return Exit.OK


def _print(name: str, policy: Policy | None, findings: tuple[Finding, ...]) -> None:
    for rule in policy.rules if policy is not None else ():
        data(_rule_line(rule, findings))
    for finding in findings:
        data(finding_line(name, finding))
    if policy is None:
        errors = sum(finding.severity == "error" for finding in findings)
        data(f"{name}: invalid, {errors} {'error' if errors == 1 else 'errors'}")
    else:
        rules = len(policy.rules)
        data(f"{name}: valid, {rules} {'rule' if rules == 1 else 'rules'}")


def _rule_line(rule: Rule, findings: tuple[Finding, ...]) -> str:
    status = "warning" if any(finding.rule == rule.name for finding in findings) else "ok"
    compiled = ", cel compiled" if rule.match.cel is not None else ""
    return f"{status:8}{visible(rule.name)} (line {rule.spot.line}): {rule.effect}{compiled}"

"""Finding, loading and arming the policy that a subcommand works on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vaultroom.cli.choose_policy import ChosenPolicy, choose_policy
from vaultroom.cli.output import say
from vaultroom.events import Verdict
from vaultroom.paths import find_home
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.finding import Finding, Severity
from vaultroom.policy.fixture import Stage
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy
from vaultroom.shell import RealFiles
from vaultroom.visible import visible


def chosen_policy(args: argparse.Namespace, named: str | None = None) -> ChosenPolicy:
    """The policy as typed (`named`, `--policy` or `--config`), else the one that counts here."""
    wanted = named or getattr(args, "policy", None) or args.config
    return choose_policy(wanted, home=find_home(), cwd=os.getcwd())


def load(chosen: ChosenPolicy) -> Policy:
    """Raises PolicyInvalid."""
    return load_policy(chosen.data, name=shown_name(chosen.path), environ=os.environ, home=user_home())


def load_and_warn(args: argparse.Namespace) -> Policy:
    """The policy of a subcommand that judges with it; its warnings go to stderr."""
    policy = load(chosen_policy(args))
    for finding in policy.findings:
        if finding.severity is Severity.WARNING:
            say(finding_line(policy.name, finding))
    return policy


def engine_for(policy: Policy, cwd: str) -> Engine:
    return Engine(policy, cwd=cwd, resolve=os.path.realpath)


def stage_for(cwd: str) -> Stage:
    return Stage(home=user_home(), cwd=cwd, files=RealFiles())


def user_home() -> str:
    return os.path.expanduser("~")


def shown_name(path: Path) -> str:
    """The file as messages call it: relative where it lies below the current directory."""
    try:
        relative = path.relative_to(Path.cwd())
    except ValueError:
        return visible(str(path))
    return visible(str(relative))


def finding_line(name: str, finding: Finding) -> str:
    """`file:line:col: severity: message [code]`"""
    place = f"{name}:{finding.line}:{finding.column}"
    return f"{place}: {finding.severity}: {visible(finding.message)} [{finding.code}]"


def place_of(policy: Policy, verdict: Verdict) -> str:
    """What decided, in words."""
    if not verdict.rule_name:
        return "by default"
    where = f" ({policy.name}:{verdict.line})" if verdict.line else ""
    return f"by rule {visible(verdict.rule_name)}{where}"

"""From a chosen policy and a command to the session that is asked for; shared by `run` and the room."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from vaultroom.cli.choose_policy import ChosenPolicy, choose_policy
from vaultroom.cli.output import say
from vaultroom.control.protocol import SessionStart
from vaultroom.errors import PolicyError
from vaultroom.paths import Home
from vaultroom.policy.finding import Severity
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy
from vaultroom.supervisor.assembly import audit_path
from vaultroom.visible import visible

TOLD_AT_START = frozenset({"not-enforced"})
"""Codes of information that whoever starts a session must hear: a limit in the policy that holds nothing."""

_VARIABLE = re.compile(rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


def usable_policy(chosen: ChosenPolicy, environ: Mapping[str, str]) -> Policy:
    """The policy, loaded; its warnings go to stderr.

    Raises PolicyError also where a channel is enabled whose variables are not set (design section 6).
    """
    policy = load_chosen(chosen, environ)
    for finding in policy.findings:
        if finding.severity is Severity.WARNING or finding.code in TOLD_AT_START:
            place = f"{visible(policy.name)}:{finding.line}:{finding.column}"
            say(f"{place}: {finding.severity.value}: {visible(finding.message)}")
    telegram = policy.approvals.channels.telegram
    missing = [name for name in (telegram.bot_token_env, telegram.chat_id_env) if not environ.get(name)]
    if telegram.enabled and missing:
        raise PolicyError(
            f"{visible(policy.name)}: expected {' and '.join(missing)} in the environment, "
            "since approvals.channels.telegram is enabled"
        )
    return policy


def load_chosen(chosen: ChosenPolicy, environ: Mapping[str, str]) -> Policy:
    """The chosen policy as loaded in this environment. Raises PolicyError."""
    return load_policy(chosen.data, name=str(chosen.path), environ=environ, home=os.path.expanduser("~"))


def session_start(agent: str, argv: tuple[str, ...], chosen: ChosenPolicy) -> SessionStart:
    """What to ask the host for: `argv` in this process's folder and environment."""
    named = {match.group(1).decode() for match in _VARIABLE.finditer(chosen.data)}
    return SessionStart(
        agent_name=agent,
        agent_command=argv,
        cwd=os.getcwd(),
        policy=chosen.data,
        policy_name=str(chosen.path),
        path=os.environ.get("PATH", os.defpath),
        home=os.path.expanduser("~"),
        environ={name: os.environ[name] for name in sorted(named) if name in os.environ},
    )


def log_of_user(config: str | None, home: Home) -> Path:
    """The log that sessions under the user's policy are written to; without a policy, the home's own.

    Raises PolicyError for a policy that was named or found and cannot be loaded.
    """
    try:
        chosen = choose_policy(config, home=home, cwd=os.getcwd())
    except PolicyError:
        if config is not None:
            raise
        return audit_path(Policy(name="", policy_hash=""), home)
    return audit_path(load_chosen(chosen, os.environ), home)

"""Putting one session's parts together from its policy. Decides nothing about acts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from vaultroom import clock
from vaultroom.approvals.broker import Broker
from vaultroom.approvals.grants import GrantBook
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.events import Event
from vaultroom.gate.budget import RateBudget
from vaultroom.gate.gate import Gate, GatePolicy, Log
from vaultroom.gate.protect import Guard
from vaultroom.gate.protected_places import user_places
from vaultroom.paths import Home
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.model import Policy
from vaultroom.supervisor.lookups import LookupThreads
from vaultroom.supervisor.session_files import SessionFile


def audit_path(policy: Policy, home: Home) -> Path:
    """The log that a policy's sessions are written to: `audit.path`, else the home's own."""
    return Path(os.path.realpath(policy.audit.path or home.audit_db))


def home_guard(home: Home, audit_db: Path) -> Guard:
    """The places of this home that no agent may write, and those it may not read."""
    closed = [home.config, home.data, home.run, audit_db, Path(f"{audit_db}-wal"), Path(f"{audit_db}.head")]
    own = user_places(home, os.path.expanduser("~"), os.environ)
    return Guard.of(
        closed=(*(os.path.realpath(place) for place in closed), *own),
        secret=(os.path.realpath(place) for place in (home.keys, home.sessions)),
        host_pids=(os.getpid(),),
    )


def withheld_variables(policy: Policy) -> tuple[str, ...]:
    """The variables that hold the host's secrets: those that the policy names by `*_env`."""
    telegram = policy.approvals.channels.telegram
    return tuple(name for name in (telegram.bot_token_env, telegram.chat_id_env) if name)


def rule_texts(policy: Policy, data: bytes) -> dict[str, str]:
    """Each rule's own lines in the policy's file, by its name, without trailing comments."""
    lines = data.decode("utf-8", "replace").split("\n")
    starts = [rule.spot.line for rule in policy.rules] + [len(lines) + 1]
    texts = {}
    for rule, start, end in zip(policy.rules, starts, starts[1:], strict=False):
        indent = rule.spot.column - 1
        own: list[str] = []
        for line in lines[start - 1 : end - 1]:
            left_out = line[:indent].strip()
            if own and left_out and not line.lstrip().startswith("#"):
                break  # the next part of the policy begins
            own.append(line[indent:] if own else line[indent:].strip())
        while own and (not own[-1].strip() or own[-1].lstrip().startswith("#")):
            own.pop()
        texts[rule.name] = "\n".join(own)
    return texts


def build_gate(
    facts: SessionFile,
    policy: Policy,
    data: bytes,
    *,
    guard: Guard,
    log: Log,
    broker: Broker,
    grants: GrantBook,
    lookups: LookupThreads,
    asked: Callable[[ApprovalRequest, Event], None],
) -> Gate:
    """The session's door. It compiles the policy, which takes milliseconds: call it off the loop."""
    texts = rule_texts(policy, data)
    engine = Engine(policy, cwd=facts.cwd, resolve=os.path.realpath)
    own_policy = os.path.realpath(facts.policy_name)
    return Gate(
        policy=GatePolicy(
            evaluator=engine,
            policy_hash=policy.policy_hash,
            approval_seconds=policy.approvals.timeout,
            rule_text=lambda name: texts.get(name, ""),
        ),
        guard=Guard.of((*guard.closed, own_policy), guard.secret, guard.host_pids),
        budget=RateBudget(policy.budgets.max_actions_per_minute, clock.monotonic()),
        log=log,
        broker=broker,
        grants=grants,
        lookups=lookups,
        asked=asked,
    )

"""Loading a policy: bytes in, a frozen Policy out, or every mistake in it at once.

Anything wrong refuses the whole policy (design, law 1): a rule that was dropped because of a typing
error would leave open what it was written to close.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Final

from vaultroom.events import Effect
from vaultroom.policy import sections
from vaultroom.policy.finding import PolicyInvalid, Severity
from vaultroom.policy.model import DEFAULT_APPROVAL_TIMEOUT, Defaults, Policy
from vaultroom.policy.reader import Reader
from vaultroom.policy.rules import Surroundings, read_rules
from vaultroom.policy.source import Document, Node, Scalar, Sequence, parse_source
from vaultroom.policy.spot import Spot

_KEYS: Final = (
    "version",
    "agent",
    "defaults",
    "budgets",
    "rules",
    "approvals",
    "mcp_servers",
    "mcp",
    "hooks",
    "shims",
    "egress",
    "audit",
    "engine",
)


def load_policy(data: bytes, *, name: str, environ: Mapping[str, str], home: str) -> Policy:
    """Read and check a whole policy (specification section 3.1).

    `name` is what messages call the file, `environ` and `home` (absolute) are what `$NAME` and `~` in
    paths mean. Warnings and information are in the result's `findings`. Raises PolicyInvalid, and nothing
    else, when anything is wrong.
    """
    document = parse_source(data)
    reader = Reader()
    reader.findings.extend(document.findings)
    policy = Policy(name=name, policy_hash=hashlib.sha256(data).hexdigest())
    if document.root is None:
        if not document.findings:
            reader.error("empty", Spot(1, 1), "expected a policy, found an empty file")
    else:
        policy = _read(policy, reader, document, document.root, Surroundings(home, environ))
    findings = tuple(sorted(reader.findings, key=attrgetter("place")))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise PolicyInvalid(name, findings)
    return replace(policy, findings=findings)


def _read(policy: Policy, reader: Reader, document: Document, root: Node, around: Surroundings) -> Policy:
    entries = reader.mapping(root, "", _KEYS, required=("version",), synonyms={"default": "defaults"})
    _refuse_tokens(reader, root)
    sections.read_version(reader, entries.get("version"))
    default, default_timeout = sections.read_defaults(reader, entries.get("defaults"))
    timeout = default_timeout or DEFAULT_APPROVAL_TIMEOUT
    rules = read_rules(reader, document, entries.get("rules"), around)
    if default is Effect.ALLOW and not _has_items(entries.get("rules")):
        spot = entries["defaults"].spot
        reader.warning(
            "allows-everything", spot, "there are no rules and defaults.action is allow: nothing is held back"
        )
    return replace(
        policy,
        agent=sections.read_agent(reader, entries.get("agent")),
        defaults=Defaults(default, timeout),
        budgets=sections.read_budgets(reader, entries.get("budgets")),
        rules=rules,
        approvals=sections.read_approvals(reader, entries.get("approvals"), timeout, around.environ),
        mcp_servers=sections.read_mcp_servers(reader, entries.get("mcp_servers")),
        mcp=sections.read_mcp(reader, entries.get("mcp")),
        hooks=sections.read_hooks(reader, entries.get("hooks")),
        shims=sections.read_shims(reader, entries.get("shims")),
        egress=sections.read_egress(reader, entries.get("egress")),
        audit=sections.read_audit(reader, entries.get("audit"), around),
        engine=sections.read_engine(reader, entries.get("engine")),
    )


def _has_items(node: Node | None) -> bool:
    return isinstance(node, Sequence) and bool(node.items)


def _refuse_tokens(reader: Reader, root: Node) -> None:
    for scalar in _scalars(root):
        if sections.looks_like_bot_token(scalar.value):
            message = (
                "expected no secret in a policy, found what looks like a Telegram bot token; name a variable"
            )
            reader.error("secret-literal", scalar.spot, message)


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for key, value in node.entries:
            yield from _scalars(key)
            yield from _scalars(value)

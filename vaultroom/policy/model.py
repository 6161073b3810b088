"""The policy as frozen data: the whole schema of specification section 3.1, plus what design section 6 adds.

Every field holds its default where the file is silent. Durations are seconds. Rules keep their place in
the file, and so does each item of a match, since findings and the linter point at them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from vaultroom.events import Action, Effect
from vaultroom.policy.cel import Program
from vaultroom.policy.finding import Finding
from vaultroom.policy.matchers.hosts import HostPattern
from vaultroom.policy.matchers.paths import Glob
from vaultroom.policy.spot import LineTable, Spot

DEFAULT_APPROVAL_TIMEOUT = 60.0
"""Seconds that a request waits where neither `approvals.timeout` nor `defaults.approval_timeout` is given."""

DEFAULT_SHIMS = ("rm", "curl", "wget", "ssh", "scp", "git", "npm", "npx", "pip", "brew", "dd")
"""The programs that get a shim where the policy has no `shims.binaries`."""


class JudgeEngine(StrEnum):
    """Which implementation of CEL judges: our own compiler, or the library cel-python."""

    VAULTROOM = "vaultroom"
    CEL_PYTHON = "cel-python"


class WithoutHost(StrEnum):
    """What a hook does when no Vaultroom is open: refuse, or leave it to the agent's own prompt."""

    DENY = "deny"
    NATIVE = "native"


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Condition(Generic[Value]):
    """One item of a list in a match: its value, its text as written and its place."""

    value: Value
    text: str
    spot: Spot


@dataclass(frozen=True, slots=True)
class Expression:
    """A CEL expression and where each of its characters lies in the file."""

    source: str
    spot: Spot
    offsets: tuple[int, ...] = field(repr=False)
    """The file's offset of each character of `source`, and of its end."""
    lines: LineTable = field(repr=False)
    program: Program | None = field(default=None, repr=False, compare=False)
    """The compiled expression; every loaded policy has it."""

    def place(self, line: int, column: int) -> Spot:
        """Where the expression's own `line` and `column` (1-based) lie in the file."""
        before = self.source.split("\n")[: line - 1]
        offset = sum(len(text) + 1 for text in before) + column - 1
        return self.lines.spot(self.offsets[min(max(offset, 0), len(self.offsets) - 1)])


@dataclass(frozen=True, slots=True)
class Match:
    """All fields that are not None must hold; of a list one item is enough. `everything` is `match: all`."""

    action: tuple[Condition[Action], ...] | None = None
    path: tuple[Condition[Glob], ...] | None = None
    host: tuple[Condition[HostPattern], ...] | None = None
    not_host: tuple[Condition[HostPattern], ...] | None = None
    tool: tuple[Condition[str], ...] | None = None
    cel: Expression | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    match: Match
    effect: Effect
    message: str
    spot: Spot
    """Where the rule begins."""


@dataclass(frozen=True, slots=True)
class Agent:
    name: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Defaults:
    action: Effect = Effect.DENY
    approval_timeout: float = DEFAULT_APPROVAL_TIMEOUT


@dataclass(frozen=True, slots=True)
class Budgets:
    """`daily_spend_usd` is read and not enforced; `max_actions_per_minute` 0 means no limit."""

    daily_spend_usd: float = 0.0
    max_actions_per_minute: int = 0


@dataclass(frozen=True, slots=True)
class Telegram:
    """Names of environment variables, never a secret itself."""

    enabled: bool = False
    bot_token_env: str = "VAULTROOM_TELEGRAM_TOKEN"
    chat_id_env: str = "VAULTROOM_TELEGRAM_CHAT_ID"


@dataclass(frozen=True, slots=True)
class Terminal:
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Channels:
    telegram: Telegram = Telegram()
    tty: Terminal = Terminal()


@dataclass(frozen=True, slots=True)
class Approvals:
    """`timeout` is the one that counts: `approvals.timeout`, else `defaults.approval_timeout`, else 60 s."""

    timeout: float = DEFAULT_APPROVAL_TIMEOUT
    channels: Channels = Channels()


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    tool: str
    effect: Effect
    line: int = 0


@dataclass(frozen=True, slots=True)
class McpServer:
    name: str
    command: tuple[str, ...]
    tool_policies: tuple[ToolPolicy, ...] = ()


@dataclass(frozen=True, slots=True)
class Mcp:
    """`unknown_methods` is what happens to requests that the MCP proxy does not know."""

    unknown_methods: Effect = Effect.REQUIRE_APPROVAL


@dataclass(frozen=True, slots=True)
class Hooks:
    without_host: WithoutHost = WithoutHost.DENY


@dataclass(frozen=True, slots=True)
class Shims:
    binaries: tuple[str, ...] = DEFAULT_SHIMS


@dataclass(frozen=True, slots=True)
class Egress:
    """`default` is None where the file does not say: then a host that nothing allows is denied."""

    listen_host: str = "127.0.0.1"
    listen_port: int = 0
    default: Effect | None = None
    allow_hosts: tuple[HostPattern, ...] = ()
    no_proxy: tuple[HostPattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """`path` is absolute, or empty for the home's own log. `retention_days` 0 keeps rows for ever."""

    path: str = ""
    retention_days: int = 90
    sign_on_close: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """One loaded policy. `policy_hash` is the hex SHA-256 of the file's bytes, `name` the file's name."""

    name: str
    policy_hash: str
    version: int = 1
    agent: Agent = Agent()
    defaults: Defaults = Defaults()
    budgets: Budgets = Budgets()
    rules: tuple[Rule, ...] = ()
    approvals: Approvals = Approvals()
    mcp_servers: tuple[McpServer, ...] = ()
    mcp: Mcp = Mcp()
    hooks: Hooks = Hooks()
    shims: Shims = Shims()
    egress: Egress = Egress()
    audit: Audit = Audit()
    engine: JudgeEngine = JudgeEngine.VAULTROOM
    findings: tuple[Finding, ...] = field(default=(), compare=False)
    """Warnings and information; a policy with an error is never made."""

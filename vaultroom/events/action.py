"""What kinds of acts there are, and which channel saw one (specification section 3.2)."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """The normalised vocabulary of all channels, and of Vaultroom's own rows."""

    FS_READ = "fs.read"
    FS_WRITE = "fs.write"
    FS_DELETE = "fs.delete"
    SHELL_EXEC = "shell.exec"
    NET_EGRESS = "net.egress"
    MCP_TOOL = "mcp.tool"

    SESSION_OPEN = "session.open"
    SESSION_CLOSE = "session.close"
    POLICY_CHANGE = "policy.change"
    SUSPICIOUS = "suspicious"


AGENT_ACTIONS: frozenset[Action] = frozenset(
    {
        Action.FS_READ,
        Action.FS_WRITE,
        Action.FS_DELETE,
        Action.SHELL_EXEC,
        Action.NET_EGRESS,
        Action.MCP_TOOL,
    }
)
"""The acts of agents: what a policy may name. The other actions are rows of Vaultroom itself."""

FILE_ACTIONS: frozenset[Action] = frozenset({Action.FS_READ, Action.FS_WRITE, Action.FS_DELETE})


class Source(StrEnum):
    """The channel that made the event. `vaultroom` marks Vaultroom's own rows."""

    MCP = "mcp"
    SHIM = "shim"
    EGRESS = "egress"
    HOOK = "hook"
    SERVER = "server"
    SYSTEM = "system"
    RM = "rm"
    VAULTROOM = "vaultroom"

"""Reading everything in a policy but its rules (specification section 3.1, design section 6)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from vaultroom.events import Effect
from vaultroom.policy.matchers.hosts import HostPattern, parse_host_pattern
from vaultroom.policy.matchers.variables import expand_variables
from vaultroom.policy.model import (
    Agent,
    Approvals,
    Audit,
    Budgets,
    Channels,
    Defaults,
    Egress,
    Hooks,
    JudgeEngine,
    Mcp,
    McpServer,
    Shims,
    Telegram,
    Terminal,
    ToolPolicy,
    WithoutHost,
)
from vaultroom.policy.reader import Reader, describe, shown
from vaultroom.policy.rules import EFFECT_SYNONYMS, Surroundings
from vaultroom.policy.source import Node, Scalar
from vaultroom.policy.spot import Spot

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BOT_TOKEN: Final = re.compile(r"[0-9]{6,12}:[A-Za-z0-9_-]{30,50}", re.ASCII)
_LISTEN: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):([0-9]{1,5})", re.ASCII)
_MOST_ACTIONS: Final = 1_000_000
_MOST_DAYS: Final = 36_500


def looks_like_bot_token(text: str) -> bool:
    """Whether a text holds a Telegram bot token, which never belongs into a file."""
    return _BOT_TOKEN.search(text) is not None


def read_agent(reader: Reader, node: Node | None) -> Agent:
    entries = reader.mapping(node, "agent", ("name", "command"))
    name = reader.line_of_text(entries.get("name"), "agent.name")
    command = reader.texts(entries.get("command"), "agent.command", empty_ok=True)
    return Agent(name or "", tuple(text for text, _ in command or ()))


def read_defaults(reader: Reader, node: Node | None) -> tuple[Effect, float | None]:
    """The effect where no rule matches, and `defaults.approval_timeout` if it is given."""
    entries = reader.mapping(node, "defaults", ("action", "approval_timeout"), synonyms={"effect": "action"})
    action = reader.word(entries.get("action"), "defaults.action", Effect, synonyms=EFFECT_SYNONYMS)
    timeout = reader.duration(entries.get("approval_timeout"), "defaults.approval_timeout")
    return action or Defaults().action, timeout


def read_budgets(reader: Reader, node: Node | None) -> Budgets:
    entries = reader.mapping(node, "budgets", ("daily_spend_usd", "max_actions_per_minute"))
    spend_node = entries.get("daily_spend_usd")
    spend = reader.decimal(spend_node, "budgets.daily_spend_usd")
    if spend is not None and spend_node is not None:
        reader.inform("not-enforced", spend_node.spot, "budgets.daily_spend_usd is read but not enforced")
    actions = reader.integer(
        entries.get("max_actions_per_minute"), "budgets.max_actions_per_minute", highest=_MOST_ACTIONS
    )
    return Budgets(spend or 0.0, actions or 0)


def read_approvals(
    reader: Reader, node: Node | None, default_timeout: float, environ: Mapping[str, str]
) -> Approvals:
    entries = reader.mapping(node, "approvals", ("timeout", "channels"))
    timeout = reader.duration(entries.get("timeout"), "approvals.timeout")
    channels = reader.mapping(entries.get("channels"), "approvals.channels", ("telegram", "tty"))
    telegram = _read_telegram(reader, channels.get("telegram"), environ)
    tty = reader.mapping(channels.get("tty"), "approvals.channels.tty", ("enabled",))
    enabled = reader.boolean(tty.get("enabled"), "approvals.channels.tty.enabled")
    return Approvals(timeout or default_timeout, Channels(telegram, Terminal(enabled is not False)))


def _read_telegram(reader: Reader, node: Node | None, environ: Mapping[str, str]) -> Telegram:
    where = "approvals.channels.telegram"
    entries = reader.mapping(
        node,
        where,
        ("enabled", "bot_token_env", "chat_id_env"),
        synonyms={"bot_token": "bot_token_env", "token": "bot_token_env", "chat_id": "chat_id_env"},
    )
    enabled = reader.boolean(entries.get("enabled"), f"{where}.enabled") or False
    unset = Telegram()
    names = []
    for key, fallback in (("bot_token_env", unset.bot_token_env), ("chat_id_env", unset.chat_id_env)):
        found = entries.get(key)
        name = _variable_name(reader, found, f"{where}.{key}") if found is not None else None
        names.append(name or fallback)
        if enabled and node is not None and not environ.get(names[-1]):
            spot = found.spot if found is not None else node.spot
            message = f"the environment variable {names[-1]} is not set, and Telegram needs it"
            reader.warning("telegram-variable-unset", spot, message)
    return Telegram(enabled, names[0], names[1])


def _variable_name(reader: Reader, node: Node, where: str) -> str | None:
    if isinstance(node, Scalar) and (
        looks_like_bot_token(node.value) or re.fullmatch(r"-?[0-9]+", node.value)
    ):
        message = f"expected {where} to name an environment variable, found what looks like the value itself"
        reader.error("secret-literal", node.spot, message)
        return None
    name = reader.text(node, where)
    if name is not None and not _VARIABLE.fullmatch(name):
        reader.error(
            "bad-variable",
            node.spot,
            f"expected {where} to name an environment variable, found {shown(name)}",
        )
        return None
    return name


def read_mcp_servers(reader: Reader, node: Node | None) -> tuple[McpServer, ...]:
    servers: list[McpServer] = []
    taken: dict[str, tuple[str, Spot]] = {}
    for index, item in enumerate(reader.items(node, "mcp_servers", empty_ok=True) or ()):
        where = f"mcp_servers[{index}]"
        entries = reader.mapping(
            item, where, ("name", "command", "tool_policies"), required=("name", "command")
        )
        name = _short_name(reader, entries.get("name"), f"{where}.name")
        command = reader.texts(entries.get("command"), f"{where}.command")
        policies = _read_tool_policies(reader, entries.get("tool_policies"), f"{where}.tool_policies")
        if name is None:
            continue
        key = name.lower().replace("-", "_").replace(".", "_")
        spot = entries["name"].spot
        if key in taken:
            other, first = taken[key]
            message = (
                f"expected names of MCP servers to differ by more than case, '-', '.' and '_':"
                f" {name!r} collides with {other!r} at {first.line}:{first.column}"
            )
            reader.error("server-name-collision", spot, message)
            continue
        taken[key] = name, spot
        servers.append(McpServer(name, tuple(text for text, _ in command or ()), policies))
    return tuple(servers)


def _read_tool_policies(reader: Reader, node: Node | None, where: str) -> tuple[ToolPolicy, ...]:
    policies: dict[str, ToolPolicy] = {}
    for index, item in enumerate(reader.items(node, where, empty_ok=True) or ()):
        place = f"{where}[{index}]"
        entries = reader.mapping(item, place, ("tool", "effect"), required=("tool", "effect"))
        tool = reader.line_of_text(entries.get("tool"), f"{place}.tool")
        effect = reader.word(entries.get("effect"), f"{place}.effect", Effect, synonyms=EFFECT_SYNONYMS)
        if tool is None or effect is None:
            continue
        if "*" in tool or "?" in tool:
            message = f"expected {place}.tool to be the exact name of a tool, found {shown(tool)}"
            reader.error("bad-tool", entries["tool"].spot, message)
        elif tool in policies:
            message = (
                f"expected one policy for each tool, {tool!r} has one already at line {policies[tool].line}"
            )
            reader.error("duplicate-name", entries["tool"].spot, message)
        else:
            policies[tool] = ToolPolicy(tool, effect, item.spot.line)
    return tuple(policies.values())


def _short_name(reader: Reader, node: Node | None, where: str) -> str | None:
    name = reader.text(node, where)
    if name is None or node is None:
        return None
    if not _NAME.fullmatch(name):
        message = f"expected {where} to be 1 to 64 letters, digits, '_', '.' or '-', found {shown(name)}"
        reader.error("bad-text", node.spot, message)
        return None
    return name


def read_mcp(reader: Reader, node: Node | None) -> Mcp:
    entries = reader.mapping(node, "mcp", ("unknown_methods",))
    effect = reader.word(
        entries.get("unknown_methods"), "mcp.unknown_methods", Effect, synonyms=EFFECT_SYNONYMS
    )
    return Mcp(effect or Mcp().unknown_methods)


def read_hooks(reader: Reader, node: Node | None) -> Hooks:
    entries = reader.mapping(node, "hooks", ("without_host",))
    return Hooks(
        reader.word(entries.get("without_host"), "hooks.without_host", WithoutHost) or WithoutHost.DENY
    )


def read_shims(reader: Reader, node: Node | None) -> Shims:
    entries = reader.mapping(node, "shims", ("binaries",))
    listed = reader.texts(entries.get("binaries"), "shims.binaries", empty_ok=True)
    if listed is None:
        return Shims()
    names: dict[str, None] = {}
    for text, scalar in listed:
        if "/" in text or text in ("", ".", "..") or not text.isprintable() or text.startswith("-"):
            message = f"expected the name of a program without a path in shims.binaries, found {shown(text)}"
            reader.error("bad-program", scalar.spot, message)
        names[text] = None
    return Shims(tuple(names))


def read_egress(reader: Reader, node: Node | None) -> Egress:
    keys = ("listen", "default", "allow_hosts", "no_proxy")
    entries = reader.mapping(node, "egress", keys)
    host, port = _read_listen(reader, entries.get("listen"))
    default = reader.word(entries.get("default"), "egress.default", Effect, synonyms=EFFECT_SYNONYMS)
    allowed = _hosts(reader, entries.get("allow_hosts"), "egress.allow_hosts")
    direct = _hosts(reader, entries.get("no_proxy"), "egress.no_proxy")
    return Egress(host, port, default, allowed, direct)


def _read_listen(reader: Reader, node: Node | None) -> tuple[str, int]:
    text = reader.text(node, "egress.listen")
    if text is None or node is None:
        return Egress().listen_host, Egress().listen_port
    found = _LISTEN.fullmatch(text)
    if found is None or int(found[2]) > 0xFFFF:
        message = f"expected egress.listen to be a loopback address such as 127.0.0.1:0, found {shown(text)}"
        reader.error("bad-listen", node.spot, message)
        return Egress().listen_host, Egress().listen_port
    return found[1].strip("[]"), int(found[2])


def _hosts(reader: Reader, node: Node | None, where: str) -> tuple[HostPattern, ...]:
    patterns = []
    for text, scalar in reader.texts(node, where, empty_ok=True) or ():
        pattern = reader.parsed(text, scalar.spot, "bad-host", parse_host_pattern)
        if pattern is not None:
            patterns.append(pattern)
    return tuple(patterns)


def read_audit(reader: Reader, node: Node | None, around: Surroundings) -> Audit:
    entries = reader.mapping(node, "audit", ("path", "retention_days", "sign_on_close"))
    path = _read_path(reader, entries.get("path"), around)
    days = reader.integer(entries.get("retention_days"), "audit.retention_days", highest=_MOST_DAYS)
    sign = reader.boolean(entries.get("sign_on_close"), "audit.sign_on_close")
    return Audit(path, Audit().retention_days if days is None else days, sign is not False)


def _read_path(reader: Reader, node: Node | None, around: Surroundings) -> str:
    text = reader.text(node, "audit.path")
    if text is None or node is None:
        return ""

    def expand(written: str) -> str:
        if not written or "\0" in written:
            raise ValueError("expected audit.path to be a path, found an empty text or a NUL character")
        path = expand_variables(written, around.environ, quote=lambda value: value)
        if path == "~" or path.startswith("~/"):
            path = around.home + path[1:]
        if not os.path.isabs(path):
            raise ValueError(
                f"expected audit.path to be absolute or to begin with ~/, found {shown(written)}"
            )
        return os.path.normpath(path)

    return reader.parsed(text, node.spot, "bad-path", expand) or ""


def read_engine(reader: Reader, node: Node | None) -> JudgeEngine:
    return reader.word(node, "engine", JudgeEngine) or JudgeEngine.VAULTROOM


def read_version(reader: Reader, node: Node | None) -> None:
    """Version 1 is the only one."""
    if node is None:
        return
    if not (isinstance(node, Scalar) and not node.style and node.value == "1"):
        reader.error("bad-version", node.spot, f"expected version: 1, found {describe(node)}")

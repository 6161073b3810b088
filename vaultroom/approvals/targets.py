"""What a remembered approval binds to: the normalised target of each asking facet.

A target is a text that two acts share only when a person who allowed the one has allowed the other.
A command is bound by its inner argv, never by the shell or interpreter in front of it; what an
interpreter would run is bound by its content. Whatever cannot be bound has no target, and is asked
about each time.

Targets of commands and tool calls are keyed digests of *unmasked* values: secrets do not stay, and the
key dies with the process, so that a digest cannot be tried against guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections import Counter
from typing import Any

from vaultroom.approvals.scripts import FileDigest, code_of, no_files
from vaultroom.events import FILE_ACTIONS, Action, Event, Facet, canonical_json, facets_to_list

_KEY = os.urandom(32)

_STEERING = (
    "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
    "BASH_ENV", "ENV", "SHELLOPTS", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH",
    "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND", "GIT_EDITOR", "EDITOR", "VISUAL", "PAGER", "GIT_PAGER", "MAKEFLAGS",
    "npm_config_registry", "PIP_INDEX_URL", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
    "KUBECONFIG", "AWS_PROFILE", "DOCKER_HOST",
)  # fmt: skip


def target_of(event: Event, facet: Facet, digest: FileDigest = no_files) -> str | None:
    """The normalised target of one facet of the *unmasked* event; None where none can be bound.

    `cmd:<digest>`, `path:/a`, `tree:/a` (with everything below), `host:name:port`, `tool:<digest>`.
    """
    if event.opaque or any(other.opaque for other in event.judged_facets()):
        return None
    if facet.action in FILE_ACTIONS:
        if not facet.path.startswith("/"):
            return None
        return f"{'tree' if facet.recursive else 'path'}:{facet.path}"
    if facet.action is Action.NET_EGRESS:
        return _host_target(event, facet)
    if facet.action is Action.MCP_TOOL:
        return _tool_target(event, facet)
    if facet.action is Action.SHELL_EXEC:
        return _command_target(event, facet, digest)
    return None


def _host_target(event: Event, facet: Facet) -> str | None:
    if not facet.host:
        return None
    if facet.port:
        return f"host:{facet.host}:{facet.port}"
    if not facet.argv:
        return None
    return f"host:{facet.host}:?:{_keyed([facet.argv, _cwd(event, facet)])}"


def _tool_target(event: Event, facet: Facet) -> str | None:
    if not facet.tool:
        return None
    try:
        return f"tool:{_keyed([facet.server, facet.tool, facet.tool_args, _cwd(event, facet)])}"
    except (TypeError, ValueError, RecursionError):
        return None


def _command_target(event: Event, facet: Facet, digest: FileDigest) -> str | None:
    if not facet.argv or "-" in facet.argv[1:]:
        return None
    try:
        code = code_of(facet, _cwd(event, facet), digest)
    except OSError:
        return None
    if code is None:
        return None
    steering = {name: event.env.get(name) for name in _STEERING if name in event.env}
    # A line that sets variables, as in `GIT_SSH_COMMAND=… git push`, makes another act of the same argv.
    line = event.raw if _sets_variables(event.raw, facet.argv) else ""
    return f"cmd:{_keyed([facet.argv, _cwd(event, facet), _touches(event, facet), code, steering, line])}"


def _sets_variables(raw: str, argv: tuple[str, ...]) -> bool:
    """Whether the line has words with `=` that are not arguments of this command."""
    words = Counter(word.strip("'\"") for word in raw.split() if "=" in word)
    own = Counter(part for argument in argv for part in argument.split() if "=" in part)
    return bool(words - own)


def _touches(event: Event, facet: Facet) -> list[dict[str, Any]]:
    """What else the command is known to do (redirects, hosts): the facets that derive from it."""
    facets = event.judged_facets()
    index = next((at for at, other in enumerate(facets) if other is facet), None)
    if index is None:
        index = facets.index(facet) if facet in facets else None
    if index is None:
        return []
    touched = (entry for entry in facets_to_list(event) if entry.get("of") == index)
    return [{name: value for name, value in entry.items() if name != "of"} for entry in touched]


def _cwd(event: Event, facet: Facet) -> str:
    return facet.cwd or event.cwd


def _keyed(value: Any) -> str:
    return hmac.new(_KEY, canonical_json(value), hashlib.sha256).hexdigest()

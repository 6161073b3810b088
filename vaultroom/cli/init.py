"""`vaultroom init`: find agents, write a policy, install hooks; `--remove` undoes it (design section 7).

What was done goes to stdout, one line for each file. Exit codes: 0, 1 aborted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, say
from vaultroom.visible import visible

if TYPE_CHECKING:
    from vaultroom.install.agents import FoundAgent
    from vaultroom.install.clients import Clients
    from vaultroom.install.installer import Done
    from vaultroom.paths import Home

_YES = frozenset({"", "y", "yes"})
_NO = frozenset({"n", "no"})


class Aborted(Exception):
    """The person wants nothing done."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--non-interactive",
        action="store_true",
        help="ask nothing: the policy, and a hook for every agent found",
    )
    parser.add_argument("--remove", action="store_true", help="undo everything that init did")
    parser.epilog = "Changed files keep a backup beside them; docs/init.md says what is written where."


def run(args: argparse.Namespace) -> int:
    """Raises VaultroomError (exit 1) where a settings file cannot be merged with: then nothing is written."""
    from vaultroom.install.clients import HookClients
    from vaultroom.paths import find_home

    home = find_home()
    if args.remove:
        return _remove(home)
    if not args.non_interactive and not (sys.stdin.isatty() and sys.stderr.isatty()):
        say("vaultroom: init asks on a terminal, and there is none")
        say("  To accept what it would propose: vaultroom init --non-interactive")
        return Exit.FAILED
    try:
        return _install(home, HookClients(home), ask=not args.non_interactive)
    except (Aborted, EOFError, KeyboardInterrupt):
        say("\nvaultroom: nothing was written")
        return Exit.FAILED


def _install(home: Home, clients: Clients, *, ask: bool) -> int:
    from vaultroom.install.agents import find_agents
    from vaultroom.install.installer import apply, plan_hooks, plan_policy
    from vaultroom.install.ledger import read_ledger

    found = find_agents(os.environ, Path(os.path.expanduser("~")))
    _say_found(found)
    policy = plan_policy(home, starter_policy())
    write_policy = (
        policy.text is None or not ask or _confirm(f"Write the starter policy to {_tilde(policy.file)}?")
    )
    chosen = [a for a in found if not ask or _confirm(f"Guard {a.name} by a hook in {_tilde(a.settings)}?")]
    changes = plan_hooks(chosen, clients, read_ledger(home))
    planned = (*((policy,) if write_policy else ()), *changes)
    done = apply(home, planned, clients, native=_native(home))
    for one in done:
        data(_line(one))
    _say_next([agent.name for agent in chosen], has_policy=os.path.lexists(home.user_policy))
    return Exit.OK


def _remove(home: Home) -> int:
    from vaultroom.install.clients import HookClients
    from vaultroom.install.installer import remove

    done = remove(home, HookClients(home))
    for one in done:
        data(_line(one))
    if not done:
        say("Nothing to undo: init has changed nothing here.")
    elif any(one.verb == "left" for one in done):
        say("\nWhat is marked as left was changed by somebody since; the rest is undone.")
    else:
        say("\nAll that init did is undone. The log and the keys stay.")
    return Exit.OK


def starter_policy() -> str:
    """The text of recipes/starter.yaml, from the package or from a checkout. Raises VaultroomError."""
    from vaultroom.errors import VaultroomError

    package = Path(__file__).resolve().parent.parent
    for folder in (package / "share" / "recipes", package.parent / "recipes"):
        path = folder / "starter.yaml"
        if path.is_file():
            return path.read_text("utf-8")
    raise VaultroomError(f"expected the recipe starter.yaml in {package / 'share' / 'recipes'}")


def _native(home: Home) -> bool:
    """What the policy says for hooks with no host. A policy that does not load keeps the strict way."""
    from vaultroom.errors import PolicyError
    from vaultroom.policy.loader import load_policy
    from vaultroom.policy.model import WithoutHost

    try:
        text = home.user_policy.read_bytes()
        policy = load_policy(text, name="policy", environ=os.environ, home=os.path.expanduser("~"))
    except (OSError, PolicyError):
        return False
    return policy.hooks.without_host is WithoutHost.NATIVE


def _say_found(found: Sequence[FoundAgent]) -> None:
    from vaultroom.install.agents import AGENTS, agents_without_hooks

    by_name = {agent.name: agent for agent in found}
    say("Agents on this machine")
    for name in AGENTS:
        agent = by_name.get(name)
        if agent is None:
            say(f"  {name:<10} not found")
        else:
            say(
                f"  {name:<10} {_tilde(Path(agent.program)) if agent.program else 'only its settings folder'}"
            )
    for name in agents_without_hooks(os.environ):
        say(f"  {name:<10} has no hook that Vaultroom knows; start it with: vaultroom run -- {name}")
    say("")


def _confirm(question: str) -> bool:
    """A question on the terminal; the default is yes. Raises Aborted on `q`, EOFError at the end of input."""
    while True:
        sys.stderr.write(f"{question} [Y/n/q] ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            raise EOFError
        word = answer.strip().lower()
        if word in _YES:
            return True
        if word in _NO:
            return False
        if word in ("q", "quit"):
            raise Aborted


def _line(one: Done) -> str:
    return f"{one.verb:<9}{_tilde(one.file)}\n{'':9}{visible(one.note)}"


def _say_next(agents: Sequence[str], *, has_policy: bool) -> None:
    from vaultroom.install.agents import NOTES

    say("\nNext")
    if not has_policy:
        say("  There is no policy: guarded agents are refused until there is one.")
    for name in agents:
        if name in NOTES:
            say(f"  {NOTES[name]}")
    say("  Open the room in a side terminal: vaultroom")
    if agents:
        say("  While no room is open, guarded agents are refused, not let through.")
    say("  See that it holds: vaultroom doctor")


def _tilde(path: Path) -> str:
    user = os.path.expanduser("~")
    text = str(path)
    return visible("~" + text[len(user) :] if text.startswith(user + os.sep) else text)

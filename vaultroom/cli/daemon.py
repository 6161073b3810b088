"""`vaultroom daemon`: host sessions without a terminal (specification section 4.1)."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

from vaultroom.cli.choose_policy import choose_policy
from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import say
from vaultroom.errors import PolicyError
from vaultroom.paths import Home, find_home
from vaultroom.policy.loader import load_policy
from vaultroom.supervisor.assembly import audit_path
from vaultroom.supervisor.host import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "It ends at SIGTERM or SIGINT; sessions that still run wait for the next host."


def run(args: argparse.Namespace) -> int:
    home = find_home()
    stop_signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)  # before any thread starts
    host = Host.open(home, _log_of(args.config, home))
    if host is None:
        say("vaultroom: another process is the host of this home already")
        return Exit.FAILED
    say(f"vaultroom: hosting (pid {os.getpid()}); approvals: vaultroom approve list")
    try:
        signal.sigwait(stop_signals)
    finally:
        host.close()
    return Exit.OK


def _log_of(config: str | None, home: Home) -> Path:
    """The log that sessions under the user's policy are written to."""
    from vaultroom.policy.model import Policy

    try:
        chosen = choose_policy(config, home=home, cwd=os.getcwd())
    except PolicyError:
        if config is not None:
            raise
        return audit_path(Policy(name="", policy_hash=""), home)
    policy = load_policy(chosen.data, name=str(chosen.path), environ=os.environ, home=os.path.expanduser("~"))
    return audit_path(policy, home)

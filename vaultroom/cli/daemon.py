"""`vaultroom daemon`: host sessions without a terminal (specification section 4.1)."""

from __future__ import annotations

import argparse
import os
import signal

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import say
from vaultroom.cli.starting import log_of_user
from vaultroom.paths import find_home
from vaultroom.supervisor.host import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "It ends at SIGTERM or SIGINT; sessions that still run wait for the next host."


def run(args: argparse.Namespace) -> int:
    home = find_home()
    stop_signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)  # before any thread starts
    host = Host.open(home, log_of_user(args.config, home))
    if host is None:
        say("vaultroom: another process is the host of this home already")
        return Exit.FAILED
    say(f"vaultroom: hosting (pid {os.getpid()}); approvals: vaultroom approve list")
    try:
        signal.sigwait(stop_signals)
    finally:
        host.close()
    return Exit.OK

"""`vaultroom hook AGENT`: an agent's pre-tool hook through the whole command line.

The client that `vaultroom init` installs does the same and starts faster. stdin is the agent's payload;
what is printed and the exit code are what that agent's protocol wants.
"""

from __future__ import annotations

import argparse

from vaultroom.cli.exit_codes import Exit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="claude, codex, gemini or opencode")
    parser.add_argument(
        "--timeout",
        type=int,
        metavar="SECONDS",
        help="the hook's limit as the agent's settings say it (default: the agent's own)",
    )


def run(args: argparse.Namespace) -> int:
    """Ask the host and print its answer. Ends the process; returns only where it could not begin."""
    from vaultroom.cli.output import say
    from vaultroom.intercept.hooks.client_files import client_arguments
    from vaultroom.paths import find_home
    from vaultroom.thin import hook_client

    try:
        arguments = client_arguments(find_home(), args.agent, timeout=args.timeout)
        hook_client.main(args.agent, **arguments)
    except Exception as error:  # any other code than 2 would let the call run
        say(f"vaultroom: denied: {error}")
    return Exit.INVALID

"""Hidden: `vaultroom __shim NAME ARGS…`, the shim through the whole command line (specification section 4.1).

The scripts that `vaultroom run` installs do the same and start faster; this form stays for what is written
against the specification. The session's socket comes from `VAULTROOM_SOCK`.
"""

from __future__ import annotations

import argparse
import os
import sys

from vaultroom.cli.exit_codes import Exit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="NAME [ARGS…]", help="the program to run"
    )


def run(args: argparse.Namespace) -> int:
    """Ask the session's host, then become the program. Returns only where it may not run."""
    from vaultroom.paths import find_home
    from vaultroom.thin import shim_client

    command: list[str] = args.command
    if not command or not command[0] or "/" in command[0]:
        print("vaultroom: expected the bare name of a program after __shim", file=sys.stderr)
        return Exit.INVALID
    sys.stdout.flush()
    shim_client.main(
        command,
        socket=os.fsencode(os.environ.get("VAULTROOM_SOCK", "")),
        shims_root=os.fsencode(find_home().shims),
    )
    return Exit.CHECK_FAILED

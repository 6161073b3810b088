"""`vaultroom policy check|test|explain|trust` (specification section 4.1, design section 7)."""

from __future__ import annotations

import argparse
import importlib
from typing import Final

from vaultroom.cli.exit_codes import Exit

SUBCOMMANDS: Final = {
    "check": "check a policy and say everything that is wrong with it",
    "test": "judge the events of a fixture file, and compare with what it expects",
    "explain": "say what the policy says about one command line or event, and why",
    "trust": "approve a policy of a work tree, as it is now",
}
"""Subcommand → one line of help. Each is the module of that name in `policy_commands`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(policy_module=None)
    commands = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND")
    for name, summary in SUBCOMMANDS.items():
        module = importlib.import_module(f"vaultroom.cli.policy_commands.{name}_command")
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        module.add_arguments(command)
        for option in ("--policy", "--config"):
            command.add_argument(option, metavar="FILE", default=argparse.SUPPRESS, help="the policy to use")
        command.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="say more")
        command.add_argument("--no-color", action="store_true", default=argparse.SUPPRESS, help="no colours")
        command.set_defaults(policy_module=module)
    parser.set_defaults(policy_parser=parser)


def run(args: argparse.Namespace) -> int:
    """Run the chosen subcommand; without one print the help."""
    if args.policy_module is None:
        args.policy_parser.print_help()
        return Exit.INVALID
    return int(args.policy_module.run(args))

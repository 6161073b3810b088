"""`vaultroom policy trust FILE`: approve a policy of a work tree, exactly as it is now."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vaultroom.cli.choose_policy import ChosenPolicy, read_policy, trust_policy
from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import say
from vaultroom.cli.policy_commands.loading import load, shown_name
from vaultroom.paths import find_home
from vaultroom.supervisor.standing import require_outside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the policy to approve")


def run(args: argparse.Namespace) -> int:
    """An invalid policy is refused (exit 2): approving it would only hide that it does not load."""
    require_outside(find_home(), "approve a policy")
    path = Path(os.getcwd(), args.file)
    chosen = ChosenPolicy(path, read_policy(path))
    policy = load(chosen)
    trust_policy(find_home(), path, chosen.data)
    say(f"vaultroom: approved {shown_name(path)} with {len(policy.rules)} rules; a change ends the approval")
    return Exit.OK

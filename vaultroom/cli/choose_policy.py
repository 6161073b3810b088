"""Which policy counts, as commands choose it: what is passed over is said on stderr."""

from __future__ import annotations

from vaultroom.cli.output import say
from vaultroom.paths import Home
from vaultroom.supervisor import policy_choice
from vaultroom.supervisor.policy_choice import ChosenPolicy, is_trusted, read_policy, trust_policy

__all__ = ["ChosenPolicy", "choose_policy", "is_trusted", "read_policy", "trust_policy"]


def choose_policy(wanted: str | None, *, home: Home, cwd: str) -> ChosenPolicy:
    """The policy for a session that starts in `cwd`; see `policy_choice`. Raises PolicyError."""
    return policy_choice.choose_policy(wanted, home=home, cwd=cwd, say=say)

"""The child's environment: shims first in PATH, the session's address, and none of the host's secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

_KEPT = frozenset({"VAULTROOM_HOME", "VAULTROOM_SESSION", "VAULTROOM_SOCK"})


def child_environment(
    base: Mapping[str, str], added: Mapping[str, str], withheld: Iterable[str]
) -> dict[str, str]:
    """`base` without the variables of Vaultroom itself and those named in `withheld`, plus `added`.

    Specification section 4.2; law 8: the tokens that a policy names by `*_env` do not reach children.
    """
    dropped = set(withheld)
    result = {
        name: value
        for name, value in base.items()
        if name not in dropped and (not name.startswith("VAULTROOM_") or name in _KEPT)
    }
    result.update(added)
    return result


def session_variables(*, session_id: str, socket: str, shims: str, path: str) -> dict[str, str]:
    """What a session adds: PATH with its shims in front, and where its socket is."""
    return {
        "PATH": f"{shims}{os.pathsep}{path}" if path else shims,
        "VAULTROOM_SESSION": session_id,
        "VAULTROOM_SOCK": socket,
    }

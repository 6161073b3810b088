"""`vaultroom doctor`: does every installed channel really deny? (design section 7)

Exit codes: 0 all hold, 1 a channel is open or something is broken.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, data_json
from vaultroom.visible import visible

if TYPE_CHECKING:
    from vaultroom.install.health import Check

_WIDTH: Final = 80
_COLOURS: Final = {"ok": "32", "note": "36", "open": "1;31", "broken": "1;31"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.epilog = (
        "It sends the program vaultroom-doctor-probe, which does nothing, through every channel. Where no"
        " room is open it hosts for a moment by itself; the probes are in the log."
    )


def run(args: argparse.Namespace) -> int:
    from vaultroom.cli.doctor_checks import all_checks
    from vaultroom.install.agents import agents_without_hooks, find_agents
    from vaultroom.install.health import not_covered
    from vaultroom.paths import find_home

    home = find_home()
    agents = find_agents(os.environ, Path(os.path.expanduser("~")))
    checks = tuple(all_checks(home, agents, args.config))
    hooked = {check.name.removesuffix(" hook") for check in checks}
    unguarded = [agent.name for agent in agents if agent.name not in hooked]
    lines = not_covered(unguarded, agents_without_hooks(os.environ))
    failed = any(check.fails for check in checks)
    if args.json:
        data_json(_object(checks, lines))
    else:
        _print(checks, lines)
    return Exit.FAILED if failed else Exit.OK


def _object(checks: Sequence[Check], lines: Sequence[str]) -> dict[str, Any]:
    return {
        "ok": not any(check.fails for check in checks),
        "checks": [
            {"name": check.name, "state": check.state.value, "text": check.text, "fix": check.fix}
            for check in checks
        ],
        "not_covered": list(lines),
    }


def _print(checks: Sequence[Check], lines: Sequence[str]) -> None:
    for check in checks:
        for line in check_lines(check, colour=_has_colour()):
            data(line)
    data("\nNot covered")
    for text in lines:
        data(textwrap.fill(visible(text), _WIDTH, initial_indent="  - ", subsequent_indent="    "))
    failed = sum(check.fails for check in checks)
    data("")
    if failed:
        data(f"{failed} of {len(checks)} checks failed: mend what is marked, then try again.")
    else:
        data("Every channel that is installed holds.")


def check_lines(check: Check, *, colour: bool) -> list[str]:
    """A check on lines of at most 80 columns (a word may be longer); the fix on its own."""
    mark = check.state.value.upper() if check.fails else check.state.value
    indent = " " * 23
    text = _tilde(visible(check.text))
    body = textwrap.wrap(text, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False) or [""]
    shown = f"{mark:<8}"
    if colour:
        shown = f"\x1b[{_COLOURS[check.state.value]}m{shown}\x1b[0m"
    result = [f"{shown}{check.name:<15}{body[0]}", *(f"{indent}{line}" for line in body[1:])]
    if check.fix:
        result.append(f"{indent}fix: {_tilde(visible(check.fix))}")
    return result


def _tilde(text: str) -> str:
    user = os.path.expanduser("~")
    return text.replace(user + os.sep, "~" + os.sep) if len(user) > 1 else text


def _has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

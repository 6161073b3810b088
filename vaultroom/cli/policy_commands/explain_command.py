"""`vaultroom policy explain 'COMMAND LINE'` or `--event JSON`: what the policy says about one act and why."""

from __future__ import annotations

import argparse
import json
import os
import sys

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, data_json, say
from vaultroom.cli.policy_commands.loading import engine_for, load_and_warn, stage_for
from vaultroom.cli.policy_commands.verdict_output import verdict_lines, verdict_object
from vaultroom.errors import VaultroomError
from vaultroom.events import Event
from vaultroom.policy.fixture import event_of_line, parse_event
from vaultroom.visible import visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "line", nargs="?", metavar="'COMMAND LINE'", help="a shell command line, as one argument"
    )
    parser.add_argument("--event", metavar="JSON", help="an event as JSON, or - for stdin")
    parser.add_argument("--cwd", metavar="DIR", help="the session's start directory (default: this one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    if (args.line is None) == (args.event is None):
        say("vaultroom: expected a command line or --event JSON, and not both")
        return Exit.INVALID
    policy = load_and_warn(args)
    cwd = os.path.abspath(args.cwd or os.getcwd())
    event = _event(args, cwd)
    verdict = engine_for(policy, cwd).evaluate(event)
    if args.json:
        data_json(verdict_object(event, verdict))
    else:
        for line in verdict_lines(policy, event, verdict):
            data(line)
    return Exit.OK


def _event(args: argparse.Namespace, cwd: str) -> Event:
    stage = stage_for(cwd)
    try:
        if args.line is not None:
            return event_of_line(args.line, stage)
        text = sys.stdin.read() if args.event == "-" else args.event
        return parse_event(json.loads(text), stage)
    except (ValueError, RecursionError) as error:
        raise VaultroomError(f"the event cannot be read: {visible(str(error))}") from None

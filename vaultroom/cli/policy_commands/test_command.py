"""`vaultroom policy test FIXTURE`: judge events from a file; exit 1 when one is not judged as expected."""

from __future__ import annotations

import argparse
import os
import sys

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import data, data_json, say
from vaultroom.cli.policy_commands.loading import engine_for, load_and_warn, place_of, stage_for
from vaultroom.cli.policy_commands.verdict_output import verdict_object
from vaultroom.errors import VaultroomError
from vaultroom.policy.fixture import Fixture, parse_fixtures
from vaultroom.visible import visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fixture", metavar="FIXTURE", help="a JSON file of events, or - for stdin")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object for each event, one a line"
    )


def run(args: argparse.Namespace) -> int:
    policy = load_and_warn(args)
    cwd = os.getcwd()
    engine = engine_for(policy, cwd)
    failed = 0
    for number, fixture in enumerate(_read(args.fixture, cwd), 1):
        verdict = engine.evaluate(fixture.event)
        failure = fixture.expect.failure(verdict) if fixture.expect is not None else ""
        failed += bool(failure)
        if args.json:
            data_json(verdict_object(fixture.event, verdict))
        else:
            mark = "FAILED " if failure else "ok " if fixture.expect is not None else ""
            data(f"{number}: {mark}{verdict.effect} {place_of(policy, verdict)}")
        if failure:
            say(f"vaultroom: {visible(args.fixture)}: fixture {number}: {visible(failure)}")
    return Exit.FAILED if failed else Exit.OK


def _read(name: str, cwd: str) -> list[Fixture]:
    try:
        if name == "-":
            text = sys.stdin.read()
        else:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        return parse_fixtures(text, stage_for(cwd))
    except (OSError, ValueError) as error:
        raise VaultroomError(f"{visible(name)}: {visible(str(error))}") from None

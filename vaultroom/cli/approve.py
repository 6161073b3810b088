"""`vaultroom approve list|allow|deny`: answer from any terminal (specification section 4.1).

Light on purpose: no Textual, no aiohttp, no policy engine; it only speaks to the host.
"""

from __future__ import annotations

import argparse

from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import complain, data, data_json, say
from vaultroom.control.protocol import LISTED_FIELDS, AnswerCommand, RequestView
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable
from vaultroom.paths import find_home


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", dest="action", required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="what waits for an answer")
    listing.add_argument("--json", action="store_true", help="print JSON")

    allow = actions.add_parser("allow", help="let one request go")
    allow.add_argument("id", metavar="ID", help="the request's id, or enough of its end")
    allow.add_argument("--rule", action="store_true", help="and the same act for the rest of the session")
    allow.add_argument(
        "--minutes",
        type=int,
        default=0,
        choices=range(1, 61),
        metavar="N",
        help="as --rule, for 1 to 60 minutes",
    )

    deny = actions.add_parser("deny", help="refuse one request")
    deny.add_argument("id", metavar="ID", help="the request's id, or enough of its end")
    deny.add_argument("--reason", default="", metavar="TEXT", help="told to the agent")


def run(args: argparse.Namespace) -> int:
    home = find_home()
    try:
        control = RemoteControl(home.host_socket())
    except HostUnavailable as error:
        if args.action != "list":
            complain(error)
            return Exit.NO_SUCH_REQUEST
        if args.json:
            data_json({"requests": []})
        else:
            say("Nothing waits: no Vaultroom host is running.")
        return Exit.OK
    try:
        requests = control.state().requests
        if args.action == "list":
            return _list(requests, as_json=args.json)
        return _answer(control, requests, args)
    finally:
        control.close()


def _list(requests: tuple[RequestView, ...], *, as_json: bool) -> int:
    if as_json:
        listed = [{name: getattr(request, name) for name in LISTED_FIELDS} for request in requests]
        data_json({"requests": listed})
        return Exit.OK
    if not requests:
        say("Nothing waits for an answer.")
    for request in requests:
        data(f"{request.id}  {request.seconds_left:4.0f} s  {request.agent}  [{request.rule or 'default'}]")
        data(f"    {request.summary}")
    return Exit.OK


def _answer(control: RemoteControl, requests: tuple[RequestView, ...], args: argparse.Namespace) -> int:
    found = [request for request in requests if request.id.endswith(args.id.upper())] if args.id else []
    if len(found) > 1:
        say(f"vaultroom: expected the id of one request, {len(found)} end in {args.id}")
        return Exit.NO_SUCH_REQUEST
    request_id = found[0].id if found else args.id
    if args.action == "allow":
        kind = "allow_rule" if args.rule or args.minutes else "allow_once"
        command = AnswerCommand(request=request_id, kind=kind, by="cli", minutes=args.minutes)
    else:
        command = AnswerCommand(request=request_id, kind="deny", by="cli", reason=args.reason)
    result = control.answer(command)
    if result == "accepted":
        what = found[0].summary if found else request_id
        say(f"{'Allowed' if args.action == 'allow' else 'Denied'}: {what}")
        return Exit.OK
    say(f"vaultroom: {_why(result, args.id)}")
    return Exit.NO_SUCH_REQUEST


def _why(result: str, request_id: str) -> str:
    if result.startswith("already:"):
        return f"request {request_id} was answered already ({result.removeprefix('already:')})"
    if result.startswith("refused: "):
        return result.removeprefix("refused: ")
    return f"no request {request_id} waits for an answer"

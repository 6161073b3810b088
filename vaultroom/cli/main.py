"""The command line: finds the command's module, parses its arguments, keeps the exit codes.

Only the chosen command's module is imported, so that `vaultroom approve` starts without Textual.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from vaultroom import __version__
from vaultroom.cli.exit_codes import Exit
from vaultroom.cli.output import complain, say
from vaultroom.errors import HostUnavailable, PolicyError, VaultroomError

COMMANDS = {
    "init": ("init", "set up: a policy, and hooks for the agents found; --remove undoes it"),
    "doctor": ("doctor", "try whether every installed channel really denies"),
    "run": ("run", "run an agent under Vaultroom"),
    "approve": ("approve", "list waiting requests, allow or deny one"),
    "hook": ("hook", "answer an agent's pre-tool hook"),
    "policy": ("policy", "check, test, explain or trust a policy"),
    "verify": ("verify", "verify the log"),
    "demo": ("demo", "see it work in a throw-away folder"),
    "daemon": ("daemon", "host sessions without a terminal"),
}
"""Command → (module in vaultroom.cli, one line of help)."""

HIDDEN = {"__shim": "shim"}

_EXAMPLES = """\
examples:
  vaultroom                             open the control room in a side terminal
  vaultroom demo                        see a denial, an approval and a signed log
  vaultroom run -- claude               run an agent under ./vaultroom.yaml or your own policy
  vaultroom approve list                what waits for an answer
  vaultroom policy explain 'rm -rf x'   what the policy says about a command, and why
  vaultroom verify                      check that the log is whole
"""


def entry() -> None:
    """The console script."""
    code = main(sys.argv[1:])
    _flush()
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit code of the contract (design section 7)."""
    name = _command_in(arguments)
    if name in HIDDEN:
        module = importlib.import_module(f"vaultroom.cli.{HIDDEN[name]}")
        words = list(arguments)
        return int(module.run(argparse.Namespace(command=words[words.index(name) + 1 :])))
    parser = _parser(name)
    try:
        parsed = parser.parse_args(list(arguments))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(Exit.INVALID)
    if parsed.no_color:
        os.environ["NO_COLOR"] = "1"
    if parsed.command is None:
        if not sys.stdout.isatty():
            parser.print_help()
            return Exit.OK
        parsed.run = importlib.import_module("vaultroom.cli.room").run
    return _run(parsed)


def _command_in(arguments: Sequence[str]) -> str | None:
    """The command's name: the first word that is neither an option nor the file of `--config`."""
    words = iter(arguments)
    for word in words:
        if word == "--config":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def _run(parsed: argparse.Namespace) -> int:
    try:
        return int(parsed.run(parsed))
    except PolicyError as error:
        complain(error)
        return Exit.INVALID
    except HostUnavailable as error:
        complain(error)
        return Exit.CHECK_FAILED
    except VaultroomError as error:
        complain(error)
        return Exit.FAILED
    except BrokenPipeError:
        _silence_stdout()
        return Exit.OK
    except KeyboardInterrupt:
        return Exit.STOPPED
    except OSError as error:
        say(f"vaultroom: {error}")
        return Exit.FAILED


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vaultroom",
        description="A control room and permission firewall for AI agents.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"vaultroom {__version__}")
    _common(parser, defaults=True)
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        _common(command, defaults=False)
        if name == chosen:
            module = importlib.import_module(f"vaultroom.cli.{module_name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _common(parser: argparse.ArgumentParser, *, defaults: bool) -> None:
    """The options that every command has, before or after its name."""

    def default(value: object) -> object:
        return value if defaults else argparse.SUPPRESS

    parser.add_argument("--config", metavar="FILE", default=default(None), help="the policy to use")
    parser.add_argument("--verbose", action="store_true", default=default(False), help="say more on stderr")
    parser.add_argument("--no-color", action="store_true", default=default(False), help="print no colours")


def _silence_stdout() -> None:
    """After a broken pipe: keep the interpreter from complaining again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
    except (OSError, ValueError) as error:
        say(f"vaultroom: stdout: {error}")

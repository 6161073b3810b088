"""Redirections: what they write, read and connect to, and what they feed to a command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from vaultroom.events import Action
from vaultroom.shell.effects import Touch
from vaultroom.shell.expansion import HOLE
from vaultroom.shell.syntax.ast import Redirection
from vaultroom.shell.walk.paths import touches_of_path
from vaultroom.shell.walk.record import Record
from vaultroom.shell.walk.state import State
from vaultroom.shell.walk.streams import UNKNOWN_INPUT, Stdin

if TYPE_CHECKING:
    from vaultroom.shell.walk.walker import Walker

_WRITES: Final = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_HARMLESS: Final = re.compile(
    r"/dev/(?:null|zero|full|tty|stdin|stdout|stderr|fd/[0-9]+|random|urandom)|/proc/self/fd/[0-2]"
)
_NETWORK: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]*)/([^/]*)")


@dataclass(slots=True)
class Prepared:
    """Expanded redirections, to be laid on the first command that they hold for."""

    touches: list[Touch] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    stdin: Stdin | None = None
    hides_output: bool = False

    def apply(self, walker: Walker, mark: int, state: State) -> None:
        """Lay them on the first command listed since `mark`, or list them as acts of their own."""
        if not self.touches and not self.reasons:
            return
        if len(walker.records) > mark:
            record = walker.records[mark]
            record.touches.extend(self.touches)
            for reason in self.reasons:
                record.doubt(reason)
            return
        if not self.touches:
            walker.record(Record("", (), state.folder, list(self.reasons)))
        for touch in self.touches:
            walker.record(Record("", (), state.folder, list(self.reasons), [touch], touch.action))


NOTHING: Final = Prepared()


def prepare(walker: Walker, found: Sequence[Redirection], state: State) -> Prepared:
    """Expand the redirections of one command, in order."""
    if not found:
        return NOTHING
    prepared = Prepared()
    for redirection in found:
        operator = redirection.operator
        if operator in ("<<", "<<<"):
            text = walker.document(redirection, state)
            if redirection.descriptor in ("", "0"):
                prepared.stdin = Stdin(True, text, is_written_here=True)
            continue
        _to_file(walker, redirection, state, prepared)
    return prepared


def _to_file(walker: Walker, redirection: Redirection, state: State, prepared: Prepared) -> None:
    assert redirection.target is not None
    operator = redirection.operator
    fields = walker.expander.fields((redirection.target,), state)
    reads = operator in ("<", "<>", "<&")
    if reads and redirection.descriptor in ("", "0"):
        prepared.stdin = UNKNOWN_INPUT
    if operator in _WRITES and redirection.descriptor in ("", "1"):
        prepared.hides_output = True
    if operator in (">&", "<&") and all(_is_descriptor(one.text) for one in fields):
        return
    if len(fields) != 1:
        prepared.reasons.append("a redirection goes to a file that is not known")
    for one in fields:
        if not one.known and one.guess is None:
            if operator in (">&", "<&"):
                prepared.reasons.append("a redirection goes to a descriptor that is not known")
                continue
            prepared.reasons.append("a redirection goes to a file that is not known")
            _connect(one.text, prepared)
            continue
        if one.is_glob or not one.known:
            prepared.reasons.append("a redirection goes to a file that is not known")
        for path in one.matches or ((one.guess if not one.known else None) or one.text,):
            _one_path(walker, path, operator, reads, state, prepared)


def _one_path(
    walker: Walker, path: str, operator: str, reads: bool, state: State, prepared: Prepared
) -> None:
    if path == "" or _HARMLESS.fullmatch(path) or _connect(path, prepared):
        return
    if not state.folder.known and not path.startswith("/"):
        prepared.reasons.append("the working directory is not known here")
    actions = [Action.FS_WRITE] if operator in _WRITES else []
    if reads:
        actions.append(Action.FS_READ)
    for action in actions:
        prepared.touches.extend(touches_of_path(walker.view, state.folder, action, path))


def _connect(path: str, prepared: Prepared) -> bool:
    """`/dev/tcp/host/port` is no file: bash opens a connection."""
    match = _NETWORK.fullmatch(path)
    if match is None:
        return False
    host = match[1]
    if HOLE in host or not host:
        host = ""
        prepared.reasons.append("a connection goes to a host that is not known")
    port = int(match[2]) if match[2].isdigit() and len(match[2]) < 6 else 0
    prepared.touches.append(Touch(Action.NET_EGRESS, host=host.lower(), port=port))
    return True


def _is_descriptor(text: str) -> bool:
    return text == "-" or text.rstrip("-").isdigit()


def start_folders(records: Iterable[Record]) -> tuple[str, ...] | None:
    """Where `find` starts, when that is the one command of these records; None otherwise."""
    found = list(records)
    if len(found) != 1 or found[0].reasons or found[0].cmd != "find" or not found[0].folder.is_certain:
        return None
    starts: list[str] = []
    for argument in found[0].argv[1:]:
        if argument in ("-P", "--"):
            continue
        if argument.startswith(("-", "(", "!", ",")):
            if argument in ("-L", "-H", "-follow", "-f"):
                return None
            break
        starts.append(argument)
    if any(argument in ("-L", "-H", "-follow", "-printf", "-files0-from") for argument in found[0].argv):
        return None
    return tuple(starts) or (".",)

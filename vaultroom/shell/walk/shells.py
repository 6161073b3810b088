"""Shells started by a line: `bash -c TEXT`, `sh FILE`, a shell that reads its input."""

from __future__ import annotations

from typing import Final

from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.walk.builtins import _read_script
from vaultroom.shell.walk.names import SHELLS
from vaultroom.shell.walk.simple import HANDLERS, Call
from vaultroom.shell.walk.state import State
from vaultroom.shell.walk.streams import INHERITED
from vaultroom.shell.walk.walker import Outcome

_WITH_VALUE: Final = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))


def _shell(call: Call) -> Outcome:
    fields = call.fields
    runs_text = reads_input = False
    index = 1
    while index < len(fields):
        field = fields[index]
        text = field.text
        if not field.known and (field.may_vanish or text[:1] in ("-", "+", HOLE)):
            if not runs_text:
                call.record.doubt(f"the argument {field.shown} of the shell is not known")
            break
        if text in ("-", "--"):
            index += 1
            break
        if text[:1] not in ("-", "+") or len(text) < 2:
            break
        if text[:2] != "--" and "c" in text[1:]:
            runs_text = True
        if text[:2] != "--" and "s" in text[1:]:
            reads_input = True
        if text in ("--rcfile", "--init-file"):
            call.record.doubt(f"{text} makes the shell run a file")
        index += 2 if text in _WITH_VALUE or _ends_with_option(text) else 1
    operands = fields[index:]
    if runs_text:
        _run_text(call, operands)
    elif operands and not reads_input and operands[0].text not in ("/dev/stdin", "/dev/fd/0"):
        call.record.doubt("the shell runs a file whose contents are not known")
        _read_script(call, operands[0])
    elif call.stdin.is_fed:
        _run_input(call)
    elif operands:
        call.record.doubt("the shell reads commands that are not known")
    return call.outcome()


def _ends_with_option(text: str) -> bool:
    return len(text) > 2 and text[:2] not in ("--", "++") and text[-1] in "oO"


def _child(call: Call, operands: list[Field]) -> State:
    """What a new shell knows: its arguments, and what its parent knew."""
    state = call.state.fork()
    state.locals = None
    for name, value in call.environment.items():
        state.assign(name, value)
    if any(field.too_many or not field.known for field in operands):
        state.arguments = None
    else:
        state.arguments = tuple(text for field in operands for text in (field.matches or (field.text,)))
    return state


def _run_text(call: Call, operands: list[Field]) -> None:
    if not operands:
        return
    code = operands[0]
    state = _child(call, operands[2:])
    if not code.known:
        call.record.doubt("the shell runs text that is not known")
        guess = code.guess or code.text.replace(HOLE, "")
        if guess.strip():
            call.script(guess, state)
        return
    call.script(code.text, state)


def _run_input(call: Call) -> None:
    """A shell whose input is given in the line."""
    text = call.stdin.text
    if text is None:
        call.record.doubt("the shell runs what it is given as input, which is not known")
        return
    if not call.stdin.is_written_here:
        call.record.doubt("the shell runs what is piped into it")
    call.script(text, _child(call, []), INHERITED)


HANDLERS.update(dict.fromkeys(SHELLS, _shell))

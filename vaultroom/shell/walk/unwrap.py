"""Finding the command inside a wrapper's arguments, and running it in the walk."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.walk import names
from vaultroom.shell.walk.simple import HANDLERS, Call
from vaultroom.shell.walk.state import Folder, State
from vaultroom.shell.walk.streams import INHERITED
from vaultroom.shell.walk.walker import Outcome
from vaultroom.shell.walk.wrappers import WRAPPERS, Wrapper

_ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_HOST_OPTIONS: Final = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
_MOST_OF_ARGUMENTS: Final = 64


def _wrapper(call: Call) -> Outcome:
    wrapper = WRAPPERS[call.name]
    fields = call.fields
    index, operands = 1, 0
    state = call.state.fork()
    text: list[Field] = []
    if wrapper.doubt:
        call.record.doubt(wrapper.doubt)
    while index < len(fields):
        field = fields[index]
        word = field.text
        if not field.known:
            if field.may_vanish or word[:1] in ("-", HOLE):
                call.record.doubt(f"the argument {field.shown} is not known")
        if word == "--":
            index += 1
            break
        if len(word) > 1 and word[0] == "-":
            value, index = _option(wrapper, fields, index)
            if value is not None and value[0] in wrapper.text:
                text.append(value[1])
                if value[0] in ("-S", "--split-string"):
                    break
            elif value is not None and value[0] in wrapper.folder:
                _enter(call, state, value[1])
            continue
        match = _ASSIGNED.fullmatch(word) if wrapper.assigns else None
        if match is not None:
            call.environment = {**call.environment, match[1]: match[2] if HOLE not in match[2] else None}
            for reason in names.dangerous_to_set({match[1]: match[2]}, state):
                call.record.doubt(reason)
            index += 1
        elif operands < wrapper.operands:
            operands += 1
            index += 1
        else:
            break
    call.state = state
    while operands < wrapper.operands and index < len(fields) and wrapper.operands < 10:
        operands += 1
        index += 1
    _run_wrapped(call, wrapper, text, fields[index:])
    return Outcome(call.state, call.state)


def _option(wrapper: Wrapper, fields: list[Field], index: int) -> tuple[tuple[str, Field] | None, int]:
    """The option at `index` with its value, and where the next argument stands."""
    word = fields[index].text
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if equals:
            return (name, _part(fields[index], value)), index + 1
        if name in wrapper.long or name in wrapper.text:
            return _with_next(fields, index, name)
        return None, index + 1
    with_value = wrapper.short + "".join(name[1] for name in wrapper.text if len(name) == 2)
    for position, letter in enumerate(word[1:], start=1):
        if letter in with_value:
            rest = word[position + 1 :]
            if rest:
                return (f"-{letter}", _part(fields[index], rest)), index + 1
            return _with_next(fields, index, f"-{letter}")
    return None, index + 1


def _with_next(fields: list[Field], index: int, name: str) -> tuple[tuple[str, Field] | None, int]:
    if index + 1 < len(fields):
        return (name, fields[index + 1]), index + 2
    return None, index + 1


def _part(field: Field, text: str) -> Field:
    return field._replace(text=text, shown=text if field.known else field.shown, guess=None, matches=())


def _enter(call: Call, state: State, field: Field) -> None:
    folder = call.state.folder
    if field.known:
        state.folder = Folder(posixpath.normpath(posixpath.join(folder.path, field.text)), (), folder.known)
    else:
        state.folder = folder._replace(known=False)


def _run_wrapped(call: Call, wrapper: Wrapper, text: list[Field], rest: list[Field]) -> None:
    for field in text:
        if not field.known:
            call.record.doubt("it runs text that is not known")
            continue
        script = field.text
        if call.name == "env":
            script = " ".join([script, *(_quoted(one) for one in rest)])
            if any(not one.known for one in rest):
                call.record.doubt("it runs text that is not known")
        call.script(script)
    if call.name == "env" and text:
        return
    if not rest:
        return
    if wrapper.joins:
        if all(field.known for field in rest):
            call.script(" ".join(field.text for field in rest))
            if call.name == "watch" and len(rest) > 1:
                call.run(rest)
        else:
            call.record.doubt("it runs text that is not known")
        return
    call.run(rest)


def _quoted(field: Field) -> str:
    return "'" + field.text.replace("'", "'\\''") + "'"


# --- find


def _find(call: Call) -> Outcome:
    """`find … -exec COMMAND {} ;`: the command runs for what lies below the start folders."""
    fields = call.fields
    starts = _starts(fields)
    index = 1
    while index < len(fields):
        if fields[index].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = index + 1
            while end < len(fields) and not (
                fields[end].text == ";" or (fields[end].text == "+" and fields[end - 1].text == "{}")
            ):
                end += 1
            _run_for_each(call, fields[index + 1 : end], starts)
            index = end
        index += 1
    return call.outcome()


def _starts(fields: list[Field]) -> list[Field] | None:
    """The start folders; None where they are not known or links are followed out of them."""
    starts: list[Field] = []
    words = [field.text for field in fields]
    if "-L" in words or "-H" in words or "-follow" in words or "-files0-from" in words:
        return None
    for field in fields[1:]:
        if field.text in ("-P", "--"):
            continue
        if not field.known or field.too_many:
            return None
        if field.text.startswith(("-", "(", "!", ",")):
            break
        starts.append(field)
    return starts or [Field(".", ".")]


def _run_for_each(call: Call, command: list[Field], starts: list[Field] | None) -> None:
    if not command:
        return
    inner: list[Field] = []
    for field in command:
        if "{}" not in field.text or field is command[0]:
            inner.append(field)
        elif starts is None or field.text != "{}":
            inner.append(Field(field.text.replace("{}", HOLE), field.shown, known=False))
        else:
            inner.extend(start._replace(shown="{}" if len(starts) == 1 else start.shown) for start in starts)
    if "{}" in command[0].text:
        inner[0] = Field(HOLE, command[0].shown, known=False)
    call.recursive = True
    call.run(inner, stdin=INHERITED)
    call.recursive = False


# --- xargs, parallel


def _xargs(call: Call) -> Outcome:
    fields = call.fields
    index = 1
    placeholder = ""
    while index < len(fields):
        word = fields[index].text
        if not fields[index].known:
            call.record.doubt(f"the argument {fields[index].shown} is not known")
        if word == "--":
            index += 1
            break
        if len(word) < 2 or word[0] != "-":
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if name == "--replace":
                placeholder = value or "{}"
            if name == "--arg-file" or name == "-a":
                call.record.doubt("its arguments come from a file")
            takes = name in (
                "--arg-file", "--max-args", "--max-lines", "--max-procs", "--max-chars", "--delimiter",
                "--process-slot-var",
            )  # fmt: skip
            index += 2 if takes and not equals else 1
            continue
        index += 1
        for position, letter in enumerate(word[1:], start=1):
            rest = word[position + 1 :]
            if letter in "aEILnPsdJRS":
                if not rest and index < len(fields):
                    rest = fields[index].text
                    index += 1
                if letter in "IJ":
                    placeholder = rest or "{}"
                break
            if letter in "il":
                if letter == "i":
                    placeholder = rest or "{}"
                break
    command = fields[index:] or [Field("echo", "echo")]
    call.run(_with_input(call, command, placeholder), stdin=INHERITED)
    return call.outcome()


def _with_input(call: Call, command: list[Field], placeholder: str) -> list[Field]:
    """The command with what xargs or parallel adds to it."""
    given: list[Field]
    if call.stdin.starts is not None:
        given = [Field(start, start) for start in call.stdin.starts]
        call.recursive = True
    elif call.stdin.text is not None and not any(mark in call.stdin.text for mark in "'\"\\"):
        given = [Field(word, word) for word in call.stdin.text.split()[:_MOST_OF_ARGUMENTS]]
        if len(given) == _MOST_OF_ARGUMENTS:
            given.append(_from_input())
    else:
        given = [_from_input()]
    if not placeholder:
        return [*command, *given]
    filled: list[Field] = []
    for field in command:
        if placeholder not in field.text:
            filled.append(field)
        elif field.text == placeholder:
            filled.extend(given)
        else:
            hidden = field.text.replace(placeholder, HOLE)
            filled.append(Field(hidden, field.shown, known=False))
    return filled


def _from_input() -> Field:
    return Field(HOLE, "{}", known=False, may_vanish=True)


def _parallel(call: Call) -> Outcome:
    """GNU parallel: the words before `:::` are joined and run by a shell, once for each input."""
    fields = call.fields[1:]
    if not all(field.known for field in fields):
        call.record.doubt("it runs text that is not known")
        return call.outcome()
    words = [text for field in fields for text in (field.matches or (field.text,))]
    while words and words[0][:1] == "-" and len(words[0]) > 1:
        takes = words[0] in ("-j", "-N", "-n", "-I", "-S", "-a", "--jobs", "--delay", "--timeout", "--joblog",
                             "--retries", "--colsep", "-C", "--results", "--tagstring")  # fmt: skip
        if words[0] in ("-S", "--sshlogin", "--pipe", "--sshloginfile"):
            call.record.doubt("it runs elsewhere, or on parts of its input")
        words = words[2 if takes else 1 :]
    marks = [index for index, word in enumerate(words) if word in (":::", ":::+", "::::", "::::+")]
    command = words[: marks[0]] if marks else words
    if not marks or "::::" in words or "::::+" in words or len(marks) > 1:
        call.record.doubt("its arguments are not known")
        inputs = [""] if not marks else words[marks[0] + 1 : marks[1] if len(marks) > 1 else None]
    else:
        inputs = words[marks[0] + 1 :]
    text = " ".join(command)
    for value in inputs[:_MOST_OF_ARGUMENTS]:
        quoted = _quoted(Field(value, value)) if value else ""
        filled = re.sub(r"\{(?:[./#%0-9]|//|/\.)*\}", lambda _, q=quoted: q, text)  # type: ignore[misc]
        if not command:
            filled = value
        elif filled == text:
            filled = f"{text} {quoted}"
        call.script(filled, call.state.fork())
    if len(inputs) > _MOST_OF_ARGUMENTS:
        call.record.doubt("it has more arguments than are looked at")
    return call.outcome()


# --- ssh


def _ssh(call: Call) -> Outcome:
    """The command on another machine: listed, but not what it would touch here."""
    fields = call.fields
    index = 1
    has_host = False
    while index < len(fields):
        word = fields[index].text
        if word == "--" and not has_host:
            index += 1
            continue
        if len(word) > 1 and word[0] == "-" and not has_host:
            letters = word[1:]
            position = next((at for at, letter in enumerate(letters) if letter in _HOST_OPTIONS), None)
            if position is not None:
                value = letters[position + 1 :]
                if not value and index + 1 < len(fields):
                    index += 1
                    value = fields[index].text
                if letters[position] == "o":
                    _ssh_option(call, value)
            index += 1
            continue
        if has_host:
            break
        has_host = True
        index += 1
    command = fields[index:]
    if not command:
        if call.stdin.is_fed and has_host:
            call.record.doubt("a shell on another machine runs its input")
        return call.outcome()
    if not all(field.known for field in command):
        call.record.doubt("it runs text on another machine that is not known")
        return call.outcome()
    mark = len(call.walker.records)
    call.script(" ".join(field.text for field in command), call.state.fork())
    for record in call.walker.records[mark:]:
        record.touches.clear()
        record.doubt("it runs on another machine")
    return call.outcome()


def _ssh_option(call: Call, value: str) -> None:
    name, _, command = value.partition("=" if "=" in value else " ")
    if name.strip().lower() in ("proxycommand", "localcommand", "knownhostscommand", "match"):
        call.record.doubt(f"{name} runs a command")
        if HOLE not in command:
            call.script(command.strip(), call.state.fork())


HANDLERS.update(dict.fromkeys(WRAPPERS, _wrapper))
HANDLERS.update(
    {"find": _find, "gfind": _find, "xargs": _xargs, "gxargs": _xargs, "parallel": _parallel, "ssh": _ssh}
)

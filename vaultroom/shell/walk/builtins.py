"""Builtins of the shell that change what later commands do, or run text."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.walk import names
from vaultroom.shell.walk.simple import HANDLERS, Call
from vaultroom.shell.walk.state import UNKNOWN, Folder, State, Value
from vaultroom.shell.walk.streams import output_of
from vaultroom.shell.walk.walker import Outcome

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DECLARED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)(.*)", re.DOTALL)
_MOST_STACK: Final = 16


# --- the working directory


def _change_directory(call: Call) -> Outcome:
    state = call.state
    operands = [field for field in call.fields[1:] if not _is_cd_option(field.text)]
    before = state.fork()
    if not operands:
        home = state.lookup("HOME")
        target = Field(home, home) if isinstance(home, str) else Field(HOLE, "~", known=False)
    else:
        target = operands[0]
    if target.known and target.text == "-":
        _move(state, state.previous or state.folder._replace(known=False))
        return Outcome(state, before)
    return _go(call, state, before, target)


def _is_cd_option(text: str) -> bool:
    return text == "--" or (len(text) > 1 and text[0] == "-" and set(text[1:]) <= set("LPe@"))


def _go(call: Call, state: State, before: State, target: Field) -> Outcome:
    """Change to `target`; the second state is where the shell is if that fails."""
    folder = state.folder
    matches = target.matches if target.is_glob else ()
    if not target.known or target.too_many or len(matches) > 1:
        guess = target.guess
        if guess is None:
            path = folder.path
        elif guess == "" and target.may_vanish:
            home = state.lookup("HOME")
            path = home if isinstance(home, str) else folder.path
        else:
            path = _joined(folder.path, guess)
        _move(state, Folder(path, (), known=False))
        return Outcome(state, before)
    text = matches[0] if matches else target.text
    if text.startswith("/"):
        places = Folder(_joined("/", text))
    else:
        if "CDPATH" in state.variables and not text.startswith("."):
            call.record.doubt("CDPATH is set: the folder may be elsewhere")
            folder = folder._replace(known=False)
        places = Folder(
            _joined(folder.path, text), tuple(_joined(other, text) for other in folder.others), folder.known
        )
    _move(state, places)
    is_there = places.is_certain and call.walker.view.is_dir(places.path)
    return Outcome(state, None if is_there else before)


def _joined(base: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(base, path))
    return joined[1:] if joined.startswith("//") else joined


def _move(state: State, folder: Folder) -> None:
    state.previous, state.folder = state.folder, folder
    state.variables.pop("PWD", None)
    state.variables.pop("OLDPWD", None)


def _push_directory(call: Call) -> Outcome:
    state, before = call.state, call.state.fork()
    operands = [field for field in call.fields[1:] if field.text not in ("-n", "--")]
    if len(operands) != 1 or operands[0].text[:1] in ("+", "-") or len(state.stack) >= _MOST_STACK:
        _move(state, state.stack[-1] if state.stack and not operands else state.folder._replace(known=False))
        state.stack = (*state.stack[:-1], state.previous or state.folder)
        return Outcome(state, before)
    state.stack = (*state.stack, state.folder)
    return _go(call, state, before, operands[0])


def _pop_directory(call: Call) -> Outcome:
    state, before = call.state, call.state.fork()
    if len(call.fields) > 1 or not state.stack:
        _move(state, state.folder._replace(known=False))
        return Outcome(state, before)
    *rest, top = state.stack
    state.stack = tuple(rest)
    _move(state, top)
    return Outcome(state, before)


# --- variables


def _declare(call: Call) -> Outcome:
    state = call.state
    options = "".join(field.text[1:] for field in call.fields[1:] if field.text[:1] == "-")
    changed: dict[str, Value] = {}
    for field in call.fields[1:]:
        if field.text[:1] in ("-", "+"):
            continue
        match = _DECLARED.fullmatch(field.text)
        if match is None:
            if field.known and _NAME.fullmatch(field.text):
                if call.name == "local" and state.locals is not None:
                    state.locals.add(field.text)
                    state.variables[field.text] = None
                elif "n" in options:
                    changed[field.text] = UNKNOWN
            elif not field.known:
                call.record.doubt("a variable is set whose name is not known")
            continue
        name, operator, text = match.groups()
        value: Value = UNKNOWN if HOLE in text or "n" in options or "i" in options else text
        if field.shown.startswith(f"{name}{operator}("):
            value = UNKNOWN
        if operator == "+=":
            earlier = state.lookup(name)
            value = earlier + text if isinstance(earlier, str) and value is not UNKNOWN else UNKNOWN
        if (call.name == "local" or "g" not in options) and state.locals is not None:
            if call.name in ("local", "declare", "typeset"):
                state.locals.add(name)
        changed[name] = value
    if "n" in options and call.name in ("declare", "typeset", "local"):
        call.record.doubt("a name that stands for another variable is declared")
    for name, value in changed.items():
        state.assign(name, value)
    for reason in names.dangerous_to_set(changed, state):
        call.record.doubt(reason)
    return call.outcome()


def _unset(call: Call) -> Outcome:
    state = call.state
    functions = False
    for field in call.fields[1:]:
        if field.text in ("-f", "-v", "-n"):
            functions = field.text == "-f"
        elif not field.known:
            call.record.doubt("a variable is unset whose name is not known")
        elif functions:
            state.functions.pop(field.text, None)
        elif _NAME.fullmatch(field.text):
            # It fails on a variable that is read-only.
            was_readonly = "readonly" in {record.cmd for record in call.walker.records}
            state.assign(field.text, UNKNOWN if was_readonly else None)
    return call.outcome()


def _read(call: Call) -> Outcome:
    """`read`, `mapfile` and their kin: the variables that they set are unknown."""
    options = {"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc"}[call.name]
    named = False
    fields = iter(call.fields[1:])
    for field in fields:
        text = field.text
        if not field.known:
            call.record.doubt("a variable is set whose name is not known")
        elif text[:1] == "-" and len(text) > 1:
            if "C" in text and call.name != "read":
                call.record.doubt("it runs a callback")
            if text[-1] in options:
                value = next(fields, None)
                if text[-1] == "a" and value is not None:
                    _set_unknown(call, value)
                    named = True
        else:
            _set_unknown(call, field)
            named = True
    if not named:
        call.state.assign("REPLY" if call.name == "read" else "MAPFILE", UNKNOWN)
    return call.outcome()


def _set_unknown(call: Call, field: Field) -> None:
    if field.known and _NAME.fullmatch(field.text):
        call.state.assign(field.text, UNKNOWN)
    else:
        call.record.doubt("a variable is set whose name is not known")


def _printf(call: Call) -> Outcome:
    if len(call.fields) > 2 and call.fields[1].text.startswith("-v"):
        name = call.fields[2] if call.fields[1].text == "-v" else Field(call.fields[1].text[2:], "")
        _set_unknown(call, name)
    elif len(call.fields) > 1 and not call.fields[1].known and call.fields[1].may_vanish:
        call.record.doubt(f"the argument {call.fields[1].shown} is not known")
    return call.outcome()._replace(output=output_of(call.fields, call.stdin))


def _set(call: Call) -> Outcome:
    state = call.state
    for index, field in enumerate(call.fields[1:], start=1):
        if not field.known:
            state.arguments = None
            break
        if field.text == "--" or field.text[:1] not in ("-", "+"):
            rest = call.fields[index + 1 :] if field.text == "--" else call.fields[index:]
            if all(one.known and not one.too_many for one in rest):
                state.arguments = tuple(text for one in rest for text in (one.matches or (one.text,)))
            else:
                state.arguments = None
            break
    return call.outcome()


def _shift(call: Call) -> Outcome:
    state = call.state
    count = call.fields[1].text if len(call.fields) > 1 else "1"
    if state.arguments is None or not count.isdigit() or len(count) > 6:
        state.arguments = None
    else:
        merged = state.arguments[int(count) :]
        state.arguments = merged if int(count) <= len(state.arguments) else None
    return call.outcome()


# --- text that is run


def _eval(call: Call) -> Outcome:
    fields = call.fields[1:]
    if fields and fields[0].text == "--":
        fields = fields[1:]
    if not fields:
        return call.outcome()
    if all(field.known and not field.too_many for field in fields):
        text = " ".join(text for field in fields for text in (field.matches or (field.text,)))
        return call.script(text)
    call.record.doubt("eval runs text that is not known")
    guess = " ".join(field.text if field.known else field.guess or "" for field in fields)
    if guess.strip() and HOLE not in guess:
        call.script(guess, call.state.fork())
    _forget(call.state)
    return call.outcome()


def _source(call: Call) -> Outcome:
    operands = [field for field in call.fields[1:] if field.text != "--"]
    if operands:
        call.record.doubt(f"{call.name} runs a file whose contents are not known")
        _read_script(call, operands[0])
        if call.stdin.is_written_here and call.stdin.text is not None and operands[0].text == "/dev/stdin":
            call.script(call.stdin.text)
    _forget(call.state)
    return call.outcome()


def _read_script(call: Call, field: Field) -> None:
    from vaultroom.events import Action
    from vaultroom.shell.walk.paths import touches_of_path

    if not field.known:
        return
    for path in field.matches or (field.text,):
        if path and path != "/dev/stdin":
            touches = touches_of_path(call.walker.view, call.state.folder, Action.FS_READ, path)
            call.record.touches.extend(touches)


def _forget(state: State) -> None:
    """Text that is not known has run in this shell: nothing is certain any more."""
    for name in state.variables:
        state.variables[name] = UNKNOWN
    for name in ("HOME", "IFS", "PATH"):
        state.variables[name] = UNKNOWN
    state.split_is_changed = True
    state.folder = state.folder._replace(known=False)
    state.arguments = None


def _trap(call: Call) -> Outcome:
    fields = call.fields[1:]
    if fields and fields[0].text == "--":
        fields = fields[1:]
    if len(fields) < 2:
        return call.outcome()
    code = fields[0]
    if not code.known:
        call.record.doubt("trap runs text that is not known")
    elif code.text not in ("-", "-l", "-p", "-P", ""):
        call.walker.traps.append((code.text, call.state.fork()))
    return call.outcome()


def _execute(call: Call) -> Outcome:
    """`exec`: runs a program in place of the shell; with redirections alone it changes the shell's files."""
    fields = call.fields[1:]
    while fields and fields[0].text[:1] == "-" and len(fields[0].text) > 1:
        takes_value = fields[0].text.endswith("a")
        ends = fields[0].text == "--"
        fields = fields[2 if takes_value else 1 :]
        if ends:
            break
    if not fields:
        return call.outcome()
    outcome = call.run(fields)
    return Outcome(None, outcome.fail, outcome.output)


def _command(call: Call) -> Outcome:
    """`command` and `builtin`: as the name says, past functions and aliases."""
    fields = call.fields[1:]
    while fields and fields[0].text[:1] == "-" and len(fields[0].text) > 1:
        if call.name == "command" and set(fields[0].text[1:]) & set("vV"):
            return call.outcome()
        ends = fields[0].text == "--"
        fields = fields[1:]
        if ends:
            break
    return call.run(fields) if fields else call.outcome()


def _leave(call: Call) -> Outcome:
    return Outcome(None, None)


# --- aliases and options of the shell


def _alias(call: Call) -> Outcome:
    for field in call.fields[1:]:
        name, equals, text = field.text.partition("=")
        if not field.known:
            call.record.doubt("an alias is defined that is not known")
        elif equals and name:
            call.state.aliases[name] = text
    return call.outcome()


def _unalias(call: Call) -> Outcome:
    # Not forgotten: whether the shell expands it depends on when it read the line.
    return call.outcome()


def _loads_code(call: Call) -> Outcome:
    """Builtins that with these options load or run code."""
    letters = {"enable": "fn", "hash": "p", "complete": "CFW", "compgen": "CFW", "bind": "xf", "fc": "se"}
    wanted = letters[call.name]
    for field in call.fields[1:]:
        if field.text[:1] == "-" and set(field.text[1:]) & set(wanted):
            call.record.doubt(f"{call.name} {field.text} changes what names mean")
            if call.name in ("hash", "enable"):
                call.state.path_is_changed = True
    return call.outcome()


def _shopt(call: Call) -> Outcome:
    words = {field.text for field in call.fields[1:]}
    if "expand_aliases" in words:
        call.state.expands_aliases = True
    if words & {"-s", "-so"} and words & {
        "extglob",
        "dotglob",
        "globstar",
        "nullglob",
        "failglob",
        "nocaseglob",
    }:
        call.record.doubt("shopt changes how patterns are read")
    return call.outcome()


HANDLERS.update(
    {
        "cd": _change_directory,
        "chdir": _change_directory,
        "pushd": _push_directory,
        "popd": _pop_directory,
        "export": _declare,
        "declare": _declare,
        "typeset": _declare,
        "local": _declare,
        "readonly": _declare,
        "unset": _unset,
        "read": _read,
        "mapfile": _read,
        "readarray": _read,
        "printf": _printf,
        "set": _set,
        "shift": _shift,
        "eval": _eval,
        "source": _source,
        ".": _source,
        "trap": _trap,
        "exec": _execute,
        "command": _command,
        "builtin": _command,
        "exit": _leave,
        "return": _leave,
        "break": _leave,
        "continue": _leave,
        "alias": _alias,
        "unalias": _unalias,
        "enable": _loads_code,
        "hash": _loads_code,
        "complete": _loads_code,
        "compgen": _loads_code,
        "bind": _loads_code,
        "fc": _loads_code,
        "shopt": _shopt,
    }
)

"""Simple commands: assignments, words, and what the first word turns out to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.facets import program_name
from vaultroom.shell.subcommand import subcommand
from vaultroom.shell.syntax.ast import Assignment, Simple
from vaultroom.shell.walk import names, redirections
from vaultroom.shell.walk.programs import add_effects, doubt_unknown_words
from vaultroom.shell.walk.record import Record
from vaultroom.shell.walk.state import UNKNOWN, State, Value
from vaultroom.shell.walk.streams import Stdin, output_of
from vaultroom.shell.walk.walker import Outcome, Walker


@dataclass(slots=True)
class Call:
    """One command about to run. `fields` are its arguments from argv[0] on; `record` is where it is listed.

    `recursive`: its operands stand for everything
    below them (`find … -exec`). `remote`: it runs on another machine.
    """

    walker: Walker
    state: State
    fields: list[Field]
    stdin: Stdin
    record: Record
    environment: dict[str, Value]
    recursive: bool = False
    remote: bool = False

    @property
    def name(self) -> str:
        return self.record.cmd

    def words(self) -> list[str]:
        """argv as text, with a HOLE for what is unknown."""
        return [field.text for field in self.fields]

    def run(self, fields: list[Field], state: State | None = None, stdin: Stdin | None = None) -> Outcome:
        """Run the command that this one wraps."""
        state = state or self.state
        with self.walker.deeper(state) as allowed:
            if not allowed:
                return Outcome(state, state)
            return run_fields(
                self.walker,
                fields,
                state,
                stdin or self.stdin,
                environment=self.environment,
                recursive=self.recursive,
                remote=self.remote,
                uses_functions=False,
            )

    def script(self, text: str, state: State | None = None, stdin: Stdin | None = None) -> Outcome:
        """Run text as a shell script."""
        return self.walker.text(text, state or self.state, stdin or self.stdin)

    def outcome(self) -> Outcome:
        """Nothing more to say: the state stays as it is, whether the command succeeds or fails."""
        return Outcome(self.state, self.state)


Handler = Callable[[Call], Outcome]

HANDLERS: Final[dict[str, Handler]] = {}
"""Builtins, wrappers, shells and interpreters by name; filled by their modules."""


def run_simple(walker: Walker, command: Simple, state: State, stdin: Stdin) -> Outcome:
    """Expand and run one simple command."""
    fields = walker.expander.fields(command.words, state)
    reasons: list[str] = []
    if command.words and state.aliases:
        name = command.words[0].plain
        if name is not None and name in state.aliases:
            reasons += _run_alias(walker, name, fields, state, stdin)
    prepared = redirections.prepare(walker, command.redirections, state)
    environment = _assigned(walker, command.assignments, state)
    mark = len(walker.records)
    if not fields:
        for name, value in environment.items():
            state.assign(name, value)
        reasons += names.dangerous_to_set(environment, state)
        prepared.reasons.extend(reasons) if prepared.touches else _doubt_shell(walker, reasons, state)
        prepared.apply(walker, mark, state)
        return Outcome(state, state)
    outcome = run_fields(
        walker, fields, state, prepared.stdin or stdin, environment=environment, reasons=reasons
    )
    if prepared is not redirections.NOTHING:
        prepared.apply(walker, mark, state)
        if prepared.hides_output:
            outcome = outcome._replace(output=None)
    return outcome


def _doubt_shell(walker: Walker, reasons: list[str], state: State) -> None:
    if reasons:
        walker.record(Record("", (), state.folder, reasons))


def _assigned(walker: Walker, assignments: tuple[Assignment, ...], state: State) -> dict[str, Value]:
    """What the assignments before a command set, in order."""
    found: dict[str, Value] = {}
    seen = state
    for assignment in assignments:
        found[assignment.name] = assigned_value(walker, assignment, seen)
        if len(assignments) > 1:
            # Later assignments of one command see the earlier ones.
            seen = seen.fork()
            seen.variables.update(found)
    return found


def assigned_value(walker: Walker, assignment: Assignment, state: State) -> Value:
    """The value of one assignment; UNKNOWN where it is not known."""
    if assignment.subscript is not None:
        walker.expander.with_holes(assignment.subscript, state)
        walker.expander.text(assignment.value, state, assigned=True)
        return UNKNOWN
    word = assignment.value
    if word is not None and word.source.startswith("(") and word.plain is None:
        elements = walker.expander.elements(word, state)
        return UNKNOWN if assignment.appends else elements
    text = walker.expander.text(word, state, assigned=True)
    if text is None:
        return UNKNOWN
    if not assignment.appends:
        return text
    before = state.lookup(assignment.name)
    if before is None:
        return text
    return before + text if isinstance(before, str) else UNKNOWN


def _run_alias(walker: Walker, name: str, fields: list[Field], state: State, stdin: Stdin) -> list[str]:
    """Run what the alias may stand for. Whether it does depends on the shell: the plain command runs too."""
    text = state.aliases[name]
    inner = state.fork()
    inner.aliases = {other: value for other, value in state.aliases.items() if other != name}
    rest = " ".join(_requoted(field) for field in fields[1:])
    walker.text(f"{text} {rest}", inner, stdin)
    return [f"{name} is an alias that this line defines"]


def _requoted(field: Field) -> str:
    if not field.known:
        return '"$_"'
    if field.is_glob:
        return field.text
    return "'" + field.text.replace("'", "'\\''") + "'"


def run_fields(
    walker: Walker,
    fields: list[Field],
    state: State,
    stdin: Stdin,
    *,
    environment: dict[str, Value] | None = None,
    reasons: list[str] | None = None,
    recursive: bool = False,
    remote: bool = False,
    uses_functions: bool = True,
) -> Outcome:
    """Run a command given as arguments: list it, and follow what it runs itself."""
    environment = environment or {}
    first = fields[0]
    if not first.known or first.is_glob:
        return _run_dynamic(walker, fields, state, stdin, environment, remote)
    word = first.text
    if uses_functions and word in state.functions:
        outcome = _run_function(walker, word, fields, state, stdin, environment)
        if outcome is not None:
            return outcome
    name = program_name(word)
    argv = tuple(field.shown for field in fields)
    record = walker.record(
        Record(name, argv, state.folder, list(reasons or ()), [], subcommand=subcommand(argv))
    )
    if remote:
        record.doubt("it runs on another machine")
    for reason in names.doubts_about_name(word, name, state, walker.view):
        record.doubt(reason)
    for reason in names.dangerous_to_set(environment, state, command=name):
        record.doubt(reason)
    if walker.has_written(word if "/" in word else "", state.folder):
        record.doubt("this line writes the program that it runs")
    call = Call(walker, state, fields, stdin, record, environment, recursive, remote)
    handler = HANDLERS.get(name) or HANDLERS.get(names.without_version(name))
    outcome = handler(call) if handler is not None else None
    if handler is None or name not in names.HANDLES_WORDS:
        doubt_unknown_words(record, fields)
    if not remote:
        home = state.lookup("HOME")
        known_home = home if isinstance(home, str) and home.startswith("/") else ""
        add_effects(walker, record, fields, home=known_home, recursive=recursive)
    if outcome is None:
        output = output_of(fields, stdin)
        return Outcome(state, state, output)
    return outcome


def _run_function(
    walker: Walker,
    word: str,
    fields: list[Field],
    state: State,
    stdin: Stdin,
    environment: dict[str, Value],
) -> Outcome | None:
    """The outcome of a function's body; None if the word may also be a program, which is then run too."""
    bodies = state.functions[word]
    inner = state.fork()
    inner.variables.update(environment)
    arguments: list[str] = []
    for field in fields[1:]:
        if field.too_many or (not field.known and field.may_vanish):
            inner.arguments = None
            break
        arguments.extend(field.matches or (field.text,))
    else:
        inner.arguments = tuple(arguments)
    outcome = walker.call_function(word, [body for body in bodies if body is not None], inner, stdin)
    after = outcome.ok
    if after is not None:
        after.arguments = state.arguments
        for name in environment:
            after.variables.pop(name, None)
            if name in state.variables:
                after.variables[name] = state.variables[name]
    return None if None in bodies else Outcome(after, after, outcome.output)


def _run_dynamic(
    walker: Walker,
    fields: list[Field],
    state: State,
    stdin: Stdin,
    environment: dict[str, Value],
    remote: bool,
) -> Outcome:
    """The program's name is not known: listed as written, and as it is if what is unknown is empty."""
    argv = tuple(field.shown for field in fields)
    record = walker.record(Record("", argv, state.folder))
    record.doubt("the name of the program is not known")
    if fields[0].is_glob and fields[0].matches:
        for match in fields[0].matches[:4]:
            guessed = [Field(match, match), *fields[1:]]
            run_fields(walker, guessed, state.fork(), stdin, reasons=["a pattern chooses the program"])
        return Outcome(state, state)
    emptied = fields[0].text.replace(HOLE, "")
    guess = fields[0].guess or emptied
    rest = fields[1:]
    if HOLE not in guess and guess:
        rest = [*_split_guess(guess), *rest]
    if rest and not fields[0].is_glob:
        run_fields(
            walker,
            rest,
            state.fork(),
            stdin,
            environment=environment,
            reasons=["it runs if what is not known before it is empty"],
            remote=remote,
        )
    return Outcome(state, state)


def _split_guess(guess: str) -> list[Field]:
    return [Field(word, word) for word in guess.split()]

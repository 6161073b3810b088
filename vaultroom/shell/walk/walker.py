"""The walk over a syntax tree: in which order commands may run, and what is known when they do.

Each method that runs something answers with an Outcome: the state after success, the state after failure
(None where that way ends), and the output where it is known. The state handed in belongs to the method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from vaultroom.events import Action
from vaultroom.shell.effects import Places
from vaultroom.shell.expansion import HOLE, Expander
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.surroundings import Surroundings
from vaultroom.shell.syntax import Limits, Parser, ShellSyntaxError
from vaultroom.shell.syntax.ast import (
    AndOr,
    Arithmetic,
    ArithmeticFor,
    Case,
    Command,
    Condition,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirection,
    Script,
    Simple,
    Substitution,
    While,
    Word,
)
from vaultroom.shell.walk import redirections
from vaultroom.shell.walk.record import Record
from vaultroom.shell.walk.state import UNKNOWN, Folder, State, merge
from vaultroom.shell.walk.streams import INHERITED, UNKNOWN_INPUT, Stdin

MOST_RECORDS: Final = 2_000
"""Commands of one line that are listed; of more the rest is opaque."""
_MOST_STEPS: Final = 20_000
_DEEPEST: Final = 24
_MOST_ROUNDS: Final = 3
_MOST_VALUES: Final = 64


class Outcome(NamedTuple):
    ok: State | None
    fail: State | None
    output: str | None = None


class TooMuch(Exception):
    """The line has more commands than anyone will read."""


class Walker:
    """One walk. `records` are the commands in the order in which they may run."""

    def __init__(self, view: FileView, surroundings: Surroundings, cwd: str) -> None:
        self.view = view
        self.surroundings = surroundings
        self.records: list[Record] = []
        self.limits = Limits()
        self.expander = Expander(view, self._substitution)
        self.traps: list[tuple[str, State]] = []
        self._cwd = cwd
        self._steps = _MOST_STEPS
        self._depth = 0
        self._running: list[str] = []
        self._called: set[str] = set()
        self._defined: dict[str, tuple[Command, State]] = {}

    # --- entrances

    def line(self, text: str) -> None:
        """Walk a whole line. Whatever cannot be read becomes an opaque record."""
        state = State(Folder(self._cwd), self.surroundings)
        try:
            final = self._script_text(text, state, INHERITED).ok or state
            self._at_exit(final)
        except TooMuch:
            self._unreadable("the line has more commands than are looked at", state)

    @property
    def start_folder(self) -> Folder:
        """Where the line begins."""
        return Folder(self._cwd)

    def text(self, text: str, state: State, stdin: Stdin = INHERITED) -> Outcome:
        """Walk a script given as text (`bash -c`, `eval`)."""
        with self.deeper(state) as allowed:
            return self._script_text(text, state, stdin) if allowed else Outcome(state, state)

    def _script_text(self, text: str, state: State, stdin: Stdin) -> Outcome:
        if HOLE in text:
            self._unreadable("the text has a character that no script has", state)
            return Outcome(state, state)
        outcome = Outcome(state, state)
        depth = self.limits.depth
        known_output: list[str | None] = []
        try:
            self.limits.spend(len(text) // 32)
            for script in Parser(text, self.limits).complete_lines():
                outcome = self.script(script, _after(outcome) or state, stdin)
                known_output.append(outcome.output)
        except ShellSyntaxError as error:
            self._unreadable(f"the shell text cannot be read: {error}", state)
        except RecursionError:
            self._unreadable("the shell text is nested too deeply", state)
        self.limits.depth = depth
        return outcome._replace(output=known_output[0] if len(known_output) == 1 else None)

    def _unreadable(self, reason: str, state: State) -> None:
        self.records.append(Record("", (), state.folder, [reason]))

    def _at_exit(self, state: State) -> None:
        """Traps, and functions that nothing was seen to call but something unseen might."""
        for text, defined in self.traps[:16]:
            self.text(text, merge(defined, state) or state)
        for name, (body, defined) in list(self._defined.items()):
            if name not in self._called:
                inner = defined.fork()
                inner.arguments = None
                self.call_function(name, (body,), inner, INHERITED)

    @contextmanager
    def deeper(self, state: State) -> Iterator[bool]:
        """One level of commands within commands; False where that is too deep, which is then listed."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                self._unreadable("the commands are nested too deeply", state)
            yield self._depth <= _DEEPEST
        finally:
            self._depth -= 1

    def record(self, record: Record) -> Record:
        """List a command. Raises TooMuch."""
        if len(self.records) >= MOST_RECORDS:
            raise TooMuch
        self.records.append(record)
        return record

    def has_written(self, path: str, folder: Folder) -> bool:
        """Whether a command listed so far writes the file `path`."""
        if not path:
            return False
        place = Places(folder.path, self.view).through(path)
        return any(
            touch.path == place and touch.action is Action.FS_WRITE
            for record in self.records
            for touch in record.touches
        )

    # --- lists

    def script(self, script: Script, state: State, stdin: Stdin) -> Outcome:
        outcome = Outcome(state, state)
        for entry in script.lists:
            before = _after(outcome) or state
            if entry.in_background:
                self._and_or(entry, before.fork(), stdin)
                outcome = Outcome(before, before)
            else:
                outcome = self._and_or(entry, before, stdin)
            state = before
        if len(script.lists) != 1:
            outcome = outcome._replace(output=None)
        return outcome

    def _and_or(self, entry: AndOr, state: State, stdin: Stdin) -> Outcome:
        if not entry.operators:
            return self._pipeline(entry.pipelines[0], state, stdin)
        outcome = self._pipeline(entry.pipelines[0], state, stdin)
        for operator, pipeline in zip(entry.operators, entry.pipelines[1:], strict=True):
            if operator == "&&":
                begun = (outcome.ok or outcome.fail or state).fork()
                other = outcome.fail
                then = self._pipeline(pipeline, begun, stdin)
                outcome = Outcome(then.ok, merge(other, then.fail))
            else:
                begun = (outcome.fail or outcome.ok or state).fork()
                other = outcome.ok
                then = self._pipeline(pipeline, begun, stdin)
                outcome = Outcome(merge(other, then.ok), then.fail)
        return outcome

    def _pipeline(self, pipeline: Pipeline, state: State, stdin: Stdin) -> Outcome:
        commands = pipeline.commands
        if len(commands) == 1:
            outcome = self.command(commands[0], state, stdin)
        else:
            output: str | None = None
            for number, command in enumerate(commands):
                mark = len(self.records)
                output = self.command(command, state.fork(), stdin).output
                starts = redirections.start_folders(self.records[mark:]) if number == 0 else None
                stdin = Stdin(True, output, starts=starts)
            outcome = Outcome(state, state, output)
        return Outcome(outcome.fail, outcome.ok, outcome.output) if pipeline.is_negated else outcome

    # --- commands

    def command(self, command: Command, state: State, stdin: Stdin) -> Outcome:
        """Run one command of the tree."""
        self._steps -= 1
        if self._steps < 0:
            raise TooMuch
        if isinstance(command, Simple):
            from vaultroom.shell.walk.simple import run_simple

            return run_simple(self, command, state, stdin)
        if isinstance(command, Function):
            return self._define(command, state)
        if isinstance(command, Coprocess):
            self.command(command.body, state.fork(), UNKNOWN_INPUT)
            return Outcome(state, state)
        effects = redirections.prepare(self, command.redirections, state)
        mark = len(self.records)
        with self.deeper(state) as allowed:
            if not allowed:
                return Outcome(state, state)
            runner: Callable[[Any, State, Stdin], Outcome] = _RUNNERS[type(command)]
            outcome = runner(self, command, state, effects.stdin or stdin)
        effects.apply(self, mark, state)
        if effects.hides_output:
            outcome = outcome._replace(output=None)
        return outcome

    def _group(self, group: Group, state: State, stdin: Stdin) -> Outcome:
        if group.is_subshell:
            return Outcome(state, state, self.script(group.body, state.fork(), stdin).output)
        return self.script(group.body, state, stdin)

    def _if(self, command: If, state: State, stdin: Stdin) -> Outcome:
        after: State | None = None
        for condition, body in command.branches:
            tested = self.script(condition, state, stdin)
            then = self.script(body, (tested.ok or tested.fail or state).fork(), stdin)
            after = merge(after, merge(then.ok, then.fail))
            state = (tested.fail or tested.ok or state).fork()
        if command.otherwise is not None:
            then = self.script(command.otherwise, state, stdin)
            after = merge(after, merge(then.ok, then.fail))
        else:
            after = merge(after, state)
        return Outcome(after, after)

    def _while(self, command: While, state: State, stdin: Stdin) -> Outcome:
        def one_round(begun: State) -> Outcome:
            tested = self.script(command.condition, begun, stdin)
            inside, outside = tested.ok, tested.fail
            if command.is_until:
                inside, outside = outside, inside
            begun = (inside or outside or begun).fork()
            then = self.script(command.body, begun, stdin)
            return Outcome(merge(then.ok, then.fail), outside)

        return self._repeat(one_round, state)

    def _repeat(self, one_round: Callable[[State], Outcome], state: State) -> Outcome:
        """Rounds until nothing that is known changes; what still does then becomes unknown."""
        for number in range(_MOST_ROUNDS):
            after = one_round(state.fork())
            joined = merge(merge(state, after.ok), after.fail) or state
            if number == _MOST_ROUNDS - 2:
                _forget_changes(state, joined)
            if _same(joined, state):
                break
            state = joined
        return Outcome(state, state)

    def _for(self, command: For, state: State, stdin: Stdin) -> Outcome:
        values = None if command.is_select else self._values(command.words, state)
        if values is not None:
            for value in values:
                state.assign(command.name, value)
                outcome = self.script(command.body, state.fork(), stdin)
                # The body may end early by `break` or `continue`.
                state = merge(state, merge(outcome.ok, outcome.fail)) or state
                state.assign(command.name, value)
            return Outcome(state, state)

        def one_round(begun: State) -> Outcome:
            begun.assign(command.name, UNKNOWN)
            then = self.script(command.body, begun, stdin)
            return Outcome(merge(then.ok, then.fail), None)

        return self._repeat(one_round, state)

    def _values(self, words: tuple[Word, ...] | None, state: State) -> list[str] | None:
        """The values of a loop's variable; None where they are not known or too many to try."""
        if words is None:
            known = state.arguments
            return None if known is None or any(HOLE in value for value in known) else list(known)
        values: list[str] = []
        for field in self.expander.fields(words, state):
            if not field.known or field.too_many:
                values.append(HOLE)
            values.extend(field.matches or (field.text,))
        if len(values) > _MOST_VALUES or any(HOLE in value for value in values):
            return None
        return values

    def _arithmetic_for(self, command: ArithmeticFor, state: State, stdin: Stdin) -> Outcome:
        self._arithmetic(command.header, state)

        def one_round(begun: State) -> Outcome:
            then = self.script(command.body, begun, stdin)
            self._arithmetic(command.header, begun)
            return Outcome(merge(then.ok, then.fail), None)

        return self._repeat(one_round, state)

    def _case(self, command: Case, state: State, stdin: Stdin) -> Outcome:
        self.expander.with_holes(command.subject, state)
        after: State | None = state
        for patterns, body in command.items:
            for pattern in patterns:
                self.expander.with_holes(pattern, state)
            then = self.script(body, state.fork(), stdin)
            after = merge(after, merge(then.ok, then.fail))
        return Outcome(after, after)

    def _condition(self, command: Condition, state: State, stdin: Stdin) -> Outcome:
        for word in command.words:
            if command.is_arithmetic:
                for part in word.parts:
                    if isinstance(part, Arithmetic):
                        self._arithmetic(part, state)
            else:
                self.expander.with_holes(word, state)
        return Outcome(state, state)

    def _arithmetic(self, arithmetic: Arithmetic, state: State) -> None:
        """Walk the substitutions; names that are assigned become unknown."""
        self.expander.with_holes(Word((arithmetic,), ""), state)

    # --- functions and substitutions

    def _define(self, command: Function, state: State) -> Outcome:
        state.functions[command.name] = (command.body,)
        self._defined[command.name] = (command.body, state.fork())
        self._called.discard(command.name)
        return Outcome(state, state)

    def call_function(self, name: str, bodies: Iterable[Command], state: State, stdin: Stdin) -> Outcome:
        """Run a function's body; its arguments are the state's."""
        self._called.add(name)
        if name in self._running or len(self._running) >= _DEEPEST:
            record = Record(name, (name,), state.folder, [f"the function {name} calls itself"])
            self.record(record)
            return Outcome(state, state)
        self._running.append(name)
        outer_locals, state.locals = state.locals, set()
        before = dict(state.variables)
        try:
            after: State | None = None
            output: str | None = None
            for body in bodies:
                outcome = self.command(body, state.fork(), stdin)
                output = outcome.output
                after = merge(after, merge(outcome.ok, outcome.fail))
        finally:
            self._running.pop()
        after = after or state
        for local in after.locals or ():
            if local in before:
                after.variables[local] = before[local]
            else:
                after.variables.pop(local, None)
        after.locals = outer_locals
        return Outcome(after, after, output)

    def _substitution(self, part: Substitution, state: State) -> str | None:
        stdin = UNKNOWN_INPUT if part.kind == ">" else INHERITED
        with self.deeper(state) as allowed:
            if not allowed:
                return None
            outcome = self.script(part.script, state.fork(), stdin)
        return outcome.output

    def document(self, redirection: Redirection, state: State) -> str | None:
        """The text of a here-document or here-string; None where it is not known."""
        if redirection.document is not None:
            body = redirection.document.body
            return self.expander.text(body, state)
        text = self.expander.text(redirection.target, state)
        return None if text is None else text + "\n"


_RUNNERS: dict[type, Callable[..., Outcome]] = {
    Group: Walker._group,
    If: Walker._if,
    While: Walker._while,
    For: Walker._for,
    ArithmeticFor: Walker._arithmetic_for,
    Case: Walker._case,
    Condition: Walker._condition,
}


def _after(outcome: Outcome) -> State | None:
    return merge(outcome.ok, outcome.fail)


def _same(first: State, second: State) -> bool:
    return (
        first.folder == second.folder
        and first.variables == second.variables
        and first.arguments == second.arguments
        and first.functions.keys() == second.functions.keys()
    )


def _forget_changes(before: State, after: State) -> None:
    for name, value in after.variables.items():
        if before.variables.get(name, None) != value:
            after.variables[name] = UNKNOWN
    if before.folder != after.folder:
        after.folder = after.folder._replace(known=False)

"""The syntax tree of a shell script: words and their parts, commands, lists.

Named tuples, since thousands of them are made while an agent waits. A HereDocument alone is filled in
later than it is made: its text stands after the line that mentions it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Literal(NamedTuple):
    """Text that stands for itself; only unquoted text takes part in brace, tilde and glob expansion."""

    text: str
    quoted: bool = False


class Parameter(NamedTuple):
    """`$name` and `${name…}`.

    `operator` is "" for the plain value, one of `:- - := = :+ + :? ? # ## % %%`, "length", "keys" or
    "other" (the value is not worked out). `argument` is the word after the operator.
    `is_bare`: written without braces, so that letters which brace expansion puts behind it belong to the
    name.
    """

    name: str
    operator: str = ""
    argument: Word | None = None
    quoted: bool = False
    is_bare: bool = False


class Substitution(NamedTuple):
    """`$(…)` and backticks (`kind` "$"), `<(…)` ("<") and `>(…)` (">")."""

    script: Script
    kind: str = "$"
    quoted: bool = False


class Arithmetic(NamedTuple):
    """`$((…))` and `((…))`: the substitutions in it, and its text as far as it is literal."""

    parts: tuple[Part, ...]
    quoted: bool = False


class ArrayValue(NamedTuple):
    """`(a b c)` after an assignment."""

    words: tuple[Word, ...]


Part: TypeAlias = "Literal | Parameter | Substitution | Arithmetic | ArrayValue"


class Word(NamedTuple):
    """One word as written (`source`) and its parts. `plain` is its value where nothing needs expanding."""

    parts: tuple[Part, ...]
    source: str
    plain: str | None = None


@dataclass(slots=True, eq=False)
class HereDocument:
    """The text after `<<`; `body` is set once its lines were read."""

    delimiter: str
    quoted: bool
    strips_tabs: bool
    body: Word | None = None


class Redirection(NamedTuple):
    """`operator` without the descriptor: `< > >> >| <> <& >& &> &>> <<< <<`. For `<<` there is a document."""

    operator: str
    target: Word | None
    document: HereDocument | None = None
    descriptor: str = ""


class Assignment(NamedTuple):
    """`name=value`, `name+=value`, `name[index]=value` or `name=(…)`."""

    name: str
    value: Word | None
    appends: bool = False
    subscript: Word | None = None


class Simple(NamedTuple):
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]


class Group(NamedTuple):
    """`{ …; }`, or `( … )` when `is_subshell`."""

    body: Script
    redirections: tuple[Redirection, ...]
    is_subshell: bool = False


class If(NamedTuple):
    """`branches` are (condition, body) pairs; `otherwise` is the body of `else`."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirections: tuple[Redirection, ...]


class While(NamedTuple):
    """`while`, or `until` when `is_until`."""

    condition: Script
    body: Script
    redirections: tuple[Redirection, ...]
    is_until: bool = False


class For(NamedTuple):
    """`for name in words` (`words` None: the positional parameters), also `select`."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirections: tuple[Redirection, ...]
    is_select: bool = False


class ArithmeticFor(NamedTuple):
    header: Arithmetic
    body: Script
    redirections: tuple[Redirection, ...]


class Case(NamedTuple):
    """`items` are (patterns, body) pairs."""

    subject: Word
    items: tuple[tuple[tuple[Word, ...], Script], ...]
    redirections: tuple[Redirection, ...]


class Condition(NamedTuple):
    """`[[ … ]]` and `(( … ))`: only the substitutions in them act."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    is_arithmetic: bool = False


class Function(NamedTuple):
    name: str
    body: Command


class Coprocess(NamedTuple):
    body: Command


Command: TypeAlias = (
    "Simple | Group | If | While | For | ArithmeticFor | Case | Condition | Function | Coprocess"
)


class Pipeline(NamedTuple):
    """Commands joined by `|`. `is_negated`: after `!`."""

    commands: tuple[Command, ...]
    is_negated: bool = False


class AndOr(NamedTuple):
    """Pipelines joined by `&&` and `||`: `operators[i]` stands before `pipelines[i + 1]`."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    in_background: bool = False


class Script(NamedTuple):
    """What is run one after the other."""

    lists: tuple[AndOr, ...]

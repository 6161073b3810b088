"""Words → fields, in the order of the shell: braces, tildes, parameters, substitutions, splitting, globs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from typing import Final

from vaultroom.shell import patterns
from vaultroom.shell.expansion.braces import expand_braces, may_expand
from vaultroom.shell.expansion.fields import HOLE, Field, plain_field
from vaultroom.shell.expansion.parameters import ALTERNATIVES, ASSIGNING, CUTTING, DEFAULTS, cut
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.syntax.ast import Arithmetic, ArrayValue, Literal, Parameter, Part, Substitution, Word
from vaultroom.shell.walk.state import UNKNOWN, State, Unknown, Value

MOST_MATCHES: Final = 1_000
"""Paths that one glob may give; of more the rest is unknown."""
_LONGEST_FIELD: Final = 128 * 1024
_MAGIC: Final = re.compile(r"[*?\[]")
_MOST_COLONS: Final = 256
_MOST_EXPANDED: Final = 250_000
_ASSIGNMENT_LIKE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=~")
_AFTER_HOLE: Final = frozenset("/.*")

Substitute = Callable[[Substitution, State], str | None]
"""Walks a substitution: its output where that is known. Process substitutions give None."""


class Expander:
    """Expands words for one walk. Unknown parameters and outputs leave a HOLE."""

    def __init__(self, view: FileView, substitute: Substitute) -> None:
        self._view = view
        self._substitute = substitute
        self._left = _MOST_EXPANDED

    def fields(self, words: Iterable[Word], state: State) -> list[Field]:
        """The arguments that these words become."""
        fields: list[Field] = []
        for word in words:
            if word.plain is not None and word.plain[:1] != "~":
                fields.append(Field(word.plain, word.plain))
            elif may_expand(word.parts):
                for parts in expand_braces(word.parts):
                    fields.extend(self._expand(parts, word.source, state))
            else:
                fields.extend(self._expand(word.parts, word.source, state))
        return fields

    def text(self, word: Word | None, state: State, *, assigned: bool = False) -> str | None:
        """The word as one text (an assigned value, a here-document): None where it is not known."""
        if word is None:
            return ""
        if word.plain is not None and "~" not in word.plain:
            return word.plain
        value = self.with_holes(word, state, assigned=assigned)
        return None if HOLE in value else value

    def with_holes(self, word: Word, state: State, *, assigned: bool = False) -> str:
        """The word as one text, unsplit, with a HOLE for each unknown part."""
        quoted = [_as_quoted(part) for part in self._tilde(word.parts, state, assigned)]
        builder = _Builder(word.source)
        for part in quoted:
            self._add(builder, part, state)
        fields = builder.finish()
        return " ".join(field.text for field in fields)

    def elements(self, word: Word, state: State) -> tuple[str, ...] | Unknown:
        """The elements of an array value."""
        found: list[str] = []
        for part in word.parts:
            if not isinstance(part, ArrayValue):
                return UNKNOWN
            if any("[" in element.source for element in part.words):
                self.fields(part.words, state)
                return UNKNOWN
            for field in self.fields(part.words, state):
                if not field.known or field.too_many:
                    found.append(HOLE)
                found.extend(field.matches or (field.text,))
        return UNKNOWN if any(HOLE in value for value in found) else tuple(found)

    def pattern(self, word: Word, state: State) -> str | None:
        """The word as a pattern: None where it is not known."""
        builder = _Builder(word.source)
        for part in word.parts:
            self._add(builder, _unsplit(part), state)
        fields = builder.finish()
        text = "".join(field.text for field in fields)
        return None if HOLE in text else builder.pattern_text()

    # --- one word

    def _expand(self, parts: tuple[Part, ...], source: str, state: State) -> list[Field]:
        self._left -= 1 + len(parts)
        if self._left < 0:
            return [Field(HOLE, source, known=False, may_vanish=True)]
        builder = _Builder(source)
        for part in self._tilde(parts, state, assigned=False):
            self._add(builder, part, state)
        fields = builder.finish()
        self._left -= sum(8 + len(field.text) for field in fields)
        return [self._glob(field, state) if field.is_glob else field for field in fields]

    def _tilde(self, parts: tuple[Part, ...], state: State, assigned: bool) -> Iterable[Part]:
        """`~`, `~user`, `~+` and `~-` at the beginning; in an assigned value also after each colon."""
        first = parts[0] if parts else None
        if not isinstance(first, Literal) or first.quoted or "~" not in first.text:
            return parts
        if assigned:
            expanded: list[Part] = []
            if first.text.count(":") > _MOST_COLONS:
                return (Parameter("~", "other", None, quoted=True),)
            for number, piece in enumerate(first.text.split(":")):
                expanded += [Literal(":")] if number else []
                is_last = len(parts) == 1 or number < first.text.count(":")
                expanded += self._one_tilde(piece, state, is_last)
            return (*expanded, *parts[1:])
        match = _ASSIGNMENT_LIKE.match(first.text)
        if match is not None:
            cut_at = match.end() - 1
            head = Literal(first.text[:cut_at])
            return (head, *self._one_tilde(first.text[cut_at:], state, len(parts) == 1), *parts[1:])
        return (*self._one_tilde(first.text, state, len(parts) == 1), *parts[1:])

    def _one_tilde(self, text: str, state: State, ends_here: bool) -> list[Part]:
        name, slash, rest = text.partition("/")
        if text[:1] != "~" or (not slash and not ends_here):
            return [Literal(text)]
        value = _home_of(name[1:], state)
        if isinstance(value, str):
            return [Literal(value, True), Literal(slash + rest)]
        return [Parameter("~" + name, "other", None, quoted=True), Literal(slash + rest)]

    def _add(self, builder: _Builder, part: Part, state: State) -> None:
        match part:
            case Literal(text, quoted):
                builder.add(text, quoted)
            case Parameter():
                self._parameter(builder, part, state)
            case Substitution():
                output = self._substitute(part, state)
                if part.kind != "$":
                    builder.stream()
                elif output is None:
                    builder.hole(part.quoted)
                elif part.quoted:
                    builder.add(output.rstrip("\n"), True)
                else:
                    builder.split(output.rstrip("\n"), state)
            case Arithmetic(parts):
                for inner in parts:
                    if not isinstance(inner, Literal):
                        self._add(_Builder(""), inner, state)
                builder.hole(quoted=True)
            case ArrayValue(words):
                self.fields(words, state)
                builder.hole(quoted=True)

    # --- parameters

    def _parameter(self, builder: _Builder, part: Parameter, state: State) -> None:
        name, operator, quoted = part.name, part.operator, part.quoted
        if name in ("@", "*"):
            self._all_arguments(builder, part, state)
            return
        value = _value_of(name, state)
        if operator == "":
            _add_value(builder, value, quoted, state)
            return
        argument = part.argument or Word((), "")
        if operator in DEFAULTS or operator in ALTERNATIVES:
            self._default(builder, part, value, argument, state)
        elif operator in CUTTING:
            pattern = self.pattern(argument, state)
            kept = cut(value, operator, pattern) if isinstance(value, str) and pattern is not None else None
            _add_value(builder, UNKNOWN if kept is None else kept, quoted, state)
        elif operator == "length" and isinstance(value, str):
            builder.add(str(len(value)), quoted)
        else:
            self._visit(argument, state)
            if operator in ("?", ":?") and isinstance(value, str) and (value or operator == "?"):
                _add_value(builder, value, quoted, state)
            elif operator == "other" and isinstance(value, tuple):
                _add_array(builder, part, value, state)
            else:
                builder.hole(quoted)

    def _default(
        self, builder: _Builder, part: Parameter, value: Value, argument: Word, state: State
    ) -> None:
        operator, quoted = part.operator, part.quoted
        if isinstance(value, tuple):
            value = UNKNOWN
        counts_empty = operator[0] == ":"
        is_missing = value is None or (counts_empty and value == "")
        if isinstance(value, Unknown):
            guess = self.with_holes(argument, state)
            builder.hole(quoted, "" if HOLE in guess or operator in ALTERNATIVES else guess)
            if operator in ASSIGNING:
                state.assign(part.name, UNKNOWN)
            return
        if is_missing != (operator in DEFAULTS):
            self._visit(argument, state)
            if operator in DEFAULTS:
                _add_value(builder, value, quoted, state)
            return
        if operator in ASSIGNING:
            text = self.with_holes(argument, state)
            state.assign(part.name, UNKNOWN if HOLE in text else text)
            _add_value(builder, state.variables[part.name], quoted, state)
            return
        for inner in argument.parts:
            self._add(builder, _as_quoted(inner) if quoted else inner, state)

    def _visit(self, word: Word, state: State) -> None:
        """Walk the substitutions of a word whose value does not matter."""
        self.with_holes(word, state)

    def _all_arguments(self, builder: _Builder, part: Parameter, state: State) -> None:
        if part.argument is not None:
            self._visit(part.argument, state)
        if part.operator or state.arguments is None or any(HOLE in value for value in state.arguments):
            builder.hole(quoted=False)
        elif part.quoted and part.name == "*":
            builder.add(" ".join(state.arguments), True)
        elif part.quoted:
            builder.several(state.arguments)
        else:
            for number, value in enumerate(state.arguments):
                if number:
                    builder.close()
                builder.split(value, state)

    # --- globs

    def _glob(self, field: Field, state: State) -> Field:
        """The field with what its pattern (in `guess`) matches; as bash does, with itself if nothing."""
        pattern = field.guess or ""
        field = field._replace(guess=None)
        if not pattern.startswith("/") and not state.folder.is_certain:
            return field._replace(too_many=not state.folder.known)
        base = state.folder.path
        full = pattern if pattern.startswith("/") else posixpath.join(patterns.escape(base), pattern)
        found = self._view.glob(full, MOST_MATCHES)
        if found is None:
            return field._replace(too_many=True)
        if not pattern.startswith("/"):
            prefix = base.rstrip("/") + "/"
            found = [path.removeprefix(prefix) for path in found]
        return field._replace(matches=tuple(found))


class _Builder:
    """Gathers the pieces of one word into fields."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._done: list[Field] = []
        self._size = 0
        self._reset()

    def _reset(self) -> None:
        self._text: list[str] = []
        self._pattern: list[str] = []
        self._guess: list[str] = []
        self._holes = False
        self._guessable = True
        self._has_default = False
        self._is_glob = False
        self._exists = False
        self._vanishes = False
        self._streams = False

    def add(self, text: str, quoted: bool) -> None:
        self._size += len(text)
        if self._size > _LONGEST_FIELD:
            self._text = [text[:0]]
            self.hole(quoted)
            return
        if quoted:
            self._exists = True
            self._pattern.append(patterns.escape(text))
        else:
            if not text:
                return
            self._exists = True
            self._pattern.append(text)
            self._is_glob = self._is_glob or _MAGIC.search(text) is not None
        self._text.append(text)
        self._guess.append(text)
        if self._holes and not set(text) <= _AFTER_HOLE:
            self._guessable = False

    def hole(self, quoted: bool, guess: str = "") -> None:
        self._text.append(HOLE)
        self._pattern.append(HOLE)
        self._guess.append(guess)
        self._holes = True
        self._has_default = self._has_default or bool(guess)
        if quoted:
            self._exists = True
        else:
            self._vanishes = True

    def stream(self) -> None:
        """A process substitution: a pipe."""
        self.add("/dev/stdin", True)
        self._streams = True

    def split(self, text: str, state: State) -> None:
        """An unquoted value: split at blanks; its special characters are those of a pattern."""
        if state.split_is_changed:
            separators = state.lookup("IFS")
            if separators is None:
                separators = " \t\n"
            if not isinstance(separators, str):
                self.hole(quoted=False)
                return
        else:
            separators = " \t\n"
        if not text:
            return
        if separators != " \t\n":
            if any(char in separators for char in text):
                self.hole(quoted=False)
            else:
                self.add(text, False)
            return
        words = re.split(r"[ \t\n]+", text)
        if words[0] == "":
            self.close()
        for number, word in enumerate(word for word in words if word):
            if number:
                self.close()
            self.add(word.replace("\\", "\\\\"), False)
            self._text[-1] = self._guess[-1] = word
        if words[-1] == "":
            self.close()

    def several(self, values: tuple[str, ...]) -> None:
        """`"$@"`: each value a field of its own, none if there is none."""
        if not values:
            self._exists = any(self._text)
        for number, value in enumerate(values):
            if number:
                self.close()
            self.add(value, True)

    def close(self) -> None:
        """End the field that is being built."""
        if self._holes:
            text = "".join(self._text)
            guess = "".join(self._guess) if self._guessable or self._has_default else None
            self._done.append(Field(text, self._source, False, guess, self._vanishes, is_glob=False))
        elif self._exists:
            text = "".join(self._text)
            if self._is_glob and patterns.is_magic("".join(self._pattern)):
                self._done.append(Field(text, text, True, "".join(self._pattern), is_glob=True))
            else:
                self._done.append(Field(text, self._source if self._streams else text))
        self._kept_pattern = "".join(self._pattern)
        self._reset()

    def finish(self) -> list[Field]:
        self.close()
        return self._done

    def pattern_text(self) -> str:
        """The pattern of the field that was closed last."""
        return self._kept_pattern


def _value_of(name: str, state: State) -> Value:
    if name.isdigit():
        number = int(name[:6])
        if state.arguments is None or number == 0:
            return UNKNOWN
        value = state.arguments[number - 1] if number <= len(state.arguments) else None
        return UNKNOWN if value is not None and HOLE in value else value
    if name == "#" and state.arguments is not None and not any(HOLE in value for value in state.arguments):
        return str(len(state.arguments))
    if not (name[0].isalpha() or name[0] == "_"):
        return UNKNOWN
    return state.lookup(name)


def _home_of(user: str, state: State) -> Value:
    if user == "":
        return state.lookup("HOME")
    if user == "+":
        return state.lookup("PWD")
    if user == "-":
        return state.lookup("OLDPWD")
    return state.surroundings.homes.get(user, UNKNOWN)


def _add_value(builder: _Builder, value: Value, quoted: bool, state: State) -> None:
    if isinstance(value, tuple):
        value = value[0] if value else None
    if value is None:
        if quoted:
            builder.add("", True)
    elif isinstance(value, Unknown):
        builder.hole(quoted)
    elif quoted:
        builder.add(value, True)
    else:
        builder.split(value, state)


def _add_array(builder: _Builder, part: Parameter, value: tuple[str, ...], state: State) -> None:
    """`${name[@]}`, `${name[*]}` and `${name[0]}` of a known array; anything else is unknown."""
    source = "".join(
        inner.text for inner in (part.argument or Word((), "")).parts if isinstance(inner, Literal)
    )
    if source == "[@]" and part.quoted:
        builder.several(value)
    elif source in ("[@]", "[*]") and not part.quoted:
        for number, element in enumerate(value):
            if number:
                builder.close()
            builder.split(element, state)
    elif source[1:-1].isdigit() and int(source[1:-1][:6]) < len(value):
        _add_value(builder, value[int(source[1:-1][:6])], part.quoted, state)
    else:
        builder.hole(part.quoted)


def _as_quoted(part: Part) -> Part:
    """The part as if it stood in double quotes, where nothing is split."""
    match part:
        case Literal(text, False):
            return Literal(text, True)
        case Parameter():
            return part._replace(quoted=True)
        case Substitution():
            return part._replace(quoted=True)
        case _:
            return part


def _unsplit(part: Part) -> Part:
    """Like `_as_quoted`, but literal text stays a pattern."""
    return part if isinstance(part, Literal) else _as_quoted(part)


__all__ = ["MOST_MATCHES", "Expander", "plain_field"]

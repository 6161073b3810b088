"""Reading words: quotes, escapes, parameters, substitutions.

`WordReader` is a cursor over one text; the grammar of commands builds on it (`parser.py`), and it calls
the grammar back for what stands in `$(…)`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from vaultroom.shell.syntax.ast import (
    Arithmetic,
    Literal,
    Parameter,
    Part,
    Script,
    Substitution,
    Word,
)
from vaultroom.shell.syntax.escapes import decode_escapes
from vaultroom.shell.syntax.limits import LONGEST_ARITHMETIC, LONGEST_TEXT, Limits, ShellSyntaxError

META = " \t\n;&|()<>"
"""Characters that end a word outside quotes."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_PLAIN = re.compile(r"[A-Za-z0-9_./:,=@%+^-]+")
_RUN = re.compile(r"[^ \t\n;&|()<>\\'\"`$?*+@!]+")
_QUOTED_RUN = re.compile(r"[^\"\\$`]+")
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_ESCAPABLE = '$`"\\\n'
_SPECIAL_PARAMETERS = "@*#?-$!"
_BRACED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?")
_DEFAULTING = frozenset(("-", "=", "+", "?", ":-", ":=", ":+", ":?"))
_ARITHMETIC_RUN = re.compile(r"[^()\[\]\\'\"`$]+")


class WordReader(ABC):
    """A cursor (`position`) over `text`."""

    def __init__(self, text: str, limits: Limits) -> None:
        if len(text) > LONGEST_TEXT:
            raise ShellSyntaxError(f"expected at most {LONGEST_TEXT} characters, found {len(text)}")
        self.text = text
        self.size = len(text)
        self.position = 0
        self.limits = limits

    @abstractmethod
    def nested_script(self) -> Script:
        """The script up to a `)`, which is taken."""

    @abstractmethod
    def whole_script(self, text: str) -> Script:
        """The script in `text`, which must be nothing else."""

    # --- small steps

    def fail(self, message: str) -> ShellSyntaxError:
        return ShellSyntaxError(message, self.position)

    def peek(self) -> str:
        """The character at the cursor; "" at the end."""
        return self.text[self.position : self.position + 1]

    def looking_at(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.position)

    def skip_blanks(self) -> None:
        """Blanks, line continuations and comments."""
        start = self.position
        if start >= self.size or self.text[start] not in " \t\\#":
            return
        match = _BLANK.match(self.text, start)
        if match is not None:
            self.position = match.end()
        if self.peek() == "#" and self._begins_word(start):
            end = self.text.find("\n", self.position)
            self.position = self.size if end < 0 else end

    def _begins_word(self, start: int) -> bool:
        if self.position == 0 or self.text[self.position - 1] in META:
            # A continued line joins what is before it: `a\⏎#b` is one word.
            return self.position == 0 or self.text[max(self.position - 2, 0) : self.position] != "\\\n"
        return False

    # --- words

    def word(self, stop: str = META, allowed: str = "") -> Word:
        """The word at the cursor, which ends at a character in `stop` that is not in `allowed`."""
        text, start = self.text, self.position
        self.limits.spend(1)
        match = _PLAIN.match(text, start)
        if match is not None:
            end = match.end()
            if end == self.size or text[end] in stop:
                self.position = end
                value = match.group()
                return Word((Literal(value),), value, value)
        parts: list[Part] = []
        while self.position < self.size:
            char = text[self.position]
            if char in stop and char not in allowed and not self._at_process_substitution():
                break
            self._part(parts, allowed)
        if self.position == start:
            raise self.fail(f"expected a word, found {text[start : start + 1]!r}")
        return Word(tuple(_merged(parts)), text[start : self.position])

    def _at_process_substitution(self) -> bool:
        return self.text[self.position] in "<>" and self.text.startswith("(", self.position + 1)

    def _part(self, parts: list[Part], allowed: str) -> None:
        text, index = self.text, self.position
        char = text[index]
        self.limits.spend(1)
        if char == "\\":
            following = text[index + 1 : index + 2]
            self.position += 2 if following else 1
            if following != "\n":
                parts.append(Literal(following or "\\", True))
        elif char == "'":
            parts.append(self._single_quoted())
        elif char == '"':
            parts.append(Literal("", True))
            parts.extend(self.double_quoted())
        elif char == "$":
            parts.extend(self.dollar(quoted=False))
        elif char == "`":
            parts.append(self.backticks(quoted=False))
        elif char in "<>" and self._at_process_substitution():
            self.position += 2
            parts.append(Substitution(self._nested(), char))
        elif char in "?*+@!" and text.startswith("(", index + 1) and "(" not in allowed:
            raise self.fail("expected no extended pattern, found one")
        else:
            match = _RUN.match(text, index)
            if match is None or allowed:
                self.position += 1
                parts.append(Literal(char))
            else:
                self.position = match.end()
                parts.append(Literal(match.group()))

    def _nested(self) -> Script:
        self.limits.enter()
        self.limits.spend(8)
        script = self.nested_script()
        self.limits.leave()
        return script

    def _single_quoted(self) -> Literal:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise self.fail("expected a closing ', found the end")
        literal = Literal(self.text[self.position + 1 : end], True)
        self.limits.spend((end - self.position) // 64)
        self.position = end + 1
        return literal

    def double_quoted(self) -> list[Part]:
        """The parts up to the closing quote; the cursor stands on the opening one."""
        text = self.text
        parts: list[Part] = []
        self.position += 1
        while True:
            match = _QUOTED_RUN.match(text, self.position)
            if match is not None:
                parts.append(Literal(match.group(), True))
                self.limits.spend((match.end() - self.position) // 64)
                self.position = match.end()
            char = self.peek()
            if char == '"':
                self.position += 1
                return parts
            if char == "":
                raise self.fail('expected a closing ", found the end')
            parts.extend(self.quoted_special(char, _ESCAPABLE))

    def quoted_special(self, char: str, escapable: str) -> list[Part]:
        """The parts of a backslash, `$` or backtick as they are read in double quotes."""
        if char == "$":
            return self.dollar(quoted=True)
        if char == "`":
            return [self.backticks(quoted=True)]
        following = self.text[self.position + 1 : self.position + 2]
        self.position += 2 if following else 1
        if following == "\n" and "\n" in escapable:
            return []
        return [Literal(following if following and following in escapable else char + following, True)]

    # --- what a dollar begins

    def dollar(self, *, quoted: bool) -> list[Part]:
        """The parts that the `$` at the cursor begins."""
        text, index = self.text, self.position
        following = text[index + 1 : index + 2]
        match = NAME.match(text, index + 1)
        if match is not None:
            self.position = match.end()
            if self.looking_at("\\\n"):
                raise self.fail("expected no line continuation within a parameter's name, found one")
            return [Parameter(match.group(), quoted=quoted, is_bare=True)]
        if following == "(":
            return [self._dollar_parenthesis(quoted)]
        if following == "{":
            self.position += 2
            return [self._braced(quoted)]
        if following == "'" and not quoted:
            return [self._ansi_quoted()]
        if following == '"' and not quoted:
            self.position += 1
            return [Literal("", True), *self.double_quoted()]
        if following == "[":
            raise self.fail("expected $((…)), found $[…]")
        if text.startswith("\\\n", index + 1):
            raise self.fail("expected no line continuation after $, found one")
        if following and (following in "0123456789" or following in _SPECIAL_PARAMETERS):
            self.position += 2
            return [Parameter(following, quoted=quoted)]
        self.position += 1
        return [Literal("$", True)]

    def _dollar_parenthesis(self, quoted: bool) -> Part:
        if self.text.startswith("((", self.position + 1):
            start = self.position
            self.position += 3
            parts = self.arithmetic()
            if parts is not None:
                return Arithmetic(parts, quoted)
            self.position = start
        self.position += 2
        return Substitution(self._nested(), "$", quoted)

    def arithmetic(self) -> tuple[Part, ...] | None:
        """The parts up to `))`, which is taken; None (the cursor anywhere) if this is no arithmetic."""
        start = self.position
        self.limits.enter()
        try:
            parts = self._arithmetic_parts("))")
        finally:
            self.limits.leave()
            self.limits.spend(1 + (self.position - start) // 16)
        return parts

    def _arithmetic_parts(self, close: str) -> tuple[Part, ...] | None:
        """Parts up to `close` outside of inner parentheses. In it `"…"` reads as its content."""
        parts: list[Part] = []
        depth = 0
        latest = self.position + LONGEST_ARITHMETIC
        opening, closing = ("(", ")") if close == "))" else ("[", "]")
        while True:
            match = _ARITHMETIC_RUN.match(self.text, self.position)
            if match is not None:
                parts.append(Literal(match.group()))
                self.position = match.end()
            char = self.peek()
            if char == "":
                return None
            if self.position > latest:
                raise self.fail("the arithmetic expression is too long")
            if char == closing and depth == 0:
                if not self.looking_at(close):
                    return None
                self.position += len(close)
                return tuple(parts)
            depth += (char == opening) - (char == closing)
            if char == "'":
                parts.append(self._quoted_key())
            elif char == '"':
                parts.extend(self.double_quoted())
            elif char in "$`\\":
                parts.extend(self.quoted_special(char, _ESCAPABLE))
            else:
                parts.append(Literal(char))
                self.position += 1

    def _quoted_key(self) -> Literal:
        """A single-quoted text in arithmetic, where single quotes do not stop expansion."""
        literal = self._single_quoted()
        if any(char in "$`\\()[]" for char in literal.text):
            raise self.fail("expected no expansion in single quotes within arithmetic")
        return literal

    def subscript(self) -> Word | None:
        """`index]` of an array element; None if no `]` follows."""
        start = self.position
        parts = self._arithmetic_parts("]")
        self.limits.spend(1 + (self.position - start) // 16)
        return None if parts is None else Word(parts, self.text[start : self.position - 1])

    def _ansi_quoted(self) -> Literal:
        text, end = self.text, self.position + 2
        while end < self.size and text[end] != "'":
            end += 2 if text[end] == "\\" else 1
        if end >= self.size:
            raise self.fail("expected a closing ', found the end")
        try:
            value = decode_escapes(text[self.position + 2 : end])
        except (ValueError, OverflowError):
            raise self.fail("expected escapes of characters that exist in $'…'") from None
        self.position = end + 1
        return Literal(value, True)

    def backticks(self, *, quoted: bool) -> Substitution:
        """The substitution that begins at the cursor: its text is read a second time, without escapes."""
        text, index = self.text, self.position + 1
        kept: list[str] = []
        special = '$`\\"' if quoted else "$`\\"
        while index < self.size and text[index] != "`":
            char = text[index]
            if char == "\\" and index + 1 < self.size:
                following = text[index + 1]
                kept.append(following if following in special else char + following)
                index += 2
            else:
                kept.append(char)
                index += 1
        if index >= self.size:
            raise self.fail("expected a closing `, found the end")
        self.limits.spend(8 + (index - self.position) // 8)
        self.position = index + 1
        self.limits.enter()
        script = self.whole_script("".join(kept))
        self.limits.leave()
        return Substitution(script, "$", quoted)

    # --- ${…}

    def _braced(self, quoted: bool) -> Parameter:
        """The rest of `${…}`, the cursor after the brace."""
        self.limits.enter()
        try:
            return self._braced_parameter(quoted)
        finally:
            self.limits.leave()

    def _braced_parameter(self, quoted: bool) -> Parameter:
        first = self.peek()
        if first in ("", " ", "\t", "\n", "|", "\\", "}"):
            raise self.fail("expected a parameter after ${")
        if first in "#!" and not self.text.startswith("}", self.position + 1):
            self.position += 1
            match = _BRACED.match(self.text, self.position)
            if match is not None and (first == "!" or self.text[match.end() : match.end() + 1] in ("}", "[")):
                self.position = match.end()
                parts = self._until_brace(quoted, pattern=True)
                kind = "length" if first == "#" else "keys"
                return Parameter(match.group(), kind, Word(parts, ""), quoted)
            self.position -= 1
        match = _BRACED.match(self.text, self.position)
        if match is None:
            raise self.fail("expected a parameter after ${")
        self.position = match.end()
        name = match.group()
        if self.peek() == "}":
            self.position += 1
            return Parameter(name, "", None, quoted)
        operator = _OPERATOR.match(self.text, self.position)
        if operator is None:
            if self.peek() == "@" and self.text[self.position + 1 : self.position + 2] not in "QELUuAaKk":
                raise self.fail("expected a known transformation in ${…@…}")
            parts = self._until_brace(quoted, pattern=True)
            return Parameter(name, "other", Word(parts, ""), quoted)
        self.position = operator.end()
        start = self.position
        parts = self._until_brace(quoted, pattern=operator.group() not in _DEFAULTING)
        return Parameter(name, operator.group(), Word(parts, self.text[start : self.position - 1]), quoted)

    def _until_brace(self, quoted: bool, *, pattern: bool) -> tuple[Part, ...]:
        """The parts up to the closing brace, which is taken.

        Within double quotes a single quote stands for itself in a default and quotes in a pattern; bash
        versions differ on the latter, so it is refused.
        """
        parts: list[Part] = []
        while True:
            self.limits.spend(1)
            char = self.peek()
            if char == "":
                raise self.fail("expected a closing }, found the end")
            if char == "}":
                self.position += 1
                return tuple(_merged(parts))
            if char == "'" and quoted:
                if pattern:
                    raise self.fail("expected no ' in a quoted pattern, found one")
                self.position += 1
                parts.append(Literal("'", True))
            elif quoted and char in "$`\\":
                parts.extend(self.quoted_special(char, _ESCAPABLE + "}"))
            elif quoted and char != '"':
                self.position += 1
                parts.append(Literal(char, True))
            elif (
                char in " \t\n;&|()" or (char in "<>" and not self._at_process_substitution()) or char == "{"
            ):
                self.position += 1
                parts.append(Literal(char))
            else:
                self._brace_piece(parts)

    def _brace_piece(self, parts: list[Part]) -> None:
        char = self.peek()
        if char in "\\'\"$`<>":
            self._part(parts, "(")
        else:
            self.position += 1
            parts.append(Literal(char))


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring literals of one kind as one."""
    merged: list[Part] = []
    pieces: list[str] = []
    quoted = False
    for part in parts:
        if isinstance(part, Literal):
            if pieces and part.quoted != quoted:
                merged.append(Literal("".join(pieces), quoted))
                pieces = []
            quoted = part.quoted
            pieces.append(part.text)
            continue
        if pieces:
            merged.append(Literal("".join(pieces), quoted))
            pieces = []
        merged.append(part)
    if pieces:
        merged.append(Literal("".join(pieces), quoted))
    return merged

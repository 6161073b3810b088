"""The grammar of commands, as bash reads it: lists, pipelines, compound commands, redirections."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultroom.shell.syntax.ast import (
    AndOr,
    Arithmetic,
    ArithmeticFor,
    ArrayValue,
    Assignment,
    Case,
    Command,
    Condition,
    Coprocess,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Literal,
    Parameter,
    Part,
    Pipeline,
    Redirection,
    Script,
    Simple,
    Substitution,
    While,
    Word,
)
from vaultroom.shell.syntax.limits import Limits, ShellSyntaxError
from vaultroom.shell.syntax.words import META, NAME, WordReader
from vaultroom.shell.words import words

_RESERVED = words(
    "if then elif else fi while until for do done case esac in { } [[ ! time function select coproc"
)
_ONLY_INSIDE = words("then elif else fi do done esac }")
"""Reserved words that end or divide a compound command: out of place anywhere else."""
_BODIES = words("{ if while until for case [[ select")
"""Reserved words that may begin the body of a function."""
_DECLARING = words("declare local export readonly typeset")

_FIRST_OF_RESERVED = frozenset(word[0] for word in _RESERVED)
_RESERVED_TEXT = re.compile(r"[A-Za-z!{}\[]+")
_REDIRECTION = re.compile(
    r"([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<&|<>|>>|>&|>\||&>>|&>|<(?!\()|>(?!\())"
)
_ASSIGNED_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_FUNCTION = re.compile(r"([^\s;&|()<>'\"\\$`={}!#]+)[ \t]*\([ \t]*\)")
_TIME_OPTION = re.compile(r"-p(?=[ \t\n;&|]|$)")


def parse(text: str, limits: Limits | None = None) -> Script:
    """The syntax tree of a whole script. Raises ShellSyntaxError."""
    return Parser(text, limits or Limits()).whole()


class Parser(WordReader):
    """Reads one text. `complete_lines` gives what was read before an error, as bash would run it."""

    def __init__(self, text: str, limits: Limits) -> None:
        super().__init__(text, limits)
        if "\0" in text:
            raise ShellSyntaxError("expected text without NUL characters", text.index("\0"))
        self._documents: list[HereDocument] = []

    # --- lists

    def whole(self) -> Script:
        """The whole text as one script."""
        return Script(tuple(entry for script in self.complete_lines() for entry in script.lists))

    def complete_lines(self) -> Iterator[Script]:
        """Each group of lines that bash reads, and runs, before it reads on."""
        while True:
            self._skip_newlines()
            if self.position >= self.size:
                return
            script = self._list((), stops_at_newline=True)
            if self._documents:
                raise self.fail(f"expected the here-document {self._documents[0].delimiter!r}, found the end")
            yield script

    def whole_script(self, text: str) -> Script:
        return Parser(text, self.limits).whole()

    def nested_script(self) -> Script:
        outer, self._documents = self._documents, []
        script = self._list((")",))
        if self._documents:
            raise self.fail("expected the here-document's text before )")
        self._documents = outer
        self._take(")")
        return script

    def _body(self, *closers: str) -> Script:
        """The list up to one of these reserved words, which is left."""
        self.limits.enter()
        script = self._list(closers)
        self.limits.leave()
        if not script.lists:
            raise self.fail(f"expected a command before {' or '.join(closers)}")
        return script

    def _list(self, closers: tuple[str, ...], *, stops_at_newline: bool = False) -> Script:
        entries: list[AndOr] = []
        while True:
            if entries and stops_at_newline and self._ends_line():
                return Script(tuple(entries))
            self._skip_newlines()
            char = self.peek()
            if char == "" or char in closers:
                return Script(tuple(entries))
            if char in ";&|)":
                if ";;" in closers and (self.looking_at(";;") or self.looking_at(";&")):
                    return Script(tuple(entries))
                raise self.fail(f"expected a command, found {char!r}")
            reserved = self._reserved()
            if reserved and reserved in closers:
                return Script(tuple(entries))
            if reserved in _ONLY_INSIDE:
                raise self.fail(f"expected a command, found {reserved!r}")
            entry = self._and_or()
            self.skip_blanks()
            char = self.peek()
            if char == ";" and not self.looking_at(";;") and not self.looking_at(";&"):
                self.position += 1
            elif char == "&":
                self.position += 1
                entry = entry._replace(in_background=True)
            elif char not in ("", "\n") and char not in closers and not (char == ";" and ";;" in closers):
                raise self.fail(f"expected the end of a command, found {char!r}")
            entries.append(entry)

    def _ends_line(self) -> bool:
        """At the end of a line: takes it, with the here-documents that follow."""
        self.skip_blanks()
        if self.peek() not in ("", "\n"):
            return False
        if self.peek():
            self.position += 1
            self._read_documents()
        return True

    def _skip_newlines(self) -> None:
        while True:
            self.skip_blanks()
            if self.peek() != "\n":
                return
            self.position += 1
            self.limits.spend(1)
            self._read_documents()

    def _and_or(self) -> AndOr:
        pipelines = [self._pipeline()]
        operators: list[str] = []
        while True:
            self.skip_blanks()
            operator = self.text[self.position : self.position + 2]
            if operator not in ("&&", "||"):
                return AndOr(tuple(pipelines), tuple(operators))
            self.position += 2
            self._skip_newlines()
            operators.append(operator)
            pipelines.append(self._pipeline())

    def _pipeline(self) -> Pipeline:
        negated = False
        while True:
            self.skip_blanks()
            reserved = self._reserved()
            if reserved == "!":
                self.position += 1
                negated = not negated
            elif reserved == "time":
                self.position += 4
                self.skip_blanks()
                match = _TIME_OPTION.match(self.text, self.position)
                if match is not None:
                    self.position = match.end()
                    self.skip_blanks()
                if self.peek() in ("", "\n", ";", "&", ")"):
                    return Pipeline((Simple((), (), ()),), negated)
            else:
                break
        commands = [self._command()]
        while True:
            self.skip_blanks()
            if self.peek() != "|" or self.looking_at("||"):
                return Pipeline(tuple(commands), negated)
            self.position += 2 if self.looking_at("|&") else 1
            self._skip_newlines()
            if self._reserved() in ("!", "time"):
                raise self.fail("expected a command after |, found ! or time")
            commands.append(self._command())

    # --- commands

    def _reserved(self) -> str:
        """The reserved word at the cursor, or ""."""
        if self.position >= self.size or self.text[self.position] not in _FIRST_OF_RESERVED:
            return ""
        match = _RESERVED_TEXT.match(self.text, self.position)
        if match is None or match.group() not in _RESERVED:
            return ""
        end = match.end()
        if end == self.size or self.text[end] in META or self.text.startswith("\\\n", end):
            return match.group()
        return ""

    def _take(self, wanted: str) -> None:
        """Take this reserved word or character."""
        if wanted == ")":
            self._skip_newlines()
            found = self.peek()
        else:
            self._skip_newlines()
            found = self._reserved()
        if found != wanted:
            raise self.fail(f"expected {wanted!r}, found {found or self.peek() or 'the end'!r}")
        self.position += len(wanted)

    def _command(self) -> Command:
        self.skip_blanks()
        if self.position >= self.size:
            raise self.fail("expected a command, found the end")
        reserved = self._reserved()
        if not reserved:
            if self.peek() == "(":
                return self._parenthesis()
            match = _FUNCTION.match(self.text, self.position)
            if match is not None:
                self.position = match.end()
                return self._function(match.group(1))
            return self._simple()
        match reserved:
            case "{":
                self.position += 1
                body = self._body("}")
                self._take("}")
                return Group(body, self._redirections())
            case "if":
                return self._if()
            case "while" | "until":
                self.position += 5
                condition = self._body("do")
                body = self._do_group()
                return While(condition, body, self._redirections(), reserved == "until")
            case "for" | "select":
                return self._for(reserved)
            case "case":
                return self._case()
            case "[[":
                return self._condition()
            case "function":
                return self._function_keyword()
            case "coproc":
                return self._coprocess()
            case _:
                raise self.fail(f"expected a command, found {reserved!r}")

    def _parenthesis(self) -> Command:
        if self.looking_at("(("):
            start = self.position
            self.position += 2
            parts = self.arithmetic()
            if parts is not None:
                word = Word((Arithmetic(parts),), self.text[start : self.position])
                return Condition((word,), self._redirections(), is_arithmetic=True)
            self.position = start
        self.position += 1
        self.limits.enter()
        body = self.nested_script()
        self.limits.leave()
        if not body.lists:
            raise self.fail("expected a command in ( )")
        return Group(body, self._redirections(), is_subshell=True)

    def _if(self) -> Command:
        branches: list[tuple[Script, Script]] = []
        otherwise = None
        keyword = "if"
        while keyword in ("if", "elif"):
            self.position += len(keyword)
            condition = self._body("then")
            self._take("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            self._skip_newlines()
            keyword = self._reserved()
        if keyword == "else":
            self.position += 4
            otherwise = self._body("fi")
        self._take("fi")
        return If(tuple(branches), otherwise, self._redirections())

    def _do_group(self) -> Script:
        self._skip_newlines()
        opening, closing = ("{", "}") if self._reserved() == "{" else ("do", "done")
        self._take(opening)
        body = self._body(closing)
        self._take(closing)
        return body

    def _for(self, keyword: str) -> Command:
        self.position += len(keyword)
        self.skip_blanks()
        if keyword == "for" and self.looking_at("(("):
            self.position += 2
            parts = self.arithmetic()
            if parts is None:
                raise self.fail("expected )) after for ((")
            self._optional_semicolon()
            return ArithmeticFor(Arithmetic(parts), self._do_group(), self._redirections())
        match = NAME.match(self.text, self.position)
        if match is None or self.text[match.end() : match.end() + 1] not in ("", *META):
            raise self.fail("expected a name after for")
        self.position = match.end()
        self._skip_newlines()
        listed: list[Word] | None = None
        if self._reserved() == "in":
            self.position += 2
            self.skip_blanks()
            listed = []
            while self.peek() not in ("", ";", "\n"):
                listed.append(self.word())
                self.skip_blanks()
        self._optional_semicolon()
        body = self._do_group()
        chosen = None if listed is None else tuple(listed)
        return For(match.group(), chosen, body, self._redirections(), keyword == "select")

    def _optional_semicolon(self) -> None:
        self.skip_blanks()
        if self.peek() == ";":
            self.position += 1

    def _case(self) -> Command:
        self.position += 4
        self.skip_blanks()
        subject = self.word()
        self._take("in")
        items: list[tuple[tuple[Word, ...], Script]] = []
        while True:
            self._skip_newlines()
            if self._reserved() == "esac":
                self.position += 4
                return Case(subject, tuple(items), self._redirections())
            if self.peek() == "(":
                self.position += 1
            patterns = self._patterns()
            self.limits.enter()
            items.append((patterns, self._list((";;", "esac"))))
            self.limits.leave()
            self._skip_newlines()
            if self.looking_at(";;&"):
                self.position += 3
            elif self.looking_at(";;") or self.looking_at(";&"):
                self.position += 2
            elif self._reserved() != "esac":
                raise self.fail("expected ;; or esac")

    def _patterns(self) -> tuple[Word, ...]:
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            patterns.append(self.word())
            self.skip_blanks()
            found = self.peek()
            if found not in ("|", ")"):
                raise self.fail("expected | or ) after a pattern")
            self.position += 1
            if found == ")":
                return tuple(patterns)

    def _condition(self) -> Command:
        self.position += 2
        found: list[Word] = []
        before = ""
        while True:
            self._skip_newlines()
            char = self.peek()
            if char == "":
                raise self.fail("expected ]], found the end")
            if self.looking_at("]]") and (self.text[self.position + 2 : self.position + 3] in ("", *META)):
                self.position += 2
                return Condition(tuple(found), self._redirections())
            if self.looking_at("&&") or self.looking_at("||"):
                self.position += 2
                before = ""
            elif char in "()" or (char in "<>" and not self._at_process_substitution()):
                self.position += 1
                self.limits.spend(1)
            else:
                if before == "=~":
                    word = self.word(stop=" \t\n;&<>", allowed="()|")
                elif before in ("==", "=", "!="):
                    word = self.word(allowed="()|")
                else:
                    word = self.word()
                before = word.source
                found.append(word)

    def _function_keyword(self) -> Command:
        self.position += len("function")
        self.skip_blanks()
        name = self.word()
        if name.plain is None:
            raise self.fail("expected a plain name after function")
        self.skip_blanks()
        if self.peek() == "(":
            self.position += 1
            self.skip_blanks()
            if self.peek() != ")":
                raise self.fail("expected ) after (")
            self.position += 1
        return self._function(name.plain)

    def _function(self, name: str) -> Command:
        self._skip_newlines()
        if self._reserved() not in _BODIES and self.peek() != "(":
            raise self.fail("expected a compound command as the body of a function")
        self.limits.enter()
        body = self._command()
        self.limits.leave()
        return Function(name, body)

    def _coprocess(self) -> Command:
        self.position += len("coproc")
        self.skip_blanks()
        match = NAME.match(self.text, self.position)
        if match is not None and not self._reserved():
            start, self.position = self.position, match.end()
            self.skip_blanks()
            if self._reserved() not in _BODIES and self.peek() != "(":
                self.position = start
        self.limits.enter()
        body = self._command()
        self.limits.leave()
        return Coprocess(body)

    def _simple(self) -> Simple:
        text = self.text
        assignments: list[Assignment] = []
        found: list[Word] = []
        redirections: list[Redirection] = []
        declares = False
        self.limits.spend(3)
        while True:
            self.skip_blanks()
            char = self.peek()
            if char == "":
                break
            if char in "<>&0123456789{":
                match = _REDIRECTION.match(text, self.position)
                if match is not None:
                    redirections.append(self._redirection(match))
                    continue
            if char in "\n;&|)":
                break
            if char == "(":
                raise self.fail("expected a word, found '('")
            if not found or declares:
                assignment = self._assignment()
                if assignment is not None:
                    if found:
                        found.append(_declared(assignment))
                    else:
                        assignments.append(assignment)
                    continue
            word = self.word()
            if not found:
                declares = word.plain in _DECLARING
            found.append(word)
        if not (assignments or found or redirections):
            raise self.fail("expected a command")
        return Simple(tuple(assignments), tuple(found), tuple(redirections))

    def _assignment(self) -> Assignment | None:
        """The assignment at the cursor; None if the word there is none."""
        match = _ASSIGNED_NAME.match(self.text, self.position)
        if match is None:
            return None
        start = self.position
        self.position = match.end()
        operator = match.group(2)
        index = None
        if operator == "[":
            index = self.subscript()
            operator = "+=" if self.looking_at("+=") else "="
            if index is None or not self.looking_at(operator):
                self.position = start
                return None
            self.position += len(operator)
        value: Word | None = None
        if self.peek() == "(":
            value = self._array()
        elif self.peek() and (self.peek() not in META or self._at_process_substitution()):
            value = self.word()
        return Assignment(match.group(1), value, operator == "+=", index)

    def _array(self) -> Word:
        start = self.position
        self.position += 1
        elements: list[Word] = []
        while True:
            self._skip_newlines()
            if self.peek() == ")":
                self.position += 1
                return Word((ArrayValue(tuple(elements)),), self.text[start : self.position])
            if self.peek() == "":
                raise self.fail("expected ) after an array, found the end")
            elements.append(self.word())

    # --- redirections and here-documents

    def _redirections(self) -> tuple[Redirection, ...]:
        """Those after a compound command."""
        found: list[Redirection] = []
        while True:
            self.skip_blanks()
            match = _REDIRECTION.match(self.text, self.position)
            if match is None:
                return tuple(found)
            found.append(self._redirection(match))

    def _redirection(self, match: re.Match[str]) -> Redirection:
        descriptor, operator = match.group(1) or "", match.group(2)
        self.limits.spend(1)
        self.position = match.end()
        if operator in ("<<", "<<-"):
            while self.peek() in (" ", "\t"):
                self.position += 1
            document = self._delimiter(strips_tabs=operator == "<<-")
            self._documents.append(document)
            return Redirection("<<", None, document, descriptor)
        self.skip_blanks()
        return Redirection(operator, self.word(), None, descriptor)

    def _delimiter(self, *, strips_tabs: bool) -> HereDocument:
        """The delimiter of a here-document: quotes are removed, nothing is expanded."""
        word = self.word()
        if not all(isinstance(part, Literal) for part in word.parts) or "$" in word.source:
            raise self.fail("expected a plain delimiter of a here-document")
        text = "".join(part.text for part in word.parts if isinstance(part, Literal))
        quoted = any(mark in word.source for mark in "'\"\\")
        if "\n" in text or "\\\n" in word.source:
            raise self.fail("expected a delimiter of a here-document on one line")
        return HereDocument(text, quoted, strips_tabs)

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for document in documents:
            lines = self._document_lines(document)
            body = "".join(lines)
            if document.quoted or not any(mark in body for mark in "$`\\"):
                document.body = Word((Literal(body, True),), body, body)
            else:
                document.body = Word(self._document_parts(body), body)

    def _document_lines(self, document: HereDocument) -> list[str]:
        lines: list[str] = []
        while True:
            if self.position >= self.size:
                raise self.fail(f"expected the end of the here-document {document.delimiter!r}")
            line = self._line()
            while not document.quoted and _is_continued(line) and self.position < self.size:
                line = line[:-2] + self._line()
            if document.strips_tabs:
                line = line.lstrip("\t")
            self.limits.spend(1 + len(line) // 64)
            if line.removesuffix("\n") == document.delimiter:
                return lines
            lines.append(line)

    def _line(self) -> str:
        end = self.text.find("\n", self.position)
        end = self.size if end < 0 else end + 1
        line, self.position = self.text[self.position : end], end
        return line

    def _document_parts(self, body: str) -> tuple[Part, ...]:
        reader = Parser(body, self.limits)
        self.limits.enter()
        parts = reader.document_parts()
        self.limits.leave()
        return parts

    def document_parts(self) -> tuple[Part, ...]:
        """The whole text as the body of an unquoted here-document."""
        parts: list[Part] = []
        while self.position < self.size:
            marks = [found for mark in "$`\\" if (found := self.text.find(mark, self.position)) >= 0]
            end = min(marks, default=self.size)
            self.limits.spend(1 + (end - self.position) // 64)
            if end > self.position:
                parts.append(Literal(self.text[self.position : end], True))
                self.position = end
            if end < self.size:
                parts.extend(self.quoted_special(self.text[end], "$`\\\n"))
        return tuple(parts)


def _declared(assignment: Assignment) -> Word:
    """`name=value` as an argument of export and its kin."""
    sign = "+=" if assignment.appends else "="
    value = assignment.value or Word((), "")
    subscript: tuple[Part, ...] = ()
    if assignment.subscript is not None:
        subscript = (Arithmetic(assignment.subscript.parts),)
    source = f"{assignment.name}{sign}{value.source}"
    plain = None if value.plain is None or subscript else source
    head, *rest = value.parts or (Literal("", True),)
    name = f"{assignment.name}{sign}"
    if isinstance(head, Literal) and not head.quoted and not subscript:
        parts: list[Part] = [Literal(name + head.text), *rest]
    else:
        parts = [Literal(name, True), *subscript, head, *rest]
    return Word(tuple(map(_unsplit, parts)), source, plain)


def _unsplit(part: Part) -> Part:
    """An assigned value is not split, wherever it stands."""
    if isinstance(part, (Parameter, Substitution)):
        return part._replace(quoted=True)
    return part


def _is_continued(line: str) -> bool:
    if not line.endswith("\\\n"):
        return False
    text = line[:-1]
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1

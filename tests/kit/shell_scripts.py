"""Random shell scripts whose every command is harmless: its name is a marker that no program has."""

from __future__ import annotations

import random
from collections.abc import Callable

_LITERALS = [
    "a",
    "x1",
    "/p",
    "-f",
    "é",
    "=",
    "b.c",
    "@",
    "%",
    "+",
    "^",
    "~x",
    "{",
    "}",
    "a{b",
    "!",
    "[x",
    "x]",
    "#y",
    "-",
    "*",
    "?",
    "a=b",
    "~/q",
    "in",
    "do",
    "]]",
    "1",
    "\r",
]
_SINGLE = ["a b", "$x", '"', "", "\\", "#", "x;y", "`", "\n", "{a,b}", "*", "~", "$(m0)"]
_DOUBLE = ["a b", "\\$x", "'", "", "\\\\", "#", "x;y", "\\`", "\\a", "\n", "{a,b}", "a\\\nb", "~", "*", "!"]
_ESCAPED = [" ", "$", '"', "'", "\\", "z", "#", ";", "&", "|", "(", "<", "\n", "*", "{", "~"]
_ANSI = ["\\n", "\\x41", "a\\tb", "\\'", "\\101", "\\u00e9", "\\\\", "\\x72m", "a\\0b", "\\cA"]
_BRACES = [
    "{a,b}",
    "{x,y}z",
    "{1..3}",
    "{a..c}",
    "{01..3}",
    "{a,{b,c}}",
    "{,x}",
    "{a,'b c'}",
    "{a}",
    "{3..1..2}",
]
_KNOWN = [
    "$HOME",
    '"$X"',
    "$X",
    "${X:-y}",
    '"${X}"',
    "${NO:-d}",
    '"${NO-d e}"',
    "${X%v}",
    "${X+alt}",
    "$NO",
    '"$NO"',
    "${#X}",
    "$TWO",
    '"$TWO"',
    "${TWO#a}",
]
_UNKNOWN = ["$((1+2))", '"${#TWO}"', "$?", "$$", "$#", "${X/v/w}", "${X:0:1}", '"$((2*(3+1)))"']
_REDIRECTIONS = [
    ">/dev/null",
    "2>&1",
    "</dev/null",
    "&>/dev/null",
    ">>/dev/null",
    "2>/dev/null",
    "<<<hs",
    '<<<"a b"',
    ">&2",
    "2>&-",
    "{fd}>/dev/null",
    "3</dev/null",
]

ENVIRONMENT = {"HOME": "/vr-home", "X": "v", "TWO": "a b", "LC_ALL": "C.UTF-8", "PATH": "/nonexistent"}
"""The variables that the scripts see: the values of `$X` and its kin, and a PATH that finds nothing."""


class Scripts:
    """A stream of scripts from one seed. Marker names are never used twice, so a trace names its script."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._count = 0
        self._functions = 0

    def next(self) -> str:
        return self._script(2)

    def _marker(self) -> str:
        self._count += 1
        return f"m{self._count}"

    def _pick(self, *choices: str) -> str:
        return self._chance.choice(choices)

    def _word(self) -> str:
        return "".join(self._piece() for _ in range(self._chance.choice([1, 1, 1, 2, 3]))).lstrip("#") or "w"

    def _piece(self) -> str:
        chance = self._chance
        kind = chance.random()
        if kind < 0.3:
            return chance.choice(_LITERALS)
        if kind < 0.42:
            return f"'{chance.choice(_SINGLE)}'"
        if kind < 0.54:
            return f'"{chance.choice(_DOUBLE)}"'
        if kind < 0.62:
            return "\\" + chance.choice(_ESCAPED)
        if kind < 0.7:
            return f"$'{chance.choice(_ANSI)}'"
        if kind < 0.73:
            return '$"' + self._pick("a", "b c") + '"'
        if kind < 0.8:
            return chance.choice(_BRACES)
        if kind < 0.88:
            return chance.choice(_KNOWN)
        return self._pick("k", "v9", "_", "\\\n")

    def _name(self) -> str:
        marker = self._marker()
        number = marker[1:]
        if self._chance.random() < 0.15:
            return self._pick(
                f'"m{number}"',
                f"m\\{number[0]}{number[1:]}",
                f"'m'{number}",
                f"$'\\x6d'{number}",
                f"{{m{number},q}}",
                f"m\\\n{number}",
                f"$NO m{number}",
                f"m{number}$NO",
            )
        return marker

    def _simple(self, depth: int) -> str:
        chance = self._chance
        parts = [self._name()]
        for _ in range(chance.randint(0, 3)):
            parts.append(self._argument(depth))
        if chance.random() < 0.1:
            parts.insert(
                0, self._pick("A=1", 'B="x y"', f"C=$({self._marker()})", f"a[$({self._marker()})]=1")
            )
        if chance.random() < 0.15:
            parts.insert(chance.randint(1, len(parts)), chance.choice(_REDIRECTIONS))
        if chance.random() < 0.05:
            parts.append(f'>"$({self._marker()})/dev/null"')
        return self._pick(" ", " ", "  ", " \\\n ", "\t").join(parts)

    def _argument(self, depth: int) -> str:
        kind = self._chance.random()
        if depth > 0 and kind < 0.12:
            return f"$({self._script(depth - 1)})"
        if depth > 0 and kind < 0.18:
            return f'"q $({self._script(depth - 1)}) r"'
        if depth > 0 and kind < 0.22:
            return f"<({self._script(depth - 1)})"
        if depth > 0 and kind < 0.26:
            inner = self._script(0)
            return "w" if "`" in inner or "\\" in inner else f"`{inner}`"
        if kind < 0.29:
            return f"${{NO:-$({self._marker()})}}"
        if kind < 0.31:
            return f"$(( 1 + $({self._marker()}; echo 1) ))"
        if kind < 0.35:
            return self._chance.choice(_UNKNOWN)
        return self._word()

    def _command(self, depth: int) -> str:
        makers: list[Callable[[int], str]] = [
            self._subshell,
            self._group,
            self._if,
            self._for,
            self._case,
            self._function,
            self._eval,
            self._condition,
            self._negated,
            self._document,
            self._loop,
            self._known_variable,
            self._wrapped,
            self._builtin,
            self._arithmetic,
            self._shell_text,
            self._arguments,
        ]
        if depth <= 0 or self._chance.random() < 0.4:
            return self._simple(depth)
        return self._chance.choice(makers)(depth)

    def _subshell(self, depth: int) -> str:
        return f"({self._script(depth - 1)})" + self._pick("", "", " 2>/dev/null")

    def _group(self, depth: int) -> str:
        return f"{{ {self._script(depth - 1)}\n}}" + self._pick("", "", " >/dev/null", " <<<x")

    def _if(self, depth: int) -> str:
        end = self._pick(
            "", f"\nelse {self._script(depth - 1)}", f"\nelif {self._simple(0)}; then {self._simple(0)}"
        )
        return f"if {self._simple(0)}; then {self._script(depth - 1)}{end}\nfi"

    def _for(self, depth: int) -> str:
        if self._chance.random() < 0.3:
            return f"for ((i=0;i<2;i++)); do {self._script(depth - 1)}\ndone"
        words = " ".join(self._word() for _ in range(2))
        body = self._pick(self._script(depth - 1), f'{self._marker()} "$i" $i')
        return f"for i in {words}; do {body}\ndone"

    def _case(self, depth: int) -> str:
        subject = self._pick("x", '"$X"', "a")
        pattern = self._pick("x) ", "(x|y) ", "*) ", "'a b'|v) ", "[a-z]) ")
        end = self._pick("\n;;", "\n;;", "\n;& *) " + self._simple(0) + ";;", "\n")
        return f"case {subject} in {pattern}{self._script(depth - 1)}{end} esac"

    def _function(self, depth: int) -> str:
        self._functions += 1
        name = f"f{self._functions}"
        head = self._pick(f"{name}()", f"function {name}", f"{name} ( )")
        body = self._pick(f"{{ {self._script(depth - 1)}\n}}", f'{{ {self._marker()} "$@" $1 "$2"; }}')
        return f"{head} {body}\n{name} {self._word()} {self._word()}"

    def _eval(self, depth: int) -> str:
        return "eval '" + self._simple(0).replace("'", "'\\''") + "'"

    def _condition(self, depth: int) -> str:
        return "[[ -n " + self._pick("x", '"a b"', f"$({self._marker()})") + " && a == b* ]]"

    def _negated(self, depth: int) -> str:
        return self._pick("! ", "time ", "! ! ") + self._simple(depth - 1)

    def _document(self, depth: int) -> str:
        start = self._pick("<<'E'", "<<E", "<<-E", '<<"E"', "<<\\E")
        after = self._pick("", "", f" | {self._simple(0)}", f" && {self._simple(0)}")
        body = f"x -rf $({self._marker()} x)\n it's \"\n\t# y `{self._marker()}`\n"
        return f"{self._marker()} {start}{after}\n{body}E\n{self._simple(0)}"

    def _loop(self, depth: int) -> str:
        keyword = self._pick("while", "until")
        return f"{keyword} {self._simple(0)}; do {self._simple(0)}; break; done"

    def _known_variable(self, depth: int) -> str:
        self._functions += 1
        name = f"V{self._functions}"
        value = self._word()
        set_it = self._pick(f"{name}={value}", f"export {name}={value}", f"local={value} {name}={value}")
        return f'{set_it}\n{self._marker()} ${name} "${name}"' + self._pick("", f"; ${name} z")

    def _wrapped(self, depth: int) -> str:
        wrapper = self._pick("command", "builtin command", "eval", "exec", "command --")
        text = f"{wrapper} {self._marker()} {self._pick('a', '-x', '/p')}"
        return f"({text})" if wrapper == "exec" else text

    def _builtin(self, depth: int) -> str:
        return self._pick("echo", "true", "builtin true;", "printf '%s'") + " " + self._argument(depth - 1)

    def _arithmetic(self, depth: int) -> str:
        return f"(( $({self._marker()}; echo 1) + ({self._pick('1', '2*(3)')}) ))"

    def _shell_text(self, depth: int) -> str:
        return f"trap '{self._marker()} a; {self._marker()}' EXIT"

    def _arguments(self, depth: int) -> str:
        words = " ".join(self._word() for _ in range(2))
        return f'set -- {words}\n{self._marker()} "$@" $#\nshift; {self._marker()} $* "$1"'

    def _script(self, depth: int) -> str:
        text = self._command(depth)
        for _ in range(self._chance.choice([0, 0, 1, 2])):
            following = self._command(depth)
            joint = self._pick("; ", " && ", " || ", " | ", "\n", " |& ", " & ", " # c\n")
            text += following if text.endswith("\n") else joint + following
        return text

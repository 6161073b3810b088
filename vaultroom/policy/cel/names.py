"""The names an expression may use, and what to say about one that it may not."""

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from vaultroom.policy.cel.fields import FIELDS

MACROS: Final = frozenset({"exists", "all", "exists_one", "filter", "map"})
METHODS: Final[Mapping[str, int]] = MappingProxyType(
    {"startsWith": 1, "endsWith": 1, "contains": 1, "matches": 1, "size": 0}
)
"""Methods, and the number of arguments they take."""
FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(
    {"size": 1, "matches": 2, "string": 1, "int": 1, "double": 1, "bool": 1, "type": 1, "dyn": 1}
)
"""Functions, and the number of arguments they take. `has` is not one: it never evaluates its argument."""
RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)

_WORD_OPERATORS: Final = {
    "and": "write && for 'and'",
    "or": "write || for 'or'",
    "not": "write ! for 'not'",
    "is": "write == to compare",
    "equals": "write == to compare",
    "like": "write .matches(…) or .startsWith(…)",
    "None": "write null",
    "nil": "write null",
    "undefined": "write has(…) to ask whether something is there",
    "True": "write true",
    "False": "write false",
    "TRUE": "write true",
    "FALSE": "write false",
}
_OTHER_LANGUAGES: Final = {
    "len": "size",
    "length": "size",
    "count": "size",
    "startswith": "startsWith",
    "endswith": "endsWith",
    "includes": "contains",
    "any": "exists",
    "some": "exists",
    "every": "all",
    "match": "matches",
    "regex": "matches",
    "str": "string",
    "float": "double",
}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing when no known name is close."""
    candidates = list(known)
    by_folded_case = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name[:64].lower(), by_folded_case, n=1, cutoff=0.6)
    return f"; did you mean {by_folded_case[close[0]]!r}?" if close else ""


def unexpected_word(word: str, shown: str) -> str:
    """The message for a token where the expression should have ended or gone on with an operator."""
    advice = _WORD_OPERATORS.get(word)
    if advice:
        return f"unexpected {shown}: {advice}"
    return f"expected an operator or the end of the expression, found {shown}"


def unknown_variable(name: str, variables: Iterable[str]) -> str:
    """The message for a name that stands for nothing."""
    message = f"there is no variable {name!r}"
    if name in FIELDS:
        return f"{message}; did you mean event.{name}?"
    if name in _WORD_OPERATORS:
        return f"{message}: {_WORD_OPERATORS[name]}"
    close = did_you_mean(name, ("event", *variables, "true", "false", "null"))
    if not close:
        field = difflib.get_close_matches(name[:64].lower(), list(FIELDS), n=1, cutoff=0.75)
        close = f"; did you mean event.{field[0]}?" if field else ""
    return message + (close or "; an expression speaks about event.NAME")


def unknown_function(name: str, known: Iterable[str], elsewhere: Iterable[str]) -> str:
    """The message for a function or method that does not exist; `elsewhere` are those of the other form."""
    message = f"there is no function {name!r}"
    known = list(known)
    translated = _OTHER_LANGUAGES.get(name)
    if translated in known:
        return f"{message}; did you mean {translated!r}?"
    if name in elsewhere:
        form = f"value.{name}(…)" if name in METHODS or name in MACROS else f"{name}(…)"
        return f"{message} here; write {form}"
    return message + did_you_mean(name, known)

"""Tokens to a syntax tree: one method per line of the CEL grammar, with the names and messages of our subset.

Fields, functions, macros and variables are looked up here, so that every name in the tree is known. Types are
the business of `checker.py`. Entry point: `parse`.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from vaultroom.policy.cel.ast import (
    And,
    Arithmetic,
    Call,
    Compare,
    Conditional,
    Field,
    Has,
    HasField,
    In,
    Index,
    ListLiteral,
    Literal,
    Logic,
    Macro,
    MapLiteral,
    Negate,
    Node,
    Not,
    Or,
    Select,
    TypeName,
    Variable,
)
from vaultroom.policy.cel.errors import CelCompileError, compile_error
from vaultroom.policy.cel.fields import FIELDS
from vaultroom.policy.cel.limits import CHAINED_LOGIC, CHAINED_OPERATORS, DEPTH, NESTED_MACROS
from vaultroom.policy.cel.names import (
    FUNCTIONS,
    MACROS,
    METHODS,
    RESERVED,
    did_you_mean,
    unexpected_word,
    unknown_function,
    unknown_variable,
)
from vaultroom.policy.cel.tokens import Token, TokenKind, tokenize
from vaultroom.policy.cel.types import Type
from vaultroom.policy.cel.values import INT_LIMIT, INT_MIN, TYPE_NAMES

_PRECEDENCE: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_COMPARISON: Final = 3
_Item = TypeVar("_Item")


def parse(source: str) -> Node:
    """The syntax tree of `source`. Raises CelCompileError."""
    parser = _Parser(source)
    try:
        tree = parser.whole()
    except RecursionError:
        raise compile_error(source, 0, "the expression is nested too deeply") from None
    _check_depth(source, tree)
    return tree


def _check_depth(source: str, tree: Node) -> None:
    """Bound the depth of the tree, which every later walk recurses into; parentheses alone do not count."""
    pending = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > DEPTH:
            raise compile_error(source, node.at, f"expected at most {DEPTH} levels of nesting")
        pending.extend((child, depth + 1) for child in node.children)


class _Parser:
    """Recursive descent with precedence climbing over one expression."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = tokenize(source)
        self._tokens.append(self._tokens[-1])  # so that looking one ahead is always possible
        self._position = 0
        self._nesting = 0
        self._variables: list[str] = []

    def whole(self) -> Node:
        tree = self._expression()
        token = self._peek()
        if token.kind is not TokenKind.END:
            raise self._error(token, unexpected_word(token.text, token.shown))
        return tree

    # -- tokens ----------------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[self._position + ahead]

    def _next(self) -> Token:
        token = self._peek()
        if token.kind is not TokenKind.END:
            self._position += 1
        return token

    def _at(self, *operators: str, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return token.kind is TokenKind.OPERATOR and token.text in operators

    def _expect(self, operator: str) -> Token:
        token = self._peek()
        if not self._at(operator):
            raise self._error(token, f"expected {operator!r}, found {token.shown}" + _word_advice(token))
        return self._next()

    @property
    def _end(self) -> int:
        """Where the last token read ends."""
        return self._tokens[self._position - 1].end if self._position else 0

    def _error(self, token: Token, message: str) -> CelCompileError:
        return compile_error(self._source, token.start, message)

    # -- operators -------------------------------------------------------------------------------------------

    def _expression(self) -> Node:
        self._nesting += 1
        if self._nesting > DEPTH:
            raise self._error(self._peek(), f"expected at most {DEPTH} levels of nesting")
        start = self._peek().start
        node = self._binary(1)
        if self._at("?"):
            question = self._next()
            then = self._expression()
            self._expect(":")
            otherwise = self._expression()
            node = Conditional(node, then, otherwise, at=question.start, start=start, end=self._end)
        self._nesting -= 1
        return node

    def _binary(self, lowest: int) -> Node:
        start = self._peek().start
        left = self._unary()
        chained = 0
        while True:
            token = self._peek()
            level = _PRECEDENCE.get(token.text, 0) if token.kind is TokenKind.OPERATOR else 0
            if level < lowest:
                return left
            self._next()
            right = self._binary(level + 1)
            if token.text in ("&&", "||"):
                left = self._joined(And if token.text == "&&" else Or, token, left, right, start)
                continue
            chained += 1
            if chained > CHAINED_OPERATORS:
                raise self._error(token, f"expected at most {CHAINED_OPERATORS} operators in a row")
            left = self._operation(token, left, right, start, level)

    def _operation(self, token: Token, left: Node, right: Node, start: int, level: int) -> Node:
        if token.text == "in":
            return In(left, right, at=token.start, start=start, end=self._end)
        kind = Compare if level == _COMPARISON else Arithmetic
        return kind(token.text, left, right, at=token.start, start=start, end=self._end)

    def _joined(self, kind: type[And] | type[Or], token: Token, left: Node, right: Node, start: int) -> Logic:
        """`left` and `right` as one node of flat terms; its position is that of the first operator."""
        terms = (*_terms(kind, left), *_terms(kind, right))
        if len(terms) > CHAINED_LOGIC:
            raise self._error(token, f"expected at most {CHAINED_LOGIC} terms joined by {token.text}")
        at = left.at if type(left) is kind else token.start
        return kind(terms, at=at, start=start, end=self._end)

    def _unary(self) -> Node:
        first = self._peek()
        if not self._at("!", "-"):
            return self._member(self._primary())
        operators = []
        while self._at(first.text):
            operators.append(self._next())
            if len(operators) > CHAINED_OPERATORS:
                raise self._error(first, f"expected at most {CHAINED_OPERATORS} operators in a row")
        negative = first.text == "-" and self._is_number(self._peek())
        if negative:
            minus = operators.pop()
            node = self._member(self._number(minus))
        else:
            node = self._member(self._primary())
        kind = Not if first.text == "!" else Negate
        for operator in reversed(operators):
            node = kind(node, at=operator.start, start=operator.start, end=self._end)
        return node

    def _member(self, node: Node) -> Node:
        """`node` with the selections, calls and indexes that follow it."""
        for _ in range(CHAINED_OPERATORS):
            if self._at("."):
                self._next()
                node = self._dotted(node)
            elif self._at("["):
                bracket = self._next()
                index = self._expression()
                self._expect("]")
                node = Index(node, index, at=bracket.start, start=node.start, end=self._end)
            else:
                return node
        if self._at(".", "["):
            raise self._error(self._peek(), f"expected at most {CHAINED_OPERATORS} selections in a row")
        return node

    def _dotted(self, node: Node) -> Node:
        name = self._next()
        if name.kind is not TokenKind.NAME:
            advice = (
                f'; write ["{name.text}"] for this key'
                if name.text in ("in", "true", "false", "null")
                else ""
            )
            raise self._error(name, f"expected a name after '.', found {name.shown}{advice}")
        if not self._at("("):
            return Select(node, name.text, at=name.start, start=node.start, end=self._end)
        if name.text in MACROS:
            return self._macro(node, name)
        if name.text not in METHODS:
            raise self._error(name, unknown_function(name.text, (*METHODS, *MACROS), FUNCTIONS))
        arguments = self._arguments(name, METHODS[name.text])
        return Call(name.text, (node, *arguments), at=name.start, start=node.start, end=self._end)

    # -- what a member starts with ---------------------------------------------------------------------------

    def _primary(self) -> Node:
        token = self._peek()
        if token.kind is TokenKind.INTEGER:
            return self._number()
        if token.kind is TokenKind.LITERAL:
            self._next()
            return Literal(token.value, token.type, at=token.start, start=token.start, end=token.end)
        if token.kind is TokenKind.NAME:
            return self._name()
        if self._at("("):
            self._next()
            node = self._expression()
            self._expect(")")
            return node
        if self._at("["):
            return self._list()
        if self._at("{"):
            return self._map()
        raise self._error(token, f"expected a value, found {token.shown}")

    @staticmethod
    def _is_number(token: Token) -> bool:
        return token.kind is TokenKind.INTEGER or (
            token.kind is TokenKind.LITERAL and token.type is Type.DOUBLE
        )

    def _number(self, minus: Token | None = None) -> Literal:
        token = self._next()
        value = token.value if minus is None else -token.value
        start = token.start if minus is None else minus.start
        if token.kind is TokenKind.INTEGER and not INT_MIN <= value < INT_LIMIT:
            raise self._error(token, f"the number {token.text} is too large for an int")
        return Literal(value, token.type, at=start, start=start, end=token.end)

    def _name(self) -> Node:
        token = self._next()
        name, extent = token.text, {"at": token.start, "start": token.start, "end": token.end}
        if self._at("("):
            return self._function(token)
        if name == "event":
            return self._field(token)
        if name in self._variables:
            return Variable(name, **extent)
        if name in RESERVED:
            raise self._error(token, f"{name!r} is a reserved word of CEL")
        if name in TYPE_NAMES:
            return TypeName(name, **extent)
        raise self._error(token, unknown_variable(name, self._variables))

    def _field(self, event: Token) -> Field:
        if not self._at("."):
            advice = "; write event.NAME" + (" instead of event[…]" if self._at("[") else "")
            raise self._error(event, f"'event' is not a value by itself{advice}")
        self._next()
        name = self._next()
        if name.kind is not TokenKind.NAME:
            raise self._error(name, f"expected a field of the event after '.', found {name.shown}")
        if name.text not in FIELDS:
            raise self._error(name, f"the event has no field {name.text!r}" + did_you_mean(name.text, FIELDS))
        return Field(name.text, at=name.start, start=event.start, end=name.end)

    def _function(self, name: Token) -> Node:
        if name.text == "has":
            return self._has(name)
        if name.text not in FUNCTIONS:
            raise self._error(name, unknown_function(name.text, (*FUNCTIONS, "has"), (*METHODS, *MACROS)))
        arguments = self._arguments(name, FUNCTIONS[name.text])
        return Call(name.text, arguments, at=name.start, start=name.start, end=self._end)

    def _has(self, name: Token) -> Node:
        (operand,) = self._arguments(name, 1)
        if isinstance(operand, Field):
            return HasField(operand.name, at=name.start, start=name.start, end=self._end)
        if isinstance(operand, Select):
            return Has(operand.operand, operand.key, at=name.start, start=name.start, end=self._end)
        raise self._error(name, "has() needs a selection such as event.tool_args.name")

    def _arguments(self, name: Token, expected: int) -> tuple[Node, ...]:
        self._expect("(")
        arguments = self._items(")", self._expression)
        if len(arguments) != expected:
            wanted = f"{expected} argument" + ("" if expected == 1 else "s")
            raise self._error(name, f"{name.text}() takes {wanted}, found {len(arguments)}")
        return tuple(arguments)

    def _items(self, closing: str, item: Callable[[], _Item]) -> list[_Item]:
        """What `item` reads, separated by commas, up to and with `closing`; lists and maps may end in a
        comma.
        """
        items: list[_Item] = []
        while not self._at(closing):
            items.append(item())
            if not self._at(","):
                break
            comma = self._next()
            if closing == ")" and self._at(closing):
                raise self._error(comma, "expected another argument after ','")
        self._expect(closing)
        return items

    def _list(self) -> ListLiteral:
        bracket = self._next()
        items = self._items("]", self._expression)
        return ListLiteral(tuple(items), at=bracket.start, start=bracket.start, end=self._end)

    def _map(self) -> MapLiteral:
        brace = self._next()
        entries = self._items("}", self._entry)
        return MapLiteral(tuple(entries), at=brace.start, start=brace.start, end=self._end)

    def _entry(self) -> tuple[Node, Node]:
        key = self._expression()
        self._expect(":")
        return key, self._expression()

    # -- macros ----------------------------------------------------------------------------------------------

    def _macro(self, source: Node, name: Token) -> Macro:
        self._expect("(")
        variable = self._peek()
        if variable.kind is not TokenKind.NAME or not self._at(",", ahead=1):
            raise self._error(
                variable, f'{name.text}() needs a variable and a condition, such as {name.text}(a, a == "x")'
            )
        if variable.text in RESERVED or variable.text == "event":
            raise self._error(variable, f"{variable.text!r} cannot be the name of a variable")
        if len(self._variables) >= NESTED_MACROS:
            raise self._error(name, f"expected at most {NESTED_MACROS} macros inside each other")
        self._next()
        self._next()
        self._variables.append(variable.text)
        body = [self._expression()]
        if name.text == "map" and self._at(","):
            self._next()
            body.append(self._expression())
        self._expect(")")
        self._variables.pop()
        transform = body[-1] if name.text == "map" else None
        predicate = body[0] if name.text != "map" or len(body) > 1 else None
        return Macro(
            name.text,
            source,
            variable.text,
            predicate,
            transform,
            at=name.start,
            start=source.start,
            end=self._end,
        )


def _terms(kind: type[Logic], node: Node) -> tuple[Node, ...]:
    return node.terms if isinstance(node, Logic) and type(node) is kind else (node,)


def _word_advice(token: Token) -> str:
    return {"and": "; write && for 'and'", "or": "; write || for 'or'"}.get(token.text, "")

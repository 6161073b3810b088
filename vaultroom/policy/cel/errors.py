"""What can go wrong with an expression, and where: the errors of this package, and offsets as line and
column.
"""

from typing import Final


class CelError(Exception):
    """An expression that cannot be used.

    `message` is one sentence for a person; `line` and `column` are 1-based and count characters, as an editor
    does.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message: Final = message
        self.line: Final = line
        self.column: Final = column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class CelCompileError(CelError):
    """The text is not an expression of the supported language. Raised while a policy is loaded.

    `index` is the position of the failing source in the sequence given to `compile_all` (0 for
    `compile_program`).
    """

    index: int = 0


class CelEvalError(CelError):
    """The expression has no boolean value for this event. Whoever judges must treat that as a deny."""


def line_and_column(source: str, offset: int) -> tuple[int, int]:
    """The 1-based line and column of the character at `offset`; the end of the text is one past the last."""
    line_start = source.rfind("\n", 0, offset) + 1
    return source.count("\n", 0, offset) + 1, offset - line_start + 1


def compile_error(source: str, offset: int, message: str) -> CelCompileError:
    """A compile error at `offset` of `source`."""
    return CelCompileError(message, *line_and_column(source, offset))

"""CEL, the language of conditions in a policy: compiled once, judged in microseconds, never hung by an agent.

The semantics are those of the CEL specification for the supported subset (literals, lists, maps, all
operators, `has()`, the macros exists, all, exists_one, filter and map, and the functions in `names.py`), on a
typed event (`fields.py`). What may be called from outside is listed here; `second_opinion` is imported by
itself, since it loads another CEL library.

The way of an expression: `tokens` → `parser` → `ast` → `checker` → `codegen` (fast path) and `interpreter`
(exact), held together by `program`. `necessary` and `failing` read the tree for the engine and the linter.
"""

from vaultroom.policy.cel.errors import CelCompileError, CelError, CelEvalError
from vaultroom.policy.cel.fields import FIELDS, zero_view
from vaultroom.policy.cel.program import Program, compile_all, compile_program

__all__ = [
    "FIELDS",
    "CelCompileError",
    "CelError",
    "CelEvalError",
    "Program",
    "compile_all",
    "compile_program",
    "zero_view",
]

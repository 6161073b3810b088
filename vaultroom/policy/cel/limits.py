"""The bounds that keep one expression cheap, whatever its author or the agent does. Each has a test."""

from typing import Final

SOURCE_CHARACTERS: Final = 8_192
"""Length of an expression."""
DEPTH: Final = 64
"""How deep the syntax tree may be. `a || b || c` is one level; `a + b + c` is two."""
CHAINED_OPERATORS: Final = 64
"""Operators in a row on one level: `a + b + …`, `a.b.c…`, `!!!…`."""
CHAINED_LOGIC: Final = 512
"""Terms of one `||` or `&&`: a single flat node, so that a long list of alternatives costs no depth."""
NESTED_MACROS: Final = 2
"""Macros inside macros."""
ITERATIONS: Final = 5_000
"""Elements that all macros of one evaluation visit together."""
VALUE_BYTES: Final = 1 << 20
"""Characters, bytes and elements that all concatenations of one evaluation build together."""
PATTERN_CHARACTERS: Final = 1_024
"""Length of a regular expression that is computed from the event (a literal one is bounded by the source)."""

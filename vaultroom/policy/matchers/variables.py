"""`$NAME` and `${NAME}` in paths (design section 6: they expand in paths only)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))?", re.ASCII)


def expand_variables(text: str, environ: Mapping[str, str], *, quote: Callable[[str], str]) -> str:
    """`text` with its variables replaced; each value goes through `quote`.

    Raises ValueError for a variable that is unset or empty (an empty one would turn `$DIR/**` into `/**`)
    and for a dollar sign that names none. A dollar sign in a class, `[$]`, is left alone.
    """
    if "$" not in text:
        return text

    def value_of(found: re.Match[str]) -> str:
        if found.start() and text[found.start() - 1] == "[" and text[found.end() : found.end() + 1] == "]":
            return found.group()
        name = found.group(1) or found.group(2)
        if name is None:
            raise ValueError(f"expected $NAME or ${{NAME}}, or [$] for a dollar sign, in {text!r}")
        value = environ.get(name, "")
        if not value:
            raise ValueError(f"expected the environment variable {name} to be set, it is unset or empty")
        return quote(value)

    return _VARIABLE.sub(value_of, text)

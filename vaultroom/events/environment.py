"""The environment of an act: readable while it is judged, impossible to write down.

Environments hold secrets. This type has no representation that shows a value and refuses to be
pickled, copied into JSON or iterated by a generic serialiser (design, law 8).
"""

from __future__ import annotations

from typing import NoReturn


class Environment:
    """Names and values that never leave memory."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def matching(self, prefix: str) -> frozenset[str]:
        """The names that begin with `prefix`, without their values."""
        return frozenset(name for name in self._values if name.startswith(prefix))

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Environment of {len(self._values)} variables>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an environment cannot be serialised")

    def __iter__(self) -> NoReturn:
        raise TypeError("an environment cannot be listed")


NO_ENVIRONMENT = Environment()

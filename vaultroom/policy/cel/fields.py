"""The event as CEL sees it: a typed message. Each declared field always has a value, at least its zero value.

So `event.host == "x"` on a shell event is false, not an error, and `has(event.host)` means "is not the zero
value". Only the content of `tool_args` is untyped and can be missing; a field that is not listed here is a
compile error. The functions here touch nothing else; loaders, lint rules and the editor's completion may call
them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from vaultroom.policy.cel.types import Type

FIELDS: Final[Mapping[str, Type]] = MappingProxyType(
    {
        "action": Type.STRING,
        "source": Type.STRING,
        "cmd": Type.STRING,
        "raw": Type.STRING,
        "subcommand": Type.STRING,
        "path": Type.STRING,
        "host": Type.STRING,
        "server": Type.STRING,
        "tool": Type.STRING,
        "cwd": Type.STRING,
        "session_id": Type.STRING,
        "agent": Type.STRING,
        "agent_id": Type.STRING,
        "argv": Type.STRINGS,
        "port": Type.INT,
        "pid": Type.INT,
        "tool_args": Type.MAP,
        "opaque": Type.BOOL,
        "derived": Type.BOOL,
        "recursive": Type.BOOL,
    }
)
"""Name of each field of `event`, and its type."""

_ZERO: Final[Mapping[Type, Any]] = MappingProxyType({Type.STRING: "", Type.INT: 0, Type.BOOL: False})


def zero_view() -> dict[str, Any]:
    """A fresh view in which every field has its zero value. Fill in what the act has and evaluate programs on
    it.

    A view belongs to one thread: programs keep the results of regular expressions in it, under keys that
    start with a NUL character.
    """
    return {name: _zero_value(type_) for name, type_ in FIELDS.items()}


def _zero_value(type_: Type) -> Any:
    if type_ is Type.STRINGS:
        return []
    if type_ is Type.MAP:
        return {}
    return _ZERO[type_]

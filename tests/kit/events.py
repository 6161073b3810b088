"""Events for tests, and a Hypothesis strategy for any event."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from vaultroom.events import Action, Event, Facet, Source, new_ulid

SESSION = "01J00000000000000000000000"


def shell(*argv: str, **more: Any) -> Event:
    """A shell.exec event of `argv`, as a shim would make it but without derived facets."""
    values: dict[str, Any] = {
        "id": new_ulid(),
        "session_id": SESSION,
        "ts": 1_700_000_000_000_000_000,
        "source": Source.SHIM,
        "action": Action.SHELL_EXEC,
        "cmd": argv[0].rsplit("/", 1)[-1] if argv else "",
        "argv": argv,
        "raw": " ".join(argv),
        "cwd": "/home/dev/proj",
        "pid": 4242,
    }
    return Event(**(values | more))


def touching(event: Event, *touched: tuple[Action, str], recursive: bool = False) -> Event:
    """`event` with a derived facet for each (action, path)."""
    from dataclasses import replace

    primary = event.as_facet()
    derived = tuple(
        replace(primary, action=action, path=path, recursive=recursive, derived=True, parent=0)
        for action, path in touched
    )
    return replace(event, facets=(primary, *derived))


_text = st.text(max_size=12) | st.sampled_from(["", "rm", "-rf", "/a/b", "x\udc80y", "\u202e", "é", '"\\'])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_arguments = st.dictionaries(_text, _json, max_size=3)
_actions = st.sampled_from(
    [Action.SHELL_EXEC, Action.FS_READ, Action.FS_DELETE, Action.NET_EGRESS, Action.MCP_TOOL]
)


def _fields() -> dict[str, st.SearchStrategy[Any]]:
    return {
        "action": _actions,
        "cmd": _text,
        "argv": st.lists(_text, max_size=3).map(tuple),
        "subcommand": _text,
        "path": _text,
        "host": _text,
        "port": st.integers(0, 65535),
        "server": _text,
        "tool": _text,
        "tool_args": _arguments,
        "cwd": _text,
        "opaque": st.booleans(),
    }


@st.composite
def facets(draw: st.DrawFn) -> tuple[Facet, ...]:
    """Up to four facets; derived ones name an earlier primary one."""
    made: list[Facet] = []
    for _ in range(draw(st.integers(0, 4))):
        primaries = [index for index, facet in enumerate(made) if not facet.derived]
        parent = draw(st.sampled_from(primaries)) if bool(primaries) and draw(st.booleans()) else None
        values = {name: draw(strategy) for name, strategy in _fields().items()}
        made.append(Facet(**values, recursive=draw(st.booleans()), derived=parent is not None, parent=parent))
    return tuple(made)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Any event that could stand in the log."""
    values = {name: draw(strategy) for name, strategy in _fields().items()}
    return Event(
        id=new_ulid(),
        session_id=SESSION,
        ts=draw(st.integers(0, 4_000_000_000 * 10**9)),
        source=draw(st.sampled_from(list(Source))),
        raw=draw(_text),
        pid=draw(st.integers(0, 2**22)),
        agent=draw(_text),
        agent_id=draw(_text),
        tool_use_id=draw(_text),
        facets=draw(facets()),
        **values,
    )

"""A shim's frame → an Event (specification sections 3.2 and 3.3).

The frame comes from a process of the agent's, so nothing in it is taken on trust: its shape is checked to
the last member, and who and when (id, session, time, process) is what the supervisor knows, not what the
client says.
"""

from __future__ import annotations

from typing import Any

from vaultroom.errors import FrameError
from vaultroom.events import Action, Event, Source
from vaultroom.masking import mask_text
from vaultroom.shell import FileView, command_facets, join_argv, program_name

MOST_WORDS = 500_000
"""Arguments in one command; the kernel allows fewer."""

_IGNORED = frozenset({"id", "session_id", "ts", "pid", "cmd", "raw"})
"""Members that a client may send and that the host works out for itself."""
_MEMBERS = _IGNORED | {"source", "action", "argv", "cwd"}


def shim_event(
    frame: dict[str, Any], *, event_id: str, session_id: str, ts: int, pid: int, agent: str, view: FileView
) -> Event:
    """The event of one frame. Raises FrameError, saying what was expected and found.

    `view` is asked about files: call this in a thread where `needs_files(cmd)` says so.
    """
    act = _act(frame)
    argv = _argv(act)
    cwd = _folder(act)
    cmd = program_name(argv[0])
    try:
        facets = command_facets(argv, cwd=cwd, view=view)
    except ValueError as error:
        raise FrameError(str(error)) from None
    primary = facets[0]
    return Event(
        id=event_id,
        session_id=session_id,
        ts=ts,
        source=Source.SHIM,
        action=Action.SHELL_EXEC,
        cmd=cmd,
        argv=argv,
        raw=join_argv(argv),
        subcommand=primary.subcommand,
        cwd=cwd,
        pid=pid,
        opaque=primary.opaque,
        agent=agent,
        facets=facets if len(facets) > 1 else (),
    )


def _act(frame: dict[str, Any]) -> dict[str, Any]:
    _no_others(frame, frozenset({"type", "event"}), "the frame")
    if frame.get("type") != "eval":
        raise FrameError(f"expected a frame of type 'eval', found {_shown(frame.get('type'))}")
    act = frame.get("event")
    if not isinstance(act, dict):
        raise FrameError(f"expected 'event' to be an object, found {_shown(act)}")
    _no_others(act, _MEMBERS, "the event")
    for name, wanted in (("source", Source.SHIM), ("action", Action.SHELL_EXEC)):
        if act.get(name) != wanted.value:
            raise FrameError(
                f"expected the event's {name} to be {wanted.value!r}, found {_shown(act.get(name))}"
            )
    return act


def _argv(act: dict[str, Any]) -> tuple[str, ...]:
    argv = act.get("argv")
    if not isinstance(argv, list) or not argv:
        raise FrameError(f"expected 'argv' to be a list of at least one string, found {_shown(argv)}")
    if len(argv) > MOST_WORDS:
        raise FrameError(f"expected at most {MOST_WORDS} arguments, found {len(argv)}")
    for index, word in enumerate(argv):
        _plain_text(word, f"argv[{index}]")
    if not program_name(argv[0]).strip("/"):
        raise FrameError(f"expected the name of a program in argv[0], found {_shown(argv[0])}")
    return tuple(argv)


def _folder(act: dict[str, Any]) -> str:
    cwd = act.get("cwd")
    if not isinstance(cwd, str) or not cwd.startswith("/"):
        raise FrameError(f"expected 'cwd' to be an absolute path, found {_shown(cwd)}")
    return _plain_text(cwd, "cwd")


def _plain_text(value: Any, where: str) -> str:
    """Text that a kernel could have handed over: no NUL, and only undecodable bytes as lone surrogates."""
    if not isinstance(value, str):
        raise FrameError(f"expected {where} to be a string, found {_shown(value)}")
    if "\0" in value:
        raise FrameError(f"expected {where} without NUL characters")
    if not value.isascii():
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise FrameError(
                f"expected {where} to be text or undecodable bytes, found a lone surrogate"
            ) from None
    return value


def _no_others(found: dict[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(found.keys() - known)
    if unknown:
        names = ", ".join(sorted(known))
        raise FrameError(f"expected no other members of {where} than {names}, found {_shown(unknown[0])}")


def _shown(value: Any) -> str:
    """What was found, short: a name for containers, the text for the rest, without its secrets."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{mask_text(value) if isinstance(value, str) else value!r:.60}"

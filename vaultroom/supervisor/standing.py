"""Whether this very process was started inside a session: then it may not become a host or approve anything.

Law 6. Three signs, any of which is enough: the session's variables in its own or an ancestor's environment,
an ancestor that is an agent or its runner, and the brand of a session that may still live.
"""

from __future__ import annotations

import os

from vaultroom import platform
from vaultroom.errors import VaultroomError
from vaultroom.paths import Home
from vaultroom.supervisor.session_files import SessionFile, SessionFiles

_VARIABLE = b"VAULTROOM_SESSION"
_ADVICE = "Do it from a terminal of your own. If this is one: unset VAULTROOM_SESSION VAULTROOM_SOCK"


def require_outside(home: Home, what: str) -> None:
    """Raises VaultroomError when this process descends from a session of `home`; `what` it wanted to do."""
    why = inside_session(list(SessionFiles(home.sessions)))
    if why:
        raise VaultroomError(f"refused to {what}: {why}", advice=_ADVICE)


def inside_session(sessions: list[SessionFile]) -> str:
    """Why this process counts as started inside a session; empty when it does not."""
    if "VAULTROOM_SESSION" in os.environ:
        return "VAULTROOM_SESSION is set, so this was started inside a session"
    if not platform.IS_LINUX:
        return ""
    live = [session for session in sessions if session.alive()]
    limit = platform.message_queue_limit()
    if any(platform.bears_brand(limit, session.brand) for session in live):
        return "this process bears the mark of a session that still runs"
    agents = {session.child.pid for session in live} | {session.runner.pid for session in live}
    for ancestor in platform.ancestors_of(os.getpid()) or []:
        if ancestor in agents - {0, os.getpid()}:
            return f"it descends from process {ancestor}, which runs in a session"
        environment = platform.initial_environment(ancestor) if ancestor > 1 else None
        if environment and _VARIABLE in environment:
            return f"process {ancestor} above it was started inside a session"
    return ""

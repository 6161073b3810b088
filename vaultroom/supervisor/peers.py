"""Who may speak on the control socket: the user, but no agent and nothing that an agent started.

Law 6. The peer's pid comes from the kernel and is pinned by a pidfd while its ancestry is read, so that
it cannot be swapped for another process on the way. Runners are child subreapers, so that a process that
detaches twice still stands below its runner; and everything in a session bears a brand, a resource limit
that descendants cannot raise, so that what outlives its runner is known too.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from vaultroom import platform
from vaultroom.platform import Peer

_SESSION_VARIABLE = b"VAULTROOM_SESSION"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a peer was refused; `pid` is 0 where the kernel did not say."""

    pid: int
    why: str


def examine(
    connection: socket.socket,
    *,
    runners: Iterable[int],
    children: Iterable[int],
    own_pid: int,
    brand: int = 0,
) -> Peer | Refusal:
    """The peer if it may command the host, else the reason why not. Doubt refuses.

    `runners` are the pids that hold sessions, `children` the pids of the agents themselves; `brand` marks
    what agents start, also after it has detached itself and its runner is gone.
    """
    peer = platform.peer_of(connection)
    if peer is None:
        if platform.IS_LINUX:
            return Refusal(0, "the kernel does not say who the peer is")
        return Peer(pid=0, uid=os.geteuid())  # other systems: the socket's mode 0600 is the only guard
    if peer.uid != os.geteuid():
        return Refusal(peer.pid, f"it belongs to user {peer.uid}")
    descriptor = platform.open_pidfd(peer.pid)
    if descriptor is None:
        return Refusal(peer.pid, "it ended before it could be examined")
    try:
        holders = set(runners)
        why = _agent_descent(peer.pid, holders, set(children), own_pid)
        if not why and brand and peer.pid not in holders | {own_pid}:
            why = _branded(peer.pid, brand)
        if not why and _ended(descriptor):
            why = "it ended while it was examined"
    finally:
        os.close(descriptor)
    return Refusal(peer.pid, why) if why else peer


def _agent_descent(
    pid: int,
    runners: set[int],
    children: set[int],
    own_pid: int,
    ancestors_of: Callable[[int], list[int] | None] = platform.ancestors_of,
) -> str:
    chain = ancestors_of(pid)
    if chain is None:
        return "its ancestry cannot be read"
    for position, ancestor in enumerate(chain):
        if ancestor in children:
            return f"it descends from the agent with pid {ancestor}"
        if position > 0 and (ancestor in runners or ancestor == own_pid):
            return f"it descends from the runner with pid {ancestor}"
    for ancestor in chain:
        environment = platform.initial_environment(ancestor) if ancestor > 1 else {}
        if environment and _SESSION_VARIABLE in environment:
            return f"process {ancestor} was started inside a session"
    return ""


def _branded(pid: int, brand: int) -> str:
    limit = platform.message_queue_limit(pid)
    if limit is None:
        return "its limits cannot be read"
    return "it bears the mark of a session" if platform.bears_brand(limit, brand) else ""


def _ended(pidfd: int) -> bool:
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(0))

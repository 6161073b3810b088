"""Join the home's host, or become it (design section 1)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from vaultroom import clock
from vaultroom.control.local import LocalControl
from vaultroom.control.protocol import Control
from vaultroom.control.remote import RemoteControl
from vaultroom.errors import HostUnavailable
from vaultroom.paths import Home
from vaultroom.supervisor.host import Host

JOIN_SECONDS = 10.0
"""How long a host may take to open before its clients give up."""

RETRY_SECONDS = 0.1


@dataclass(frozen=True)
class Joined:
    """A handle on the host; `host` is None when it lives in another process."""

    control: Control
    host: Host | None


def join_or_host(home: Home, audit_db: Path) -> Joined:
    """The running host of `home`, else this process becomes it.

    Raises HostUnavailable when a host holds the lock but does not answer, StoreError when this process
    would be the host and the log cannot be opened.
    """
    deadline = clock.monotonic() + JOIN_SECONDS
    while True:
        host = Host.open(home, audit_db)
        if host is not None:
            return Joined(LocalControl(host), host)
        try:
            return Joined(RemoteControl(home.host_socket()), None)
        except HostUnavailable:
            if clock.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)  # it is opening, or closing

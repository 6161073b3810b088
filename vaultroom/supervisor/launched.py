"""An agent that the host runs itself: stdin closed, output kept for whoever looks (design section 1).

Output faster than anybody reads neither grows memory nor slows the host: a thread of its own keeps the
newest bytes and counts all.
"""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from vaultroom import platform
from vaultroom.control.protocol import Output
from vaultroom.intercept.shims import base_interpreter
from vaultroom.supervisor.child import own_children, spawning

KEPT_BYTES = 1024 * 1024
CHUNK = 64 * 1024


_BECOME = """\
import os, resource, sys
brand, program, argv = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
if brand:
    soft = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0]
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (min(soft, brand) if soft >= 0 else brand, brand))
try:
    os.execv(program, argv)
except OSError as error:
    sys.exit(f"vaultroom: {program}: {error.strerror}")
"""
"""Takes the brand (platform.take_brand) in the new process, then becomes the agent."""


class OutputBuffer:
    """The newest bytes of an output, by their offset in the whole of it. Thread-safe."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._end = 0
        self._closed = False
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        with self._lock:
            self._bytes += data
            self._end += len(data)
            if len(self._bytes) > 2 * self._limit:  # cut seldom: each cut moves what is kept
                del self._bytes[: -self._limit]

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def read(self, after: int) -> Output:
        """At most 64 KiB from offset `after`, cut between characters; broken bytes become U+FFFD."""
        with self._lock:
            first = self._end - len(self._bytes)
            start = min(max(after, first), self._end)
            data = bytes(self._bytes[start - first : start - first + CHUNK])
            last = start + len(data) == self._end
            closed = self._closed and last
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(data, final=closed)
        pending = len(decoder.getstate()[0])
        return Output(start=start, end=start + len(data) - pending, text=text, closed=closed)


class LaunchedChild:
    """One running agent. `ended` is called with its exit code, on the reading thread."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: str,
        ended: Callable[[int], None],
        brand: int = 0,
    ) -> None:
        """Raises FileNotFoundError when there is no such program, OSError when it cannot be started."""
        program = shutil.which(argv[0], path=environ.get("PATH", os.defpath))
        if program is None:
            raise FileNotFoundError(f"{argv[0]}: command not found")
        self.output = OutputBuffer()
        self._ended = ended
        platform.become_subreaper()
        with spawning:
            self._process = subprocess.Popen(
                [base_interpreter(), "-ISXutf8", "-c", _BECOME, str(brand), program, *argv],
                cwd=cwd,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.pid = self._process.pid
            own_children.add(self.pid)
        self._thread = threading.Thread(target=self._read, name=f"output {self.pid}", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        # The pipe may outlive the agent in the hands of what it left running: the agent's end counts.
        waiter = threading.Thread(target=self._wait, name=f"wait {self.pid}", daemon=True)
        waiter.start()
        with pipe:
            while data := os.read(pipe.fileno(), CHUNK):
                self.output.add(data)
        self.output.close()

    def _wait(self) -> None:
        status = self._process.wait()
        own_children.discard(self.pid)
        self._ended(status if status >= 0 else 128 - status)

"""The thin client behind every agent's hook: its question to the host, the host's answer to it.

It understands neither the question nor the answer: the bytes of standard input travel as one JSON string,
and the host answers with the very texts and exit code that this agent wants. Every failure of its own is a
deny in the agent's words, which the installer bakes in. Built-in modules and `_socket` only.
"""

import _signal  # type: ignore[import-not-found,unused-ignore]
import posix

from vaultroom.thin.frames import (
    MAX_FRAME,
    decode,
    exchange,
    framed,
    json_string,
    json_text,
    printable,
    write_all,
)

_MOST_SECONDS = 86_400
_ANSWER = '{"type":"hook","code":'
_STDOUT = ',"stdout":"'
_STDERR = '","stderr":"'
_END = '"}'
_CODES = tuple(str(code) for code in range(256))


class Unanswered(Exception):
    """No usable answer: what the agent is told. `no_host` means that nobody listens at all."""

    def __init__(self, text: str, no_host: bool = False) -> None:
        self.text = text
        self.no_host = no_host


def main(
    agent: str,
    *,
    intake: bytes,
    run: bytes,
    session: bytes,
    seconds: int,
    margin: int,
    denial: tuple[str, str, int],
    native_marker: bytes,
    native: str,
) -> None:
    """Ask and answer; ends the process.

    `intake` is the home's socket, `run` the folder that a session's socket (`VAULTROOM_SOCK`) must lie in;
    `session` is a socket that is always asked, or empty. The agent is answered within `seconds`; the host
    is told to answer `margin` seconds earlier. `denial` is what stands on stdout before and behind the
    reason (as a JSON string), and the exit code. Where the file `native_marker` says `native` and nobody
    listens, `native` is printed instead.
    """
    try:
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        _signal.signal(_signal.SIGALRM, _late)
        _signal.alarm(max(1, min(seconds, _MOST_SECONDS)))
        code, out, err = ask(agent, session or _session_socket(run) or intake, max(1, seconds - margin))
        _signal.alarm(0)
    except Unanswered as problem:
        if problem.no_host and _is_native(native_marker):
            code, out, err = 0, native, ""
        else:
            code, out, err = deny(denial, problem.text)
    except BaseException:
        code, out, err = deny(denial, "its hook failed.")
    leave(code, out, err, denial[2] or 2)


def leave(code: int, out: str, err: str, broken: int) -> None:
    """Print the answer and end the process; with `broken` where stdout takes no answer."""
    write_all(2, err)
    if not write_all(1, out) and out:
        code = broken
    posix._exit(code)


def ask(agent: str, socket: bytes, seconds: int) -> tuple[int, str, str]:
    """The host's answer: exit code, stdout, stderr. Raises Unanswered."""
    payload, size = read_all(0)
    frame = question(agent, payload, size, seconds)
    if len(frame) - 4 > MAX_FRAME:
        frame = question(agent, b"", size, seconds)
    try:
        body = exchange(frame, socket)
    except (FileNotFoundError, ConnectionRefusedError):
        raise Unanswered(_NO_HOST, no_host=True) from None
    except (OSError, EOFError, ValueError):
        raise Unanswered("its host broke off before it answered.") from None
    return answer(body)


def question(agent: str, payload: bytes, size: int, seconds: int) -> bytes:
    """The frame. `size` is the payload's true length, also where it is too large to be sent."""
    return framed(
        f'{{"type":"hook","agent":{json_text(agent)},"payload":{json_text(decode(payload))},'
        f'"cwd":{json_text(decode(posix.getcwdb()))},"bytes":{size},"seconds":{seconds}}}'
    )


def answer(body: bytes) -> tuple[int, str, str]:
    """Read the host's answer strictly. Raises Unanswered for anything else."""
    try:
        text = body.decode("ascii")
        if not text.startswith(_ANSWER):
            raise ValueError
        digits, comma, _ = text[len(_ANSWER) : len(_ANSWER) + 4].partition(",")
        if not comma or digits not in _CODES:
            raise ValueError
        end = len(_ANSWER) + len(digits)
        if not text.startswith(_STDOUT, end):
            raise ValueError
        out, end = json_string(text, end + len(_STDOUT))
        if not text.startswith(_STDERR, end):
            raise ValueError
        err, end = json_string(text, end + len(_STDERR))
        if text[end:] != _END:
            raise ValueError
    except (ValueError, IndexError, KeyError):
        raise Unanswered("its host answered with something else than an answer.") from None
    return int(digits), out, err


def read_all(descriptor: int) -> tuple[bytes, int]:
    """What the agent wrote and its length; more than a frame holds is read to its end and dropped."""
    parts = []
    size = 0
    try:
        while part := posix.read(descriptor, 1 << 20):
            size += len(part)
            if size <= MAX_FRAME:
                parts.append(part)
            else:
                parts = []
    except OSError:
        raise Unanswered("its hook got nothing to judge: standard input is closed.") from None
    return b"".join(parts), size


def deny(denial: tuple[str, str, int], why: str) -> tuple[int, str, str]:
    """A deny in the agent's own words."""
    before, behind, code = denial
    text = printable(f"vaultroom: denied: {why}")
    return code, f"{before}{json_text(text)}{behind}\n" if before else "", f"{text}\n"


_NO_HOST = (
    "no Vaultroom host answers, so nothing is let through. "
    "Open one with `vaultroom` in another terminal, or remove these hooks with `vaultroom init --remove`."
)


def _session_socket(run: bytes) -> bytes:
    """The socket that the environment names, where it lies right in the home's run folder; else empty."""
    named = posix.environ.get(b"VAULTROOM_SOCK", b"")
    folder, _, name = named.rpartition(b"/")
    return named if name and folder == run else b""


def _is_native(marker: bytes) -> bool:
    try:
        file = posix.open(marker, posix.O_RDONLY | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        return posix.read(file, 16).strip() == b"native"
    except OSError:
        return False
    finally:
        posix.close(file)


def _late(number: int, frame: object) -> None:
    raise Unanswered("no answer came in time. It may be asked again.")

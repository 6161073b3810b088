"""The thin client behind every shim: ask the host, then become the real program (specification section 4.2).

It starts in a few milliseconds because it imports nothing but built-in modules and `_socket`; the installer
compiles this file and `frames` into each shim. One frame out, one frame in; everything but a well-formed
allow is a refusal.

Exit codes: the real program's; 126 denied (or the program cannot be executed); 77 no verdict; 127 no such
program.
"""

import _signal  # type: ignore[import-not-found,unused-ignore]
import posix

from vaultroom.thin.frames import (
    MAX_FRAME,
    decode,
    encode,
    exchange,
    framed,
    json_string,
    json_text,
    printable,
    write_all,
)

DENIED = 126
CHECK_FAILED = 77
NOT_FOUND = 127
MARKER = b"# vaultroom shim"
"""Stands in the first lines of each shim, so that a copy of one is known wherever it lies."""

_MOST_LINKS = 40
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
_COERCED = (b"C.UTF-8", b"C.utf8", b"UTF-8")
_ALLOW = '{"type":"verdict","effect":"allow","rule_name":"'
_DENY = '{"type":"verdict","effect":"deny","rule_name":"'
_BETWEEN = '","message":"'
_END = '"}'


class Refusal(Exception):
    """The program must not run: an exit code and the text for stderr."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        self.text = text


def main(arguments: list[str], *, socket: bytes, shims_root: bytes) -> None:
    """Run as the shim `arguments[0]`. Does not return: the process becomes the real program or exits."""
    _default_interrupt()
    name = arguments[0].rpartition("/")[2]
    try:
        program = find_program(name, own=encode(arguments[0]), shims_root=shims_root)
        ask([name, *arguments[1:]], socket)
        become(program, [name, *arguments[1:]])
    except Refusal as refusal:
        leave(refusal)
    except BaseException:
        leave(failed(name))


def leave(refusal: Refusal) -> None:
    """Say why, and end the process. Nothing is flushed or cleaned up: nothing was opened."""
    write_all(2, refusal.text)
    posix._exit(refusal.code)


def find_program(name: str, *, own: bytes, shims_root: bytes) -> bytes:
    """The first executable `name` on PATH that is not a shim. Raises Refusal (127) when there is none.

    A folder below the root of the shims is passed over whatever its spelling: the kernel's own answer to
    `folder/..` is compared, not text. So is a link into such a folder and a copy of a shim: a shim never
    starts a shim.
    """
    root = _identity(shims_root)
    myself = _identity(own) if b"/" in own else None
    for folder in posix.environ.get(b"PATH", _DEFAULT_PATH).split(b":"):
        folder = folder or b"."
        candidate = folder + b"/" + encode(name)
        try:
            status = posix.stat(candidate)
        except (OSError, ValueError):
            continue
        if status.st_mode & 0o170000 != 0o100000 or not posix.access(candidate, posix.X_OK):
            continue
        if (status.st_dev, status.st_ino) == myself or _is_below(folder, root):
            continue
        if _is_below(_folder_behind(candidate), root) or _is_marked(candidate):
            continue
        return candidate
    raise Refusal(NOT_FOUND, f"vaultroom: {printable(name)}: command not found\n")


def ask(argv: list[str], socket: bytes) -> None:
    """Ask the host about `argv`; returns when it may run. Raises Refusal otherwise."""
    frame = request(argv, cwd=decode(posix.getcwdb()), pid=posix.getpid())
    if len(frame) - 4 > MAX_FRAME:
        raise failed(argv[0], f"its command line has more than {MAX_FRAME} bytes in the frame")
    try:
        body = exchange(frame, socket)
    except (OSError, EOFError, ValueError):
        raise failed(argv[0]) from None
    judge(argv[0], body)


def request(argv: list[str], *, cwd: str, pid: int) -> bytes:
    """The frame that asks about `argv`: a big-endian length and ASCII JSON (section 3.3)."""
    return framed(
        '{"type":"eval","event":{"source":"shim","action":"shell.exec","cmd":'
        f'{json_text(argv[0])},"argv":[{",".join([json_text(word) for word in argv])}],'
        f'"cwd":{json_text(cwd)},"pid":{pid}}}}}'
    )


def judge(name: str, body: bytes) -> None:
    """Read the host's answer strictly: returns for an allow, raises Refusal for a deny and for anything
    else.
    """
    try:
        answer = body.decode("ascii")
    except UnicodeDecodeError:
        raise failed(name) from None
    allowed = answer.startswith(_ALLOW)
    if not allowed and not answer.startswith(_DENY):
        raise failed(name)
    try:
        rule, end = json_string(answer, len(_ALLOW if allowed else _DENY))
        if not answer.startswith(_BETWEEN, end):
            raise ValueError
        message, end = json_string(answer, end + len(_BETWEEN))
        if answer[end:] != _END:
            raise ValueError
    except (ValueError, IndexError, KeyError):
        raise failed(name) from None
    if not allowed:
        by = f'rule "{printable(rule)}"' if rule else "the default"
        raise Refusal(DENIED, f"vaultroom: denied by {by}: {printable(message)}\n")


def become(program: bytes, argv: list[str]) -> None:
    """Replace this process by the real program. Raises Refusal where the kernel cannot execute it."""
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
    words = [encode(word) for word in argv]
    environment = own_environment()
    try:
        posix.execve(program, words, environment)
    except OSError as error:
        problem = error
    if problem.errno == 8:  # ENOEXEC: a script without a first line, which every shell runs with sh
        try:
            posix.execve(b"/bin/sh", [b"sh", program, *words[1:]], environment)
        except OSError as error:
            problem = error
    code = NOT_FOUND if problem.errno == 2 else DENIED
    raise Refusal(code, f"vaultroom: {printable(argv[0])}: {printable(problem.strerror or 'cannot run')}\n")


def own_environment() -> dict[bytes, bytes]:
    """The environment that this process was started with.

    In the C locale Python sets LC_CTYPE for itself (PEP 538), which the program must not inherit.
    """
    environment = dict(posix.environ)
    if environment.get(b"LC_CTYPE") not in _COERCED:
        return environment
    try:
        file = posix.open(b"/proc/self/environ", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return environment
    parts = []
    while part := posix.read(file, 65536):
        parts.append(part)
    posix.close(file)
    del environment[b"LC_CTYPE"]
    for entry in b"".join(parts).split(b"\0"):
        if entry.startswith(b"LC_CTYPE="):
            environment[b"LC_CTYPE"] = entry[9:]
            break
    return environment


def failed(name: str, why: str = "") -> Refusal:
    """No verdict could be had: fail closed."""
    advice = why or "is its host running? `vaultroom daemon` in another terminal starts one"
    return Refusal(
        CHECK_FAILED,
        f"vaultroom: policy check failed — refusing to run {printable(name)} (fail closed)\n"
        f"vaultroom: {advice}\n",
    )


def _identity(path: bytes) -> tuple[int, int] | None:
    try:
        status = posix.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _is_below(folder: bytes, root: tuple[int, int] | None) -> bool:
    """Whether the kernel finds `root` at `folder` or on the way up from it."""
    here = _identity(folder)
    while here is not None:
        if here == root:
            return True
        folder += b"/.."
        here, below = _identity(folder), here
        if here == below:
            return False
    return False


def _folder_behind(path: bytes) -> bytes:
    """The folder of the file that `path` finally names, links followed one by one."""
    for _ in range(_MOST_LINKS):
        try:
            target = posix.readlink(path)
        except OSError:
            break
        path = target if target.startswith(b"/") else (path.rpartition(b"/")[0] or b".") + b"/" + target
    return path.rpartition(b"/")[0] or b"/"


def _is_marked(path: bytes) -> bool:
    """Whether the file's first lines say that it is a shim; one that cannot be read is none of ours."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        return MARKER in posix.read(file, 4608)
    except OSError:
        return False
    finally:
        posix.close(file)


def _default_interrupt() -> None:
    """An interrupt while the host is asked ends the process as it would have ended the program."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

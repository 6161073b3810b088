"""The scripts of thin clients: a first line, a loader, and the client's code in one file beside it.

The code is the shared `frames` in front of the client's own. It is read from a marshalled file: measured,
that starts faster than source in the script, than its code as a literal, and than an import
(docs/shims.md).
"""

from __future__ import annotations

import ast
import functools
import marshal
import os
import sys
from pathlib import Path
from types import ModuleType

from vaultroom.thin import frames

_SHARED = frames.__name__
_LONGEST_SHEBANG = 127
"""Bytes of a first line that every kernel reads to its end."""
_FLAGS = "-ISXutf8"
"""Isolated, without site, and UTF-8 whatever the locale: arguments stay the bytes they were."""


@functools.cache
def client_source(client: ModuleType) -> bytes:
    """The client with `frames` in place of its import: needs neither this package nor a path to it."""
    own = [node for node in _body(client) if not _imports_shared(node)]
    whole = ast.Module(body=[*_body(frames), *own], type_ignores=[])
    return ast.unparse(whole).encode("utf-8")


@functools.cache
def client_code(client: ModuleType) -> bytes:
    """The same compiled and marshalled, for the interpreter that runs this."""
    source = client_source(client)
    name = f"<vaultroom {client.__name__.rpartition('.')[2]}>"
    return marshal.dumps(compile(source, name, "exec", dont_inherit=True, optimize=2))


def _body(module: ModuleType) -> list[ast.stmt]:
    if module.__file__ is None:
        raise ValueError(f"expected the source of {module.__name__}, found none")
    return ast.parse(Path(module.__file__).read_bytes()).body


def _imports_shared(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _SHARED


def loader(client: ModuleType, compiled: Path, source: Path, arguments: str) -> str:
    """Script lines that run the client's `main(arguments)`: compiled where the interpreter is the same."""
    return f"""\
names = {{"__name__": "client"}}
try:
    import marshal, posix, sys
    def read(path, size):
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        data = posix.read(file, size)
        posix.close(file)
        return data
    if sys.hexversion == {sys.hexversion}:
        exec(marshal.loads(read({os.fsencode(compiled)!r}, {len(client_code(client))})), names)
    else:
        exec(read({os.fsencode(source)!r}, {len(client_source(client))}), names)
    names["main"]({arguments})
"""


def last_resort(text: str, code: int, output: str = "") -> str:
    """Script lines behind `loader`: whatever went wrong, say so (ASCII, on stderr; `output` on stdout)."""
    said = f"{text}\n".encode("ascii")
    printed = f"    posix.write(1, {output.encode('ascii')!r})\n" if output else ""
    return f"""\
except BaseException:
    import posix
    posix.write(2, {said!r})
{printed}finally:
    import posix
    posix._exit({code})
"""


def base_interpreter() -> str:
    """The real interpreter behind a virtual environment: it starts faster, and outlives the environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def first_lines(interpreter: str) -> bytes:
    """A shebang, or a line of `sh` that Python reads as a string where the kernel could not read the
    shebang.
    """
    line = os.fsencode(f"#!{interpreter} {_FLAGS}\n")
    if len(line) <= _LONGEST_SHEBANG and not any(char.isspace() for char in interpreter):
        return line
    if any(char in "\"\\$`'\n" for char in interpreter):
        raise ValueError(f"expected an interpreter path without quotes or backslashes, found {interpreter!r}")
    return os.fsencode(f"#!/bin/sh\n'''exec' \"{interpreter}\" {_FLAGS} \"$0\" \"$@\"\n' '''\n")

"""Which files hold the code that a command would run, and what is in them.

`python x.py` is another act after x.py has changed. Where it is not clear which argument is the code,
all that may be are taken; where the code comes from standard input, it cannot be bound.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Callable

from vaultroom.events import Facet

FileDigest = Callable[[str], str | None]
"""An absolute path → a digest of the regular file there, None where there is no file.

Raises OSError where there is one that cannot be read: then nothing is remembered.
"""

MAX_SCRIPT = 16 * 1024 * 1024
"""Bytes of a script at most; a bigger one is not remembered."""

_INTERPRETERS = (
    "python", "pypy", "node", "nodejs", "bash", "sh", "dash", "zsh", "ksh", "fish", "ruby", "perl", "php",
    "lua", "luajit", "deno", "bun", "tsx", "ts-node", "osascript", "pwsh", "Rscript", "awk", "gawk", "sed",
    "tclsh", "wish", "expect", "source", ".",
)  # fmt: skip
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "fish"})
_INLINE_CODE = frozenset({"-c", "-e", "-E", "-p", "-r", "--eval", "--print", "-lc", "-ic", "-Command"})
_ASKS = frozenset({"--version", "-V", "-v", "--help", "-h"})
_NEEDS_NO_FILE = frozenset({"awk", "gawk", "sed", "deno", "bun"})
_READS_ITS_ORDERS = frozenset({"xargs", "parallel"})
_PROJECT_FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "npm": ("package.json",),
    "npx": ("package.json",),
    "yarn": ("package.json",),
    "pnpm": ("package.json",),
    "bun": ("package.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "tox": ("tox.ini", "pyproject.toml"),
    "rake": ("Rakefile",),
}


def no_files(path: str) -> str | None:
    """The FileDigest of a machine that has no files."""
    return None


def file_digest(path: str) -> str | None:
    """SHA-256 of the regular file at `path`. It reads the disk: call it off the loop, with a deadline."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise OSError(f"expected a path, found {path!r}: {error}") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise OSError(f"expected a regular file at {path!r}")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_SCRIPT + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_SCRIPT:
        raise OSError(f"expected a file of at most {MAX_SCRIPT} bytes at {path!r}")
    return hashlib.sha256(content).hexdigest()


def code_of(facet: Facet, cwd: str, digest: FileDigest) -> dict[str, str] | None:
    """Path → digest of each file whose content decides what would run; None where it cannot be known.

    `facet` is a command with arguments, `cwd` its folder. Raises OSError for a file that cannot be read.
    """
    program = posixpath.basename(facet.argv[0]) or facet.cmd
    if program in _READS_ITS_ORDERS or (program in _SHELLS and "-s" in facet.argv):
        return None
    candidates = list(_PROJECT_FILES.get(program, ()))
    arguments = facet.argv[1:]
    if "/" in facet.argv[0]:
        candidates.append(facet.argv[0])
    interpreter = _is_interpreter(program)
    if interpreter:
        candidates += _possible_scripts(arguments)
    found = {}
    for candidate in candidates:
        path = posixpath.normpath(posixpath.join(cwd, candidate))
        content = digest(path) if path.startswith("/") else None
        if content is not None:
            found[path] = content
    if interpreter and program not in _NEEDS_NO_FILE:
        scripts = found.keys() - {posixpath.normpath(posixpath.join(cwd, facet.argv[0]))}
        inline = any(argument in _INLINE_CODE or argument.startswith("--eval=") for argument in arguments)
        asks_only = bool(arguments) and all(argument in _ASKS for argument in arguments)
        if not (scripts or inline or asks_only):
            return None
    return found


def _is_interpreter(program: str) -> bool:
    return program in _INTERPRETERS or program.rstrip("0123456789.") in _INTERPRETERS


def _possible_scripts(arguments: tuple[str, ...]) -> list[str]:
    """Every argument that may name code: options with a value make it unclear which one does."""
    names = []
    for position, argument in enumerate(arguments):
        names.append(argument.partition("=")[2] if argument.startswith("-") else argument)
        if position and arguments[position - 1] == "-m":
            module = argument.replace(".", "/")
            names += [f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"]
    return [name for name in names if name and len(name) < 4096]

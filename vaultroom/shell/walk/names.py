"""Names of programs, and of variables that change what programs do."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

from vaultroom.shell.effects import PROGRAMS
from vaultroom.shell.filesystem import FileView
from vaultroom.shell.subcommand import WITH_VALUE
from vaultroom.shell.walk.state import State, Value
from vaultroom.shell.words import words

SHELLS: Final = words("sh bash dash zsh ksh ash mksh rbash fish")

HANDLES_WORDS: Final = words(
    "cd pushd popd eval source . trap exec command builtin exit return alias unalias set shift unset export"
    " declare typeset local readonly read printf mapfile readarray sh bash dash zsh ksh ash mksh rbash fish"
)
"""Commands whose handlers look at unknown words themselves."""

_TRUSTED: Final = words(
    "/bin /usr/bin /sbin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /usr/games"
    " /run/current-system/sw/bin /nix/var/nix/profiles/default/bin /snap/bin"
)
"""Folders whose programs are what their names say."""

_COMMON: Final = words(
    "[ ar arch awk b2sum base32 base64 basename basenc bunzip2 bzip2 cal cat chattr chcon chgrp chmod"
    " chown chroot cksum clear cmp column comm cp crontab csplit curl cut dash date dc dd df diff dig"
    " dir dircolors dirname docker du ed egrep env expand expr factor false fgrep file find fmt fold"
    " free fuser gawk gcc gdb gh git gpg grep groups gunzip gzip head hexdump host hostid hostname"
    " iconv id install ip jq join kill killall kubectl less link ln locate logger login ls lsof make"
    " man mawk md5sum mkdir mkfifo mknod mktemp more mount mv nano nc ncat netstat nice nl nohup npm"
    " npx nslookup numfmt od openssl paste patch perl pgrep php ping pip pip3 pkill pnpm podman pr"
    " printenv printf ps ptx pwd python python2 python3 readlink realpath rev rg rm rmdir rsync ruby"
    " scp sed seq sftp sha1sum sha256sum sha512sum shred shuf sleep socat sort split ssh stat stdbuf"
    " strings stty su sudo sum sync tac tail tar tee telnet test timeout top touch tr true truncate"
    " tsort tty umount uname unexpand uniq unlink unzip uptime vi vim watch wc wget which who whoami"
    " xargs xxd xz yarn yes zcat zip node deno bun cargo go systemctl terraform aws gcloud brew apt"
    " apt-get"
)
_ENVIRONMENTS: Final = ("venv/bin", "env/bin", "node_modules/.bin", ".nvm/versions")
_OF_ENVIRONMENTS: Final = words("python python2 python3 pip pip3 node npm npx ruby")

_CHANGES_PROGRAMS: Final = words(
    "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 CDPATH"
    " PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT RUBYLIB RUBYOPT NODE_OPTIONS NODE_PATH"
    " JAVA_TOOL_OPTIONS _JAVA_OPTIONS PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL BROWSER"
    " DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH TAR_OPTIONS TAPE RSYNC_RSH GREP_OPTIONS RIPGREP_CONFIG_PATH"
    " CARGO_BUILD_RUSTC_WRAPPER RUSTC_WRAPPER CC CXX MAKEFLAGS FPATH ZDOTDIR EXINIT VIMINIT WGETRC CURL_HOME"
    " BASH_FUNC BASH_LOADABLES_PATH GLOBIGNORE EXECIGNORE HISTFILE SUDO_ASKPASS SSH_ASKPASS"
)
_HARMLESS_OF_GIT: Final = words(
    "GIT_TERMINAL_PROMPT GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME"
    " GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_OPTIONAL_LOCKS GIT_TRACE"
)
_NO_PAGERS: Final = words("cat true : less more")


_VERSIONED: Final = re.compile(r"([A-Za-z]+)[0-9][0-9.]*")


def without_version(name: str) -> str:
    """`python3.11` → `python`; other names stay as they are."""
    match = _VERSIONED.fullmatch(name)
    return name if match is None else match[1]


def doubts_about_name(word: str, name: str, state: State, view: FileView) -> Iterator[str]:
    """Why the program may not be the one that its name says."""
    if "/" not in word:
        if state.path_is_changed and name not in ("cd", "export", "echo", "printf", "test", "[", "true", ":"):
            yield "PATH was changed: the name may mean another program"
        return
    folder = posixpath.normpath(posixpath.dirname(word))
    if folder in _TRUSTED or (folder.startswith("//") and folder[1:] in _TRUSTED):
        return
    if name in _OF_ENVIRONMENTS and any(mark in folder for mark in _ENVIRONMENTS):
        return
    known = (
        name in _COMMON
        or name in PROGRAMS
        or name in WITH_VALUE
        or name in SHELLS
        or view.lexists(f"/usr/bin/{name}")
        or view.lexists(f"/bin/{name}")
    )
    if known:
        yield f"{word} is not the {name} of the system"


def dangerous_to_set(environment: Mapping[str, Value], state: State, *, command: str = "") -> list[str]:
    """Why variables that are set change what programs do."""
    return [
        f"{name} changes what programs do" for name, value in environment.items() if _matters(name, value)
    ]


def _matters(name: str, value: Value) -> bool:
    if name in ("PAGER", "MANPAGER", "GIT_PAGER", "GIT_EDITOR", "EDITOR", "VISUAL"):
        return value not in _NO_PAGERS and value != ""
    if name.startswith(("GIT_", "LD_", "DYLD_", "BASH_FUNC", "npm_config_")):
        return name not in _HARMLESS_OF_GIT
    return name in _CHANGES_PROGRAMS

"""Which commands the built-in rules forbid: pure looks at one argv.

Where a word may be an option's value or a command, both readings count. The last line of defence against
an agent that answers for itself is the control socket, which refuses descendants of agents; these rules
stop the attempt earlier, name it, and cover the ways out of the process tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from vaultroom.shell.words import words as word_set

DOCTOR_PROBE_PROGRAM: Final = "vaultroom-doctor-probe"
"""The program that does not exist: `vaultroom doctor` sends it through every channel."""

_OWN: Final = "vaultroom"
_ANSWERING: Final = frozenset({"approve", "daemon", "init", "server"})
_ANSWERING_POLICY: Final = frozenset({"trust"})
_INQUIRING: Final = frozenset({"-h", "--help", "--version"})
_INTERPRETERS: Final = ("python", "pypy")
_RUNNERS: Final = word_set(
    "uv uvx pipx poetry pdm hatch rye pixi conda mamba micromamba nix nix-shell direnv mise asdf"
    " sudo doas su runuser env nice ionice nohup timeout stdbuf time exec command setsid xargs script watch"
    " parallel flock unshare chroot strace ltrace expect unbuffer busybox toybox"
    " tmux screen zellij at batch systemd-run launchctl crontab dbus-run-session"
    " xterm gnome-terminal konsole alacritty kitty foot wezterm ssh docker podman"
)
"""Programs that start what stands in their arguments, some of them outside the agent's process tree."""
_SHELLS: Final = word_set("sh bash dash zsh ksh mksh ash fish")
_FARTHEST: Final = 64
"""Words of a runner's command that are looked at."""

_TYPING: Final = ("send-keys", "paste-buffer", "send-prefix", "pasteb", "load-buffer")
_TMUX_VALUE_OPTIONS: Final = "cfLST"
_TYPING_PROGRAMS: Final = word_set("xdotool ydotool wtype dotool")
_KILLERS: Final = word_set("pkill killall killall5 skill")
_STOPPING: Final = word_set("stop kill restart disable mask freeze")
_EVERYTHING: Final = "-1"
_REMOVING: Final = frozenset({"uninstall", "remove", "rm", "un"})
_INSTALLERS: Final = word_set("pip pip3 uv pipx conda mamba poetry pdm")


def answers_for_itself(argv: Sequence[str]) -> bool:
    """`vaultroom approve`, `daemon`, `init`, `policy trust` and the room itself, also through a runner."""
    return any(_commands_vaultroom(words) for words in _starts(argv))


def types_elsewhere(cmd: str, argv: Sequence[str]) -> bool:
    """Keys or pasted text for another terminal, a multiplexer's or the desktop's."""
    words = argv[1:]
    if cmd == "tmux":
        return _tmux_types(words)
    if cmd == "screen":
        return any(word == "stuff" or (_is_short(word) and "X" in word) for word in words)
    if cmd == "zellij":
        return any(word.startswith("write") for word in words)
    if cmd in ("wezterm", "kitty", "kitten"):
        return any(word.startswith(("send-text", "send-key")) for word in words)
    if cmd == "osascript":
        return any(mark in word for word in words for mark in ("keystroke", "key code", "do script"))
    return cmd in _TYPING_PROGRAMS


def stops_the_host(cmd: str, argv: Sequence[str], host_pids: frozenset[int]) -> bool:
    """`pkill vaultroom`, `kill` of the host or of everything, stopping its service, uninstalling it."""
    words = list(argv[1:])
    if cmd == "kill":
        return _kills(words, host_pids)
    if cmd in _KILLERS:
        return any(_names_vaultroom(word) for word in words if not word.startswith("-"))
    if cmd in ("systemctl", "launchctl", "service"):
        return any(_OWN in word for word in words) and any(word in _STOPPING for word in words)
    if cmd in _INSTALLERS or cmd.startswith(_INTERPRETERS):
        removes = any(word in _REMOVING for word in words[:6])
        return removes and any(word.partition("=")[0].lower() == _OWN for word in words)
    return False


def is_probe(argv: Sequence[str]) -> bool:
    """The command that `vaultroom doctor` sends."""
    return bool(argv) and _base(argv[0]) == DOCTOR_PROBE_PROGRAM


def _starts(argv: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each place in `argv` where Vaultroom may be started: what stands after its name."""
    if not argv:
        return
    program = _base(argv[0])
    if program == _OWN:
        yield argv[1:]
    elif program.startswith(_INTERPRETERS):
        yield from _module_starts(argv)
    elif program in _RUNNERS or program in _SHELLS:
        words = [part for word in argv[1:_FARTHEST] for part in _parts(word)]
        for position, word in enumerate(words):
            if _base(word) == _OWN and _may_start(words, position):
                yield words[position + 1 :]
            elif _base(word).startswith(_INTERPRETERS):
                yield from _module_starts(words[position:])


def _may_start(words: Sequence[str], position: int) -> bool:
    """A bare `vaultroom` at the end may be a session's or a package's name, unless it stands first."""
    return position == 0 or position + 1 < len(words)


def _module_starts(argv: Sequence[str]) -> Iterator[Sequence[str]]:
    """`python -m vaultroom …`, `python -mvaultroom`, `python /opt/bin/vaultroom …`."""
    for position, word in enumerate(argv[1:12], 1):
        if word in ("-mvaultroom", "-mvaultroom.__main__") or (
            _base(word).removesuffix(".__main__") == _OWN and not word.startswith("-")
        ):
            yield argv[position + 1 :]
            return
        if word == "-c":
            return


def _parts(word: str) -> list[str]:
    """The words of an argument that may itself be a command line (`script -c 'vaultroom approve'`)."""
    return word.split() if " " in word or "\n" in word or "\t" in word else [word]


def _commands_vaultroom(words: Sequence[str]) -> bool:
    possible = list(_possible(words))
    if not possible and not _INQUIRING.intersection(words):
        return True  # the room itself, where one key answers
    for position, word in possible:
        if word in _ANSWERING:
            return True
        if word == "policy" and any(
            after in _ANSWERING_POLICY for _, after in _possible(words[position + 1 :])
        ):
            return True
    return False


def _possible(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The words that may be the command: the first that is no option, and what follows an option's value."""
    after_option = False
    for position, word in enumerate(words[:_FARTHEST]):
        if word.startswith("-"):
            after_option = "=" not in word
            continue
        yield position, word.rstrip(";&|)\"'")
        if not after_option:
            return
        after_option = False


def _tmux_types(words: Sequence[str]) -> bool:
    for position, word in enumerate(words):
        if any(name in word for name in _TYPING):
            return True
        if _is_command_position(words, position) and _is_typing_prefix(word.rstrip(";")):
            return True
        if _is_short(word) and "C" in word and not any(_is_word(earlier) for earlier in words[:position]):
            return True  # control mode reads commands from its input
    return False


def _is_typing_prefix(word: str) -> bool:
    """tmux takes the beginning of a command's name for it; `source-file` may hold any command."""
    if len(word) >= 2 and ("source-file".startswith(word) or word == "source"):
        return word.startswith("so")
    return len(word) >= 3 and any(name.startswith(word) for name in ("send-keys", "paste-buffer"))


def _is_command_position(words: Sequence[str], position: int) -> bool:
    before = words[:position]
    if not before or before[-1].endswith(";"):
        return True
    index = 0
    while index < position and words[index].startswith("-"):
        takes_value = len(words[index]) == 2 and words[index][1] in _TMUX_VALUE_OPTIONS
        index += 2 if takes_value else 1
    return index == position


def _kills(words: Sequence[str], host_pids: frozenset[int]) -> bool:
    targets = list(words)
    if targets[:1] in (["-l"], ["-L"], ["--list"]):
        return False
    if targets and targets[0] in ("-s", "-n", "--signal", "-q", "--queue"):
        targets = targets[2:]
    elif targets and targets[0].startswith("-") and targets[0] != "--":
        targets = targets[1:] if len(targets) > 1 else targets
    for target in targets:
        if target == _EVERYTHING:
            return True
        digits = target.lstrip("-")
        if digits.isascii() and digits.isdecimal() and int(digits) in host_pids:
            return True
        if _OWN in target:
            return True
    return False


def _names_vaultroom(pattern: str) -> bool:
    """Whether a pattern of pkill may mean Vaultroom; regular expressions are stripped to their letters."""
    letters = "".join(char for char in pattern.lower() if char.isalnum())
    return _OWN in letters or (len(letters) >= 4 and letters in _OWN)


def _is_short(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and word[1] != "-"


def _is_word(word: str) -> bool:
    return not word.startswith("-")


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]

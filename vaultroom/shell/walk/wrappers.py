"""Programs that run the program in their arguments, and how many of their own arguments come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from vaultroom.shell.words import words


@dataclass(frozen=True)
class Wrapper:
    """The options of one wrapper.

    `short` are the letters and `long` the names of options that take a value in the next argument.
    `operands` is how many operands stand before the command. `text` are options whose value is a shell
    command line; `folder` are those that set the working directory. `joins`: the words are joined and run
    by a shell. `assigns`: `NAME=value` may stand before the command.
    """

    short: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0
    text: frozenset[str] = frozenset()
    folder: frozenset[str] = frozenset()
    joins: bool = False
    assigns: bool = False
    attached: str = ""
    doubt: str = ""


WRAPPERS: Final[Mapping[str, Wrapper]] = {
    "sudo": Wrapper(
        "ugpCDhrtTUR",
        words(
            "--user --group --prompt --chdir --host --close-from --role --type --chroot --other-user"
            " --command-timeout"
        ),
        folder=words("-D --chdir"),
        assigns=True,
    ),
    "doas": Wrapper("uC"),
    "env": Wrapper(
        "uC",
        words("--unset --chdir"),
        folder=words("-C --chdir"),
        text=words("-S --split-string"),
        assigns=True,
    ),
    "nice": Wrapper("n", words("--adjustment")),
    "ionice": Wrapper("cnpPu", words("--class --classdata --pid --pgid --uid")),
    "chrt": Wrapper("TPD", words("--sched-runtime --sched-period --sched-deadline"), operands=1),
    "taskset": Wrapper("", operands=1),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "setpriv": Wrapper("", words("--reuid --regid --groups --inh-caps --bounding-set --ambient-caps")),
    "timeout": Wrapper("ks", words("--kill-after --signal"), operands=1),
    "gtimeout": Wrapper("ks", words("--kill-after --signal"), operands=1),
    "time": Wrapper("fo", words("--format --output")),
    "stdbuf": Wrapper("ioe", words("--input --output --error")),
    "watch": Wrapper("nq", words("--interval --equexit --shotsdir"), joins=True),
    "chroot": Wrapper("", words("--userspec --groups"), operands=1, doubt="it runs below another root"),
    "strace": Wrapper("eopsPuabEIOSXU", words("--output --trace --attach --user --env"), assigns=False),
    "ltrace": Wrapper("eopsuxlanADF", words("--output")),
    "flock": Wrapper(
        "wE", words("--timeout --conflict-exit-code --wait"), operands=1, text=words("-c --command")
    ),
    "unshare": Wrapper(
        "SGlRw",
        words(
            "--setuid --setgid --root --wd --propagation --setgroups --map-user --map-group"
            " --map-users --map-groups --monotonic --boottime --load-interp"
        ),
    ),
    "nsenter": Wrapper("tSG", words("--target --setuid --setgid"), doubt="it runs in other namespaces"),
    "script": Wrapper(
        "BEIOTtomc",
        words("--log-in --log-out --log-io --log-timing --output-limit --echo --logging-format"),
        text=words("-c --command"),
        operands=99,
    ),
    "su": Wrapper(
        "gGsTwc",
        words("--group --shell --supp-group"),
        text=words("-c --command --session-command"),
        operands=99,
    ),
    "runuser": Wrapper("ugGs", words("--user --group --shell"), text=words("-c --command --session-command")),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "rlwrap": Wrapper("abcCDefFgHilmMnopqrsStzAP"),
    "caffeinate": Wrapper("tw"),
    "firejail": Wrapper(),
    "bwrap": Wrapper("", doubt="it runs in a sandbox of its own"),
    "systemd-run": Wrapper(
        "pEuHM",
        words("--property --setenv --unit --description --uid --gid --slice --working-directory"),
        folder=words("--working-directory"),
    ),
    "dbus-run-session": Wrapper(),
    "xvfb-run": Wrapper("enfpsw"),
    "fakeroot": Wrapper("lsib"),
    "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "torsocks": Wrapper(),
    "unbuffer": Wrapper(),
    "eatmydata": Wrapper(),
    "catchsegv": Wrapper(),
    "valgrind": Wrapper(),
    "perf": Wrapper(operands=1),
    "noglob": Wrapper(),
    "nocorrect": Wrapper(),
    "direnv": Wrapper(operands=2),
    "dotenv": Wrapper("f"),
    "sg": Wrapper("c", operands=1, text=words("-c")),
    "pkexec": Wrapper("", words("--user")),
    "start-stop-daemon": Wrapper("", doubt="it starts another program"),
    "at": Wrapper(doubt="it runs later"),
    "batch": Wrapper(doubt="it runs later"),
    "arch": Wrapper(),
    "linux32": Wrapper(),
    "linux64": Wrapper(),
    "setarch": Wrapper(operands=1),
    "prlimit": Wrapper(),
    "choom": Wrapper("n"),
    "cpulimit": Wrapper("lp"),
    "hyperfine": Wrapper("wrpPS", joins=True),
    "entr": Wrapper(),
    "sshpass": Wrapper("pfde"),
}

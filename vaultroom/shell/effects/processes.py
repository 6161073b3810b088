"""Programs around processes and services that leave files: crontab, systemctl, at.

`kill`, `pkill` and `killall` touch no file and have no entry.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import analysers, program
from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

_SPOOL = "/var/spool/cron"
_UNITS = "/etc/systemd/system"
_CHANGES = words(
    "enable disable reenable mask unmask link revert edit add-wants add-requires preset preset-all"
    " set-property set-default")  # fmt: skip


def _crontab(argv: Sequence[str], places: Places) -> Effects:
    """A user's table lies below the spool folder; whose it is cannot always be told, so all of it counts."""
    found = Found(places)
    parsed = parse(argv[1:], Syntax(short_values="ucx", flags=words("user")))
    if parsed.has("r"):
        found.delete(_SPOOL, True)
    elif parsed.has("e") or parsed.operands:
        found.read_all(name for name in parsed.operands if name != STANDARD_STREAM)
        found.write(_SPOOL, True)
    elif parsed.has("l"):
        found.read(_SPOOL, True)
    return found.effects()


_SYSTEMCTL = Syntax(
    short_values="HMCtpPsno",
    flags=words("user system global force now runtime no-reload quiet full all no-pager dry-run"),
    values=words(
        "host machine capsule type property signal lines output root image state job-mode kill-whom message"
        " what preset-mode drop-in"),
)  # fmt: skip


def _systemctl(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _SYSTEMCTL)
    for host in parsed.values_of("host") + parsed.values_of("H"):
        found.host(host, 22)
    if parsed.operands[:1] and parsed.operands[0] in _CHANGES:
        folder = found.at_home(".config/systemd/user") if parsed.has("user") else _UNITS
        root = parsed.last("root")
        found.write(f"{root.rstrip('/')}{folder}" if root and folder else folder, True)
        for unit in parsed.operands[1:]:
            if "/" in unit:
                found.read(unit)
    return found.effects()


_TABLE = {
    "at batch": program(short={"f": "file"}, short_values="fqt", values={"file": "r!"}),
    "logrotate": program(
        "r!", short={"s": "state", "l": "log"}, short_values="sl", values={"state": "w", "log": "w"}
    ),
    "sysctl": program(short={"p": "load"}, short_values="fr", doubts="load system w write"),
    "visudo vipw vigr": program("w", short={"f": "file"}, short_values="fx", values={"file": "w"}),
}

PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {"crontab": _crontab, "systemctl": _systemctl}

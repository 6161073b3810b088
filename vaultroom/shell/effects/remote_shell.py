"""ssh and what goes over it: scp, sftp and rsync, with files here and on other machines."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.hosts import endpoint, is_url, port_of, remote_spec
from vaultroom.shell.effects.options import Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, basename, inside
from vaultroom.shell.words import words

_SSH = Syntax(short_values="BbcDEeFIiJLlmOoPpQRSWw", short_flags="46AaCfGgKkMNnqsTtVvXxYy", leading=True)
_SCP = Syntax(short_values="cDFiJloPSX")
_SFTP = Syntax(short_values="BbcDFiJloPRSsX")
_RUN_OPTIONS = words(
    "proxycommand localcommand permitlocalcommand knownhostscommand remotecommand pkcs11provider"
    " securitykeyprovider xauthlocation include match"
)
"""ssh options after `-o` that run a program or bring in other options."""


def _ssh(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _SSH)
    _ssh_options(parsed, found)
    found.opaque |= parsed.has("I")
    for name in parsed.values_of("E"):
        found.write(name)
    for name in parsed.values_of("W"):
        found.host(name)
    for target in parsed.operands[:1]:
        _login(target, _port(parsed, "p"), found)
    return found.effects()


def _login(target: str, port: int, found: Found) -> None:
    if is_url(target):
        found.url(target, port)
    else:
        host = target.rpartition("@")[2]
        found.connect(endpoint(f"[{host}]" if host.count(":") > 1 else host, port) if host else None)


def _port(parsed: Parsed, letter: str) -> int:
    return port_of(parsed.last(letter)) or 22


def _ssh_options(parsed: Parsed, found: Found) -> None:
    """What ssh, scp and sftp have in common."""
    for name in parsed.values_of("F"):
        if name != "none":
            found.read(name)
            found.doubt()
    found.read_all(parsed.values_of("i"))
    for hops in parsed.values_of("J"):
        for hop in hops.split(","):
            if is_url(hop):
                found.url(hop, 22)
            else:
                found.host(hop, 22)
    for option in parsed.values_of("o"):
        key, _, value = option.strip().replace("=", " ", 1).partition(" ")
        name = key.lower()
        if name == "proxyjump" and value.strip().lower() != "none":
            for hop in value.split(","):
                found.host(hop.strip(), 22)
        elif name == "hostname":
            found.host(value.strip(), 22)
        elif name in _RUN_OPTIONS:
            found.doubt()
        elif name == "identityfile":
            found.read(value.strip())
        elif name == "userknownhostsfile":
            for path in value.split():
                found.write(path)


def _scp(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _SCP)
    _ssh_options(parsed, found)
    found.opaque |= parsed.has("S", "D")
    _copies(parsed.operands, _port(parsed, "P"), found, deep=parsed.has("r"))
    return found.effects()


def _copies(operands: Sequence[str], port: int, found: Found, *, deep: bool) -> None:
    """Sources and one destination, each here or on another machine."""
    operands = [operand for operand in operands if operand]
    *sources, target = operands or [""]
    for source in sources:
        remote = remote_spec(source, port)
        if remote is not None:
            found.connect(remote.at)
        else:
            found.read(source, None if deep else False)
    remote = remote_spec(target, port)
    if remote is not None:
        found.connect(remote.at)
    elif sources:
        for source in sources:
            there = remote_spec(source, port)
            name = basename(there.path if there is not None else source)
            folder = len(sources) > 1 or target.endswith("/") or found.places.is_directory(target)
            plain = name not in ("", ".", "..", "~") and not any(char in name for char in "*?[")
            found.write(inside(target, name) if folder and plain else target, deep or (folder and not plain))
    elif target:
        found.read(target)


def _sftp(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _SFTP)
    _ssh_options(parsed, found)
    found.opaque |= parsed.has("S", "D", "s")
    for name in parsed.values_of("b"):
        found.read_all([name])
        found.doubt()
    for position, operand in enumerate(parsed.operands):
        if position == 0:
            remote = remote_spec(operand, _port(parsed, "P"))
            if remote is not None:
                found.connect(remote.at)
                if remote.path and len(parsed.operands) == 1:
                    found.write(basename(remote.path) or ".", True)
            else:
                _login(operand, _port(parsed, "P"), found)
        else:
            found.write(operand, True)
    return found.effects()


_RSYNC = Syntax(
    short={
        "n": "dry-run", "e": "rsh", "r": "recursive", "a": "archive", "R": "relative", "b": "backup",
        "T": "temp-dir", "d": "dirs", "f": "filter", "B": "block-size", "M": "remote-option",
        "L": "copy-links",
    },
    short_values="efBTM",
    flags=words(

            "verbose quiet no-motd checksum archive recursive relative no-implied-dirs backup update"
            " inplace append append-verify dirs old-dirs mkpath links copy-links copy-unsafe-links"
            " safe-links munge-links copy-dirlinks keep-dirlinks hard-links perms executability acls xattrs"
            " owner group devices copy-devices write-devices specials times atimes open-noatime crtimes"
            " omit-dir-times omit-link-times super fake-super sparse preallocate dry-run whole-file"
            " one-file-system existing ignore-existing remove-source-files del delete delete-before"
            " delete-during delete-delay delete-after delete-excluded ignore-missing-args"
            " delete-missing-args ignore-errors force partial delay-updates prune-empty-dirs numeric-ids"
            " size-only ignore-times fuzzy compress cvs-exclude from0 old-args secluded-args protect-args"
            " blocking-io stats 8-bit-output human-readable progress itemize-changes list-only ipv4 ipv6"
            " version help daemon trust-sender"
    ),
    values=words(
        "info debug stderr backup-dir suffix chmod checksum-choice cc block-size rsh rsync-path max-delete"
        " max-size min-size max-alloc partial-dir usermap groupmap chown timeout contimeout modify-window"
        " temp-dir compare-dest copy-dest link-dest compress-choice zc compress-level zl skip-compress filter"
        " exclude exclude-from include include-from files-from copy-as address port sockopts outbuf"
        " remote-option out-format log-file log-file-format password-file early-input bwlimit stop-after"
        " stop-at fsync write-batch only-write-batch read-batch protocol iconv checksum-seed config dparam"
    ),
)  # fmt: skip


def _rsync(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _RSYNC)
    port = port_of(parsed.last("port"))
    for option in ("exclude-from", "include-from", "files-from", "password-file", "read-batch", "early-input",
                   "config"):  # fmt: skip
        found.read_all(name for name in parsed.values_of(option) if remote_spec(name) is None)
    found.opaque |= parsed.has("files-from", "filter", "config", "daemon", "dparam", "read-batch")
    for command in parsed.values_of("rsh"):
        found.opaque |= not _is_plain_ssh(command)
    for option in ("compare-dest", "copy-dest", "link-dest"):
        for name in parsed.values_of(option):
            found.read(name, True)
    talks = parsed.has("dry-run", "list-only")
    if not talks:
        for option in ("log-file", "write-batch", "only-write-batch"):
            for name in parsed.values_of(option):
                found.write(name)
        for option in ("backup-dir", "temp-dir"):
            for name in parsed.values_of(option):
                found.write(name, True)
    operands = [operand for operand in parsed.operands if operand]
    *sources, target = operands if len(operands) > 1 else [*operands, ""]
    deep = parsed.has("recursive", "archive", "dirs", "files-from", "delete")
    for source in sources:
        remote = remote_spec(source if not source.startswith(":") else f"x{source}", port or 22)
        if remote is not None:
            if not source.startswith(":"):
                found.connect(remote.at)
            continue
        found.read(source, None if deep else False)
        if parsed.has("remove-source-files") and not talks:
            found.delete(source)
    if target:
        _rsync_target(parsed, sources, target, port, found, deep=deep, talks=talks)
    return found.effects()


def _rsync_target(
    parsed: Parsed, sources: Sequence[str], target: str, port: int, found: Found, *, deep: bool, talks: bool
) -> None:
    remote = remote_spec(target, port or 22)
    if remote is not None:
        found.connect(remote.at)
        return
    if talks:
        return
    deletes = any(name == "del" or name.startswith("delete") for name in parsed.given)
    for source in sources:
        named = remote_spec(source, 22)
        path = named.path if named is not None else source
        name = basename(path)
        whole = path.endswith("/") or name in ("", ".", "..") or parsed.has("relative", "files-from")
        place = target if whole or not deep else inside(target, name)
        if deep:
            found.write(place, True)
        elif len(sources) > 1 or target.endswith("/") or found.places.is_directory(target):
            found.write(inside(target, name) if name else target)
        else:
            found.write(target)
        if deletes:
            found.delete_below(place)
    if parsed.has("backup-dir"):
        found.write(target, True)


def _is_plain_ssh(command: str) -> bool:
    """`ssh`, perhaps with a port, a key, a user or a switch that runs nothing."""
    parts = command.split()
    if not parts or parts[0] not in ("ssh", "/usr/bin/ssh"):
        return False
    parsed = parse(parts[1:], _SSH)
    return not parsed.operands and not (parsed.given.keys() - set("46ACaqTxvpil"))


PROGRAMS: dict[str, Analyse] = {
    "ssh": _ssh,
    "slogin": _ssh,
    "scp": _scp,
    "sftp": _sftp,
    "rsync": _rsync,
}

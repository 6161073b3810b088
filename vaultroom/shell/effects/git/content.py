"""Subcommands that show or export content, and the configuration: diff, show, log, archive, config."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.git.remotes import reach
from vaultroom.shell.effects.git.repository import Command, Repository
from vaultroom.shell.effects.git.tree import ENDS
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.words import words

_SHOW = Syntax(
    short={"O": "open-files-in-pager", "f": "file", "e": "regexp", "o": "output-directory"},
    short_values="SGeLo",
    short_attached="OUCMBln",
    flags=words(
        "patch no-patch stat shortstat numstat name-only name-status check binary text cached staged"
        " no-index ext-diff no-ext-diff textconv no-textconv oneline graph all no-pager raw summary reverse"
        " open-files-in-pager recursive no-recursive untracked exclude-standard ignore-case"),
    values=words(
        "output contents ignore-revs-file regexp author committer grep since until after"
        " before max-count skip pretty-format diff-filter inter-hunk-context"),
    ends=frozenset(),
)  # fmt: skip


def _show(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """`rev:path` names a file of the work tree by its committed content; so does a path after `--`."""
    before: Sequence[str] = arguments
    after: Sequence[str] = ()
    if "--" in arguments:
        cut = list(arguments).index("--")
        before, after = arguments[:cut], arguments[cut + 1 :]
    parsed = parse(before, _SHOW)
    for name in parsed.values_of("output"):
        found.write(repository.at(name))
    for option in ("contents", "ignore-revs-file"):
        found.read_all(map(repository.at, parsed.values_of(option)))
    found.opaque |= parsed.has("open-files-in-pager", "ext-diff")
    for word in parsed.operands:
        _, colon, path = word.partition(":")
        if colon and path and not word.startswith(":/"):
            path = path[2:] if path[:2] in ("0:", "1:", "2:", "3:") else path
            found.read(repository.at(path) if path.startswith(("./", "../")) else f"{repository.root}/{path}")
        elif not colon and found.places.exists(repository.at(word)):
            found.read(repository.at(word))
        elif parsed.has("no-index"):
            found.read(repository.at(word), None)
    for spec in after:
        if not spec.startswith(":"):
            found.read(repository.spec(spec, found))


def _grep(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    _show(arguments, repository, found)
    for word in parse(arguments, _SHOW).values_of("f"):
        found.read(repository.at(word))


def _format_patch(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"o": "output-directory"},
            short_values="ov",
            flags=words("stdout cover-letter thread numbered"),
            values=words("output-directory output subject-prefix suffix signature-file"),
        ),
    )
    for name in parsed.values_of("output"):
        found.write(repository.at(name))
    if not parsed.has("stdout", "output"):
        for folder in parsed.values_of("output-directory"):
            found.write(repository.at(folder), True)


def _archive(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"o": "output", "l": "list"},
            short_values="o",
            flags=words("list verbose worktree-attributes"),
            values=words("output remote exec format prefix add-file add-virtual-file mtime"),
            ends=ENDS,
        ),
    )
    for name in parsed.values_of("output"):
        found.write(repository.at(name))
    found.read_all(map(repository.at, parsed.values_of("add-file")))
    for text in parsed.values_of("remote"):
        reach(repository, text, found)
    found.opaque |= parsed.has("exec")


def _bundle(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments[1:], Syntax(flags=words("quiet progress all all-progress"), values=words("version"))
    )
    for name in parsed.operands[:1]:
        if name != "-":
            (found.write if arguments[:1] == ["create"] else found.read)(repository.at(name))


def _hash_object(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, Syntax(short_values="t", flags=words("stdin stdin-paths no-filters literally"),
                                     values=words("path")))  # fmt: skip
    found.opaque |= parsed.has("stdin-paths")
    found.read_all(map(repository.at, parsed.operands))


_CONFIG = Syntax(
    short={"f": "file", "l": "list", "e": "edit", "t": "type", "z": "null"},
    short_values="ft",
    flags=words(
        "global system local worktree list edit add get get-all get-regexp get-urlmatch unset unset-all"
        " replace-all rename-section remove-section bool int bool-or-int path expiry-date null name-only"
        " show-origin show-scope includes no-includes get-color get-colorbool fixed-value append all"),
    values=words("file blob type default comment url value"),
    ends=ENDS,
)  # fmt: skip
_CONFIG_READS = (
    "get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool",
)  # fmt: skip
_CONFIG_WRITES = ("edit", "add", "unset", "unset-all", "replace-all", "rename-section", "remove-section")
_CONFIG_COMMANDS = words("set unset edit rename-section remove-section")


def _config(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """The file that is read or written: `--global` is the home's, `--file` any, else the repository's."""
    parsed = parse(arguments, _CONFIG)
    files = [repository.at(name) for name in parsed.values_of("file") if name != "-"]
    if parsed.has("global"):
        files.append(found.at_home(".gitconfig"))
    if parsed.has("system"):
        files.append("/etc/gitconfig")
    if parsed.has("worktree"):
        files.append(repository.ref("config.worktree"))
    operands = parsed.operands
    command = operands[0] if operands else ""
    writes = parsed.has(*_CONFIG_WRITES) or command in _CONFIG_COMMANDS
    if not writes and not parsed.has(*_CONFIG_READS) and command not in ("get", "list"):
        writes = len(operands) > 1
    for name in files or ([repository.ref("config")] if writes else []):
        if writes:
            found.write(name)
        else:
            found.read(name)


_COMMIT = Syntax(
    short={
        "F": "file",
        "t": "template",
        "m": "message",
        "C": "reuse-message",
        "c": "reedit-message",
        "S": "sign",
        "u": "untracked",
    },
    short_values="FtmCc",
    short_attached="Su",
    flags=words("all patch amend no-verify signoff quiet verbose dry-run no-edit allow-empty"),
    values=words(
        "file template message reuse-message reedit-message author date cleanup fixup squash"
        " pathspec-from-file trailer"
    ),
    ends=ENDS,
)


def _commit(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _COMMIT)
    for option in ("file", "template", "pathspec-from-file"):
        found.read_all(repository.at(name) for name in parsed.values_of(option) if name != "-")


COMMANDS: dict[str, Command] = {
    "diff": _show,
    "log": _show,
    "show": _show,
    "cat-file": _show,
    "blame": _show,
    "annotate": _show,
    "whatchanged": _show,
    "grep": _grep,
    "shortlog": _show,
    "range-diff": _show,
    "diff-tree": _show,
    "diff-index": _show,
    "diff-files": _show,
    "format-patch": _format_patch,
    "archive": _archive,
    "bundle": _bundle,
    "hash-object": _hash_object,
    "config": _config,
    "commit": _commit,
}

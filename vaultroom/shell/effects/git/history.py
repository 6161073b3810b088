"""Subcommands that lose history: branches, tags and stashes, the reflog, unreachable objects, rewrites."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.git.repository import Command, Repository
from vaultroom.shell.effects.git.tree import ENDS
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.words import words

_BRANCH = Syntax(
    short={
        "D": "force-delete",
        "d": "delete",
        "f": "force",
        "M": "force-move",
        "C": "force-copy",
        "m": "move",
        "c": "copy",
        "r": "remotes",
        "u": "set-upstream-to",
        "t": "track",
    },
    short_values="u",
    flags=words(
        "delete force move copy list remotes all track no-track edit-description unset-upstream verbose"
        " quiet color no-color ignore-case show-current abbrev no-abbrev column no-column merged no-merged"
        " contains no-contains create-reflog"
    ),
    values=words("set-upstream-to sort points-at format"),
    ends=ENDS,
)


def _branch(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _BRANCH)
    kind = "refs/remotes" if parsed.has("remotes") else "refs/heads"
    forced = parsed.has("force")
    if parsed.has("force-delete") or (forced and parsed.has("delete")):
        for name in parsed.operands:
            found.delete(repository.ref(kind, name), False)
    elif parsed.has("force-move", "force-copy") or (forced and parsed.has("move", "copy")):
        for name in parsed.operands[-1:]:
            found.write(repository.ref(kind, name))
    elif forced:
        for name in parsed.operands[:1]:
            found.write(repository.ref(kind, name))


_TAG = Syntax(
    short={"d": "delete", "f": "force", "F": "file", "m": "message", "u": "local-user", "n": "lines"},
    short_values="Fmu",
    short_attached="n",
    flags=words("annotate sign no-sign force delete verify list edit create-reflog color column ignore-case"),
    values=words(
        "file message local-user cleanup sort format contains no-contains merged no-merged points-at"
    ),
    ends=ENDS,
)


def _tag(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _TAG)
    found.read_all(map(repository.at, (name for name in parsed.values_of("file") if name != "-")))
    if parsed.has("delete"):
        for name in parsed.operands:
            found.delete(repository.ref("refs/tags", name), False)
    elif parsed.has("force"):
        for name in parsed.operands[:1]:
            found.write(repository.ref("refs/tags", name))


def _stash(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    if arguments[:1] in (["drop"], ["clear"]):
        found.delete(repository.ref("refs/stash"), False)


def _reflog(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    if arguments[:1] not in (["expire"], ["delete"]):
        return
    parsed = parse(
        arguments[1:],
        Syntax(
            short={"n": "dry-run"},
            flags=words("dry-run all single-worktree rewrite updateref stale-fix verbose"),
            values=words("expire expire-unreachable"),
        ),
    )
    if not parsed.has("dry-run"):
        found.delete(repository.ref("logs"), True)


def _collect_garbage(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """A plain `gc` keeps what is younger than two weeks; what loses objects is asking it to prune."""
    parsed = parse(
        arguments,
        Syntax(
            flags=words(
                "aggressive auto detach no-detach quiet prune no-prune force keep-largest-pack cruft no-cruft"
            ),
            values=words("max-cruft-size expire-to"),
        ),
    )
    if parsed.has("prune") and parsed.last("prune") != "never" and not _ends_with_no(arguments):
        found.delete(repository.ref("objects"), True)


def _ends_with_no(arguments: Sequence[str]) -> bool:
    last = [word for word in arguments if word.startswith(("--prune", "--no-prune"))]
    return bool(last) and last[-1].startswith("--no-")


def _prune(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"n": "dry-run"}, flags=words("dry-run verbose progress"), values=words("expire"), ends=ENDS
        ),
    )
    if not parsed.has("dry-run"):
        found.delete(repository.ref("objects"), True)


def _update_ref(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"d": "delete"},
            short_values="m",
            flags=words("no-deref stdin create-reflog deref"),
            ends=ENDS,
        ),
    )
    if parsed.has("stdin"):
        found.write(repository.ref("refs"), True)
        found.doubt()
    for name in parsed.operands[:1]:
        if parsed.has("delete"):
            found.delete(repository.ref(name), False)
        else:
            found.write(repository.ref(name))


def _symbolic_ref(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(short={"d": "delete"}, short_values="m", flags=words("delete quiet short recurse"), ends=ENDS),
    )
    if parsed.has("delete"):
        for name in parsed.operands[:1]:
            found.delete(repository.ref(name), False)
    elif len(parsed.operands) > 1:
        found.write(repository.ref(parsed.operands[0]))


def _rewrite(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """filter-branch and filter-repo rewrite every ref; their filters are code."""
    if "--dry-run" in arguments:
        return
    found.write(repository.own, True)
    found.write(repository.root, True)
    found.doubt()


def _runs_code(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    found.doubt()


def _rebase(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(short={"x": "exec"}, short_values="xsXC", flags=words("interactive abort skip continue quit"),
               values=words("exec onto strategy strategy-option")),
    )  # fmt: skip
    found.opaque |= parsed.has("exec")
    if parsed.has("abort", "skip"):
        found.write(repository.root, True)


def _abort(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """merge, cherry-pick and revert: `--abort` throws away what was resolved so far."""
    if any(word.startswith("--ab") for word in arguments):
        found.write(repository.root, True)


def _bisect(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    found.opaque |= arguments[:1] == ["run"]


COMMANDS: dict[str, Command] = {
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "reflog": _reflog,
    "gc": _collect_garbage,
    "prune": _prune,
    "update-ref": _update_ref,
    "symbolic-ref": _symbolic_ref,
    "filter-branch": _rewrite,
    "filter-repo": _rewrite,
    "rebase": _rebase,
    "merge": _abort,
    "cherry-pick": _abort,
    "revert": _abort,
    "bisect": _bisect,
    "difftool": _runs_code,
    "mergetool": _runs_code,
}

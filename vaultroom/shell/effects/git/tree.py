"""Subcommands that change files of the work tree: clean, reset, checkout, restore, rm, mv, apply."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.git.repository import Command, Repository
from vaultroom.shell.effects.options import OPERAND, Parsed, Syntax, parse
from vaultroom.shell.effects.touch import basename, inside
from vaultroom.shell.words import words

ENDS = words("-- --end-of-options")

_CLEAN = Syntax(
    short={"n": "dry-run", "e": "exclude"},
    short_values="e",
    flags=words("quiet no-quiet dry-run no-dry-run force no-force interactive no-interactive"),
    values=words("exclude"),
    ends=ENDS,
)


def _clean(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """Everything untracked below the working directory or the path specs.

    Without `-f` git refuses unless the configuration allows it; that cannot be seen from here, so it counts
    as a delete.
    """
    parsed = parse(arguments, _CLEAN)
    if parsed.has("dry-run") and not parsed.has("no-dry-run"):
        return
    for spec in parsed.operands or ["."]:
        found.opaque |= spec.startswith(":")
        found.delete(repository.at(".") if spec.startswith(":") else repository.spec(spec, found))


_RESET = Syntax(
    short={"p": "patch", "N": "intent-to-add", "q": "quiet"},
    flags=words("hard soft mixed merge keep quiet no-quiet no-refresh refresh patch intent-to-add"
                " recurse-submodules no-recurse-submodules pathspec-file-nul"),
    values=words("pathspec-from-file"),
    ends=ENDS,
)  # fmt: skip


def _reset(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _RESET)
    if any("hard".startswith(name) and name for name in parsed.given) or parsed.has("hard"):
        _lose_all(repository, found)
    elif parsed.has("merge", "keep"):
        found.write(repository.root, True)


def _lose_all(repository: Repository, found: Found) -> None:
    """Local changes are overwritten, and files that are new in the index are removed."""
    found.write(repository.root, True)
    found.delete_below(repository.root)


_CHECKOUT = Syntax(
    short={
        "f": "force", "b": "branch", "B": "reset-branch", "d": "detach", "p": "patch", "m": "merge",
        "t": "track", "c": "branch", "C": "reset-branch", "s": "source", "S": "staged", "W": "worktree",
        "l": "reflog", "q": "quiet", "2": "ours", "3": "theirs",
    },
    short_values="bBcCs",
    flags=words(
        "force discard-changes detach patch merge track no-track quiet progress no-progress ours theirs guess"
        " no-guess overlay no-overlay recurse-submodules no-recurse-submodules overwrite-ignore"
        " no-overwrite-ignore ignore-other-worktrees ignore-skip-worktree-bits staged worktree"
        " ignore-unmerged pathspec-file-nul no-force no-detach no-merge no-patch"
    ),
    values=words("orphan conflict pathspec-from-file source create force-create"),
    ends=frozenset(),
)  # fmt: skip
_SEPARATORS = ("--", "--end-of-options")


def _split_at_dashes(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str] | None]:
    """What stands before and after `--`; None where there is none."""
    for position, word in enumerate(arguments):
        if word == "--":
            return arguments[:position], arguments[position + 1 :]
    return arguments, None


def _checkout(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    before, paths = _split_at_dashes(arguments)
    parsed = parse([word for word in before if word != "--end-of-options"], _CHECKOUT)
    _reset_branch(parsed, repository, found)
    specs = list(paths or ())
    operands = parsed.operands
    if paths is None and not parsed.has("branch", "reset-branch", "orphan", "detach"):
        specs += operands[1:]
        if operands and (len(operands) > 1 or _may_be_path(operands[0], repository)):
            specs = [*(operands[:1] if _may_be_path(operands[0], repository) else []), *specs]
    if parsed.has("pathspec-from-file"):
        found.read_all(map(repository.at, parsed.values_of("pathspec-from-file")))
        found.write(repository.root, True)
        found.doubt()
    for spec in specs:
        place = repository.spec(spec, found)
        found.write(place, None)
        if parsed.has("no-overlay"):
            found.delete(place)
    if not specs and parsed.has("force", "discard-changes"):
        _lose_all(repository, found)


def _may_be_path(word: str, repository: Repository) -> bool:
    """Whether a lone operand means files and not a branch."""
    if word.startswith((".", "/", ":")) or word.endswith("/") or any(mark in word for mark in "*?["):
        return word != ".."
    return repository.places.exists(repository.at(word))


def _reset_branch(parsed: Parsed, repository: Repository, found: Found) -> None:
    for name in parsed.values_of("reset-branch") + parsed.values_of("force-create"):
        found.write(repository.ref("refs/heads", name))


def _switch(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse([word for word in arguments if word not in _SEPARATORS], _CHECKOUT)
    _reset_branch(parsed, repository, found)
    if parsed.has("force", "discard-changes"):
        _lose_all(repository, found)


def _restore(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    before, paths = _split_at_dashes(arguments)
    parsed = parse([word for word in before if word != "--end-of-options"], _CHECKOUT)
    if parsed.has("staged") and not parsed.has("worktree"):
        return
    specs = [*parsed.operands, *(paths or ())]
    if parsed.has("pathspec-from-file"):
        found.read_all(map(repository.at, parsed.values_of("pathspec-from-file")))
        found.doubt()
        specs.append(":/")
    for spec in specs:
        place = repository.spec(spec, found)
        found.write(place, None)
        if parsed.has("source") and not parsed.has("overlay"):
            found.delete(place)


_RM = Syntax(
    short={"r": "recursive", "n": "dry-run"},
    flags=words("dry-run no-dry-run quiet cached no-cached force ignore-unmatch sparse pathspec-file-nul"),
    values=words("pathspec-from-file"),
    ends=ENDS,
)


def _rm(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _RM)
    if parsed.has("dry-run", "cached"):
        return
    if parsed.has("pathspec-from-file"):
        found.read_all(map(repository.at, parsed.values_of("pathspec-from-file")))
        found.doubt()
    for spec in parsed.operands:
        glob = any(mark in spec for mark in "*?[:")
        found.delete(repository.spec(spec, found), None if parsed.has("recursive") or glob else False)


def _mv(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, Syntax(short={"n": "dry-run"}, flags=words("dry-run force verbose sparse")))
    if parsed.has("dry-run") or len(parsed.operands) < 2:
        return
    *sources, target = map(repository.at, parsed.operands)
    folder = len(sources) > 1 or target.endswith("/") or found.places.is_directory(target)
    for source in sources:
        found.read(source, None)
        found.delete(source)
        found.write(inside(target, basename(source)) if folder else target, found.places.may_be_tree(source))


_ADD = Syntax(
    short={"f": "force", "A": "all", "u": "update", "n": "dry-run", "p": "patch"},
    flags=words(
        "dry-run verbose force interactive patch edit update all ignore-removal sparse renormalize refresh"
        " intent-to-add ignore-errors ignore-missing pathspec-file-nul no-all"),
    values=words("pathspec-from-file chmod"),
    ends=ENDS,
)  # fmt: skip


def _add(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """Files named are read into the repository; folders only as far as nothing is ignored, but with `-f`."""
    parsed = parse(arguments, _ADD)
    found.read_all(map(repository.at, parsed.values_of("pathspec-from-file")))
    for spec in parsed.operands:
        if not spec.startswith(":"):
            found.read(repository.spec(spec, found), None if parsed.has("force") else False)


_APPLY = Syntax(
    short={"R": "reverse", "p": "p", "C": "C", "3": "3way"},
    short_values="pC",
    flags=words(
        "stat numstat summary check index cached intent-to-add 3way ours theirs union apply reject reverse"
        " unidiff-zero binary no-add allow-overlap inaccurate-eof verbose quiet recount unsafe-paths"
        " allow-empty allow-binary-replacement index-info"
    ),
    values=words("build-fake-ancestor directory exclude include whitespace"),
    ends=ENDS,
)


def _apply(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _APPLY)
    found.read_all(map(repository.at, parsed.operands))
    if parsed.has("stat", "numstat", "summary", "check") and not parsed.has("apply"):
        return
    found.opaque |= parsed.has("unsafe-paths")
    if not parsed.has("cached"):
        found.write(repository.at(parsed.last("directory") or "."), True)


def _am(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _APPLY)
    found.read_all(map(repository.at, parsed.operands))
    found.write(repository.root, True)


_WORKTREE = Syntax(
    short={"b": "branch", "B": "reset-branch", "f": "force"},
    short_values="bB",
    flags=words("force detach checkout no-checkout guess-remote lock track quiet orphan"),
    values=words("reason expire"),
    ends=ENDS,
)


def _worktree(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments[1:], _WORKTREE)
    operands = [repository.at(word) for word in parsed.operands]
    if arguments[:1] == ["remove"]:
        for place in operands:
            found.delete(place, True)
    elif arguments[:1] == ["add"]:
        _reset_branch(parsed, repository, found)
        for place in operands[:1]:
            found.write(place, True)
    elif arguments[:1] == ["move"] and len(operands) > 1:
        found.delete(operands[0], True)
        found.write(operands[1], True)


def _checkout_index(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"a": "all", "f": "force"}, flags=words("all force stdin"), values=words("prefix stage")
        ),
    )
    prefix = parsed.last("prefix")
    if prefix:
        found.write(repository.at(prefix.rpartition("/")[0] or "."), True)
    elif parsed.has("all", "stdin"):
        found.write(repository.root, True)
    for name in parsed.operands:
        found.write(repository.at(prefix + name), None)


def _read_tree(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, Syntax(flags=words("reset"), values=words("prefix index-output")))
    if parsed.has("u"):
        _lose_all(repository, found)


def _init(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(short_values="b", flags=words("bare quiet shared"),
               values=words("template separate-git-dir object-format initial-branch")),
    )  # fmt: skip
    for place in parsed.values_of("separate-git-dir"):
        found.write(repository.at(place), True)
    for place in parsed.values_of("template"):
        found.read(repository.at(place), True)
        found.doubt()  # a template brings hooks
    for name, value in parsed.ordered:
        if name == OPERAND:
            found.make_parents(repository.at(inside(value, ".git")))
            found.write(repository.at(value if parsed.has("bare") else inside(value, ".git")), True)


COMMANDS: dict[str, Command] = {
    "clean": _clean,
    "reset": _reset,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "rm": _rm,
    "mv": _mv,
    "add": _add,
    "stage": _add,
    "apply": _apply,
    "am": _am,
    "worktree": _worktree,
    "checkout-index": _checkout_index,
    "read-tree": _read_tree,
    "init": _init,
}

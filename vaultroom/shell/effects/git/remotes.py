"""Subcommands that reach another repository: clone, fetch, pull, push, ls-remote, remote, submodule.

A remote's name does not tell its host; only a URL in the arguments does.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.git.repository import Command, Repository
from vaultroom.shell.effects.git.tree import ENDS
from vaultroom.shell.effects.hosts import is_url, remote_spec
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import basename
from vaultroom.shell.words import words


def reach(
    repository: Repository, text: str, found: Found, *, write: bool = False, named: bool = True
) -> None:
    """A repository by URL or path; with `named` a plain word is a remote's name and tells nothing."""
    if "::" in text.partition("/")[0] and not text.startswith("["):
        found.doubt()  # a transport helper: `ext::` runs any command
        _, _, address = text.partition("::")
        if is_url(address):
            found.url(address)
        return
    if text.lower().startswith("file:"):
        text = text[7:] if text[5:7] == "//" else text[5:]
    elif is_url(text):
        found.url(text)
        return
    else:
        remote = remote_spec(text)
        if remote is not None:
            found.connect(remote.at)
            return
    if named and "/" not in text and not text.startswith("."):
        return
    found.read(repository.at(text), True)
    if write:
        found.write(repository.at(text), True)


_CLONE = Syntax(
    short={"o": "origin", "b": "branch", "u": "upload-pack", "c": "config", "j": "jobs", "n": "no-checkout",
           "l": "local", "s": "shared"},
    short_values="obucj",
    flags=words(
        "verbose quiet progress no-checkout bare mirror local no-local no-hardlinks shared"
        " recurse-submodules recursive single-branch no-single-branch no-tags shallow-submodules"
        " no-shallow-submodules dissociate remote-submodules no-remote-submodules ipv4 ipv6 sparse"
        " reject-shallow tags also-filter-submodules"),
    values=words(
        "origin branch upload-pack config jobs reference reference-if-able template depth shallow-since"
        " shallow-exclude separate-git-dir server-option filter bundle-uri revision ref-format"),
    ends=ENDS,
)  # fmt: skip


def _clone(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _CLONE)
    found.opaque |= parsed.has("upload-pack", "template")
    found.opaque |= any(
        not value.lower().startswith(("user.", "core.autocrlf")) for value in parsed.values_of("config")
    )
    for option in ("reference", "reference-if-able", "template"):
        for name in parsed.values_of(option):
            found.read(repository.at(name), True)
    for name in parsed.values_of("separate-git-dir"):
        found.write(repository.at(name), True)
    for address in parsed.values_of("bundle-uri"):
        reach(repository, address, found, named=False)
    if not parsed.operands:
        return
    source, *target = parsed.operands
    reach(repository, source, found, named=False)
    found.write(
        repository.at(target[0] if target else _humanish(source, bare=parsed.has("bare", "mirror"))), True
    )


def _humanish(source: str, *, bare: bool) -> str:
    """The folder that `git clone` makes up from an address."""
    name = source.rstrip("/").removesuffix("/.git").rstrip("/")
    name = basename(name).rpartition(":")[2] or "."
    name = name.removesuffix(".git").removesuffix(".bundle")
    return f"{name}.git" if bare else name


_FETCH = Syntax(
    short={
        "o": "server-option",
        "j": "jobs",
        "f": "force",
        "p": "prune",
        "s": "strategy",
        "X": "strategy-option",
        "n": "dry-run",
        "d": "delete",
    },
    short_values="ojsX",
    flags=words(
        "all append atomic dry-run write-fetch-head force keep multiple prune prune-tags tags no-tags"
        " recurse-submodules no-recurse-submodules set-upstream quiet verbose progress ipv4 ipv6 unshallow"
        " update-shallow update-head-ok stdin rebase no-rebase ff ff-only no-ff autostash no-autostash"
        " commit no-commit squash edit no-edit mirror delete branches thin no-thin follow-tags"
        " force-with-lease force-if-includes no-force-with-lease no-verify verify signed porcelain"
    ),
    values=words(
        "depth deepen shallow-since shallow-exclude refmap server-option jobs upload-pack receive-pack exec"
        " repo push-option strategy strategy-option negotiation-tip recurse-submodules-default filter"
    ),
    ends=ENDS,
)
_PUSH = Syntax(short=_FETCH.short, short_values="o", flags=_FETCH.flags, values=_FETCH.values, ends=ENDS)


def _fetch(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(arguments, _FETCH)
    found.opaque |= parsed.has("upload-pack")
    operands = parsed.operands if parsed.has("multiple") else parsed.operands[:1]
    for text in operands:
        reach(repository, text, found)


def _push(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """A forced push also moves what is known here of the remote's branches."""
    parsed = parse(arguments, _PUSH)
    found.opaque |= parsed.has("receive-pack", "exec")
    for text in parsed.values_of("repo") + parsed.operands[:1]:
        reach(repository, text, found, write=not parsed.has("dry-run"))
    if parsed.has("dry-run"):
        return
    specs = parsed.operands[1:]
    lease = parsed.has("force-with-lease")
    forced = parsed.has("force", "mirror", "prune") or any(spec.startswith("+") for spec in specs)
    deleted = parsed.has("delete", "mirror", "prune") or any(spec.startswith(":") for spec in specs)
    if forced or deleted or lease:
        place = repository.ref("refs/remotes")
        found.write(place, True)
        if deleted:
            found.delete(place, True)


def _ls_remote(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(short_values="o", flags=words("heads tags refs quiet exit-code get-url symref branches"),
               values=words("upload-pack exec sort server-option"), ends=ENDS),
    )  # fmt: skip
    found.opaque |= parsed.has("upload-pack", "exec")
    for text in parsed.operands[:1]:
        reach(repository, text, found)


def _remote(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    """Naming an address for later counts as reaching it: the later push names only the remote."""
    parsed = parse(
        arguments,
        Syntax(short_values="tm", flags=words("fetch tags no-tags mirror add delete push verbose"),
               values=words("track master"), ends=ENDS),
    )  # fmt: skip
    if parsed.operands[:1] in (["add"], ["set-url"]):
        for text in parsed.operands[2:]:
            reach(repository, text, found)
        found.write(repository.ref("config"))
    elif parsed.operands[:1] in (["remove"], ["rm"]):
        found.delete(repository.ref("refs/remotes", *parsed.operands[1:2]), True)


def _submodule(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    parsed = parse(
        arguments,
        Syntax(
            short={"b": "branch", "f": "force"},
            short_values="bj",
            flags=words("quiet force init recursive remote cached all merge rebase checkout"),
            values=words("branch name reference depth jobs"),
            ends=ENDS,
        ),
    )
    command = parsed.operands[0] if parsed.operands else ""
    if command == "foreach":
        found.doubt()
    elif command == "add" and len(parsed.operands) > 1:
        source = parsed.operands[1]
        reach(repository, source, found, named=False)
        place = parsed.operands[2] if len(parsed.operands) > 2 else _humanish(source, bare=False)
        found.write(repository.at(place), True)
    elif command == "set-url":
        for text in parsed.operands[2:]:
            reach(repository, text, found, named=False)
    elif command == "deinit":
        places = parsed.operands[1:] or ([":/"] if parsed.has("all") else [])
        for spec in places:
            found.delete(repository.spec(spec, found), True)
    elif command == "update" and parsed.has("force"):
        for spec in parsed.operands[1:] or ["."]:
            found.write(repository.spec(spec, found), True)


def _request_pull(arguments: Sequence[str], repository: Repository, found: Found) -> None:
    for text in arguments[1:2]:
        reach(repository, text, found)


COMMANDS: dict[str, Command] = {
    "clone": _clone,
    "fetch": _fetch,
    "pull": _fetch,
    "push": _push,
    "ls-remote": _ls_remote,
    "remote": _remote,
    "submodule": _submodule,
    "request-pull": _request_pull,
}

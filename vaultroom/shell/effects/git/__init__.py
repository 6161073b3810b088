"""git: what its subcommands do to the work tree, to the repository's own files, and which hosts they reach.

Only acts that lose something, or that name files or hosts in their arguments, leave touches: a plain
`git checkout main` changes files too, but git refuses to lose any that way.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.git import content, history, remotes, tree
from vaultroom.shell.effects.git.repository import Command, Repository
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.subcommand import split_global_options
from vaultroom.shell.words import words

_COMMANDS: dict[str, Command] = tree.COMMANDS | history.COMMANDS | remotes.COMMANDS | content.COMMANDS

_HARMLESS_SECTIONS = words("advice color column user i18n status pack index versionsort")
_HARMLESS_KEYS = words(
    "init.defaultbranch commit.gpgsign tag.gpgsign core.quotepath core.autocrlf core.eol core.filemode"
    " core.ignorecase core.precomposeunicode core.abbrev core.symlinks core.longpaths core.compression"
    " core.safecrlf core.logallrefupdates core.preloadindex core.untrackedcache diff.renames diff.renamelimit"
    " diff.context diff.noprefix diff.mnemonicprefix diff.algorithm diff.colormoved diff.interhunkcontext"
    " diff.submodule diff.wserrorhighlight log.date log.decorate log.showsignature log.abbrevcommit"
    " merge.conflictstyle merge.ff merge.renames merge.renamelimit pull.rebase pull.ff push.default"
    " push.autosetupremote push.followtags rebase.autostash rebase.autosquash rebase.updaterefs fetch.prune"
    " fetch.parallel fetch.writecommitgraph gc.auto gc.autodetach maintenance.auto protocol.version"
    " safe.directory http.postbuffer http.lowspeedlimit http.lowspeedtime http.version submodule.recurse"
    " submodule.fetchjobs branch.sort tag.sort clean.requireforce apply.whitespace grep.linenumber"
    " grep.patterntype checkout.defaultremote blame.date stash.showpatch rerere.enabled am.threeway"
    " advice.detachedhead fetch.recursesubmodules transfer.fsckobjects gc.pruneexpire gc.reflogexpire"
)
"""Settings that neither run a program nor lead to other files or hosts."""


def _git(argv: Sequence[str], places: Places) -> Effects:
    options, rest = split_global_options("git", argv)
    found = Found(places)
    for name, value in options:
        if name in ("-c", "--config-env"):
            found.opaque |= not is_harmless_setting(value.partition("=")[0])
        elif name == "--exec-path":
            found.opaque |= bool(value)
    command = _COMMANDS.get(rest[0]) if rest else None
    if command is not None:
        command(rest[1:], Repository(options, places), found)
    return found.effects()


def is_harmless_setting(key: str) -> bool:
    """Whether setting `key` for one command only changes how git behaves, not what it runs."""
    name = key.strip().lower()
    return name in _HARMLESS_KEYS or (name.count(".") == 1 and name.partition(".")[0] in _HARMLESS_SECTIONS)


PROGRAMS: dict[str, Analyse] = {"git": _git}

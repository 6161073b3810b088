"""Variables that give git's words another meaning: another repository, an alias, another remote.

Agents set dozens of harmless ones themselves, so only what redirects counts.
"""

from __future__ import annotations

import os

from vaultroom.events import Environment
from vaultroom.shell.words import words

_REDIRECTING_KEYS = ("remote.", "url.", "branch.", "include.", "includeif.", "core.worktree")
"""Not `alias.`: an alias cannot hide a command of git's own, and any other word is doubt already."""
_CHANGING = words(
    "am apply branch checkout checkout-index cherry-pick clean clone fetch filter-branch gc lfs merge mv"
    " prune pull push rebase remote reset restore revert rm send-pack stash submodule switch symbolic-ref"
    " tag update-ref worktree"
)
"""Commands that change files, references or another machine. The rest only reads, or fills an index."""
_ALWAYS = frozenset({"GIT_EXEC_PATH", "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"})
_CONFIG_FILES = frozenset({"GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"})


def redirects_git(environ: Environment, cwd: str, subcommand: str) -> bool:
    """Whether `git … subcommand` in `cwd`, with these variables, may change something else than it says."""
    if subcommand not in _CHANGING:
        return False
    names = environ.matching("GIT_")
    if names & _ALWAYS or any(environ.get(name) != os.devnull for name in names & _CONFIG_FILES):
        return True
    if "GIT_DIR" in names and not _is_above(os.path.dirname(_at(cwd, environ.get("GIT_DIR"))), cwd):
        return True
    if "GIT_WORK_TREE" in names and not _is_above(_at(cwd, environ.get("GIT_WORK_TREE")), cwd):
        return True
    keys = [environ.get(name) for name in names if name.startswith("GIT_CONFIG_KEY_")]
    keys += environ.get("GIT_CONFIG_PARAMETERS").replace('"', "'").split("'")
    return any(key.strip().lower().startswith(_REDIRECTING_KEYS) for key in keys)


def _at(cwd: str, value: str) -> str:
    return os.path.normpath(os.path.join(cwd, value))


def _is_above(folder: str, cwd: str) -> bool:
    """Whether `cwd` is `folder` or lies below it."""
    return cwd == folder or cwd.startswith(folder.rstrip("/") + "/")

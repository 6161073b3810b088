"""Subcommands that show or export content, and the configuration."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
git status                              →
git diff                                →
git diff --output=/x HEAD~1             → w:/x
git diff --outp=/x                      → w:/x
git log -p --output /x                  → w:/x
git show HEAD:.env                      → r:/w/.env
git show HEAD:./a                       → r:/w/a
git show :0:a                           → r:/w/a
git cat-file -p HEAD:.ssh/id            → r:/w/.ssh/id
git diff --no-index a b                 → r:/w/a/** r:/w/b/**
git diff -- a                           → r:/w/a
git blame -- a                          → r:/w/a
git grep x -- d                         → r:/w/d
git grep -Oless x                       → !
git grep --open-files-in-pager=sh x     → !
git diff --ext-diff                     → !
git format-patch -o /x HEAD~1           → w:/x/**
git archive -o /x HEAD                  → w:/x
git archive --remote=h:y HEAD           → n:h:22
git archive --remote=h:y --exec=sh HEAD → ! n:h:22
git bundle create /x HEAD               → w:/x
git bundle unbundle x                   → r:/w/x
git hash-object -w f                    → r:/w/f
git config user.name                    →
git config user.name x                  → w:/w/.git/config
git config --get x                      →
git config --global user.name x         → w:/h/.gitconfig
git config --global user.name           → r:/h/.gitconfig
git config --global -e                  → w:/h/.gitconfig
git config --global --unset x           → w:/h/.gitconfig
git config --system a.b c               → w:/etc/gitconfig
git config -f f a.b c                   → w:/w/f
git config -l -f f                      → r:/w/f
git config set a.b c                    → w:/w/.git/config
git commit -m x                         →
git commit -F m                         → r:/w/m
git commit --template=t                 → r:/w/t
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

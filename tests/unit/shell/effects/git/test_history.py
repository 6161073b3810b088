"""Subcommands that lose history."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
git branch -D old a/b                → d:/w/.git/refs/heads/old d:/w/.git/refs/heads/a/b
git branch -Dq old                   → d:/w/.git/refs/heads/old
git branch -d old                    →
git branch -d -f old                 → d:/w/.git/refs/heads/old
git branch -rD origin/x              → d:/w/.git/refs/remotes/origin/x
git branch -f main HEAD~3            → w:/w/.git/refs/heads/main
git branch -M a b                    → w:/w/.git/refs/heads/b
git branch new                       →
git tag -d v1                        → d:/w/.git/refs/tags/v1
git tag -f v1                        → w:/w/.git/refs/tags/v1
git tag v1                           →
git stash                            →
git stash pop                        →
git stash list                       →
git stash drop                       → d:/w/.git/refs/stash
git stash clear                      → d:/w/.git/refs/stash
git reflog expire --expire=now --all → d:/w/.git/logs/**
git reflog expire -n --all           →
git reflog show expire               →
git reflog delete x                  → d:/w/.git/logs/**
git gc                               →
git gc --prune=now                   → d:/w/.git/objects/**
git gc --prune=never                 →
git gc --prune=now --no-prune        →
git prune                            → d:/w/.git/objects/**
git prune -n                         →
git filter-branch --tree-filter x    → ! w:/w/.git/** w:/w/**
git filter-repo --force              → ! w:/w/.git/** w:/w/**
git filter-repo --dry-run --force    →
git update-ref -d refs/heads/x       → d:/w/.git/refs/heads/x
git update-ref refs/heads/x HEAD     → w:/w/.git/refs/heads/x
git update-ref --stdin               → ! w:/w/.git/refs/**
git symbolic-ref HEAD refs/heads/x   → w:/w/.git/HEAD
git rebase main                      →
git rebase -x sh main                → !
git rebase --abort                   → w:/w/**
git merge --abort                    → w:/w/**
git bisect run sh                    → !
git difftool -x sh                   → !
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

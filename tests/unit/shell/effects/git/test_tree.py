"""clean, reset, checkout, restore, rm, mv, add, apply, worktree."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
git reset --hard HEAD~1                           → w:/w/** d:/w/**
git reset --h                                     → w:/w/** d:/w/**
git reset --har                                   → w:/w/** d:/w/**
git -C sub reset --hard                           → w:/w/sub/** d:/w/sub/**
git -c advice.x=y reset --hard                    → w:/w/** d:/w/**
git --git-dir=/r/.git --work-tree=/r reset --hard → w:/r/** d:/r/**
git reset -- --hard                               →
git reset --soft HEAD~1                           →
git reset HEAD~1                                  →
git reset --keep x                                → w:/w/**
git checkout main                                 →
git checkout -b feature/x                         →
git checkout -B main                              → w:/w/.git/refs/heads/main
git checkout .                                    → w:/w/**
git checkout ./a                                  → w:/w/a/**
git checkout -- a                                 → w:/w/a/**
git checkout HEAD -- a b                          → w:/w/a/** w:/w/b/**
git checkout HEAD a                               → w:/w/a/**
git checkout -f                                   → w:/w/** d:/w/**
git checkout -qf main                             → w:/w/** d:/w/**
git checkout --force main                         → w:/w/** d:/w/**
git checkout -- *.py                              → w:/w/**
git checkout :/                                   → w:/w/**
git checkout -f -b topic --no-detach origin/other → w:/w/** d:/w/**
git switch main                                   →
git switch -f --no-merge main                     → w:/w/** d:/w/**
git switch --discard-changes main                 → w:/w/** d:/w/**
git switch -C main                                → w:/w/.git/refs/heads/main
git restore .                                     → w:/w/**
git restore . --staged                            →
git restore --staged .                            →
git restore -SW .                                 → w:/w/**
git restore -s HEAD~1 a                           → w:/w/a/** d:/w/a/**
git restore :/x                                   → w:/w/x/**
git restore --pathspec-from-file=f                → ! r:/w/f w:/w/**
git rm a                                          → d:/w/a
git rm -r a                                       → d:/w/a/**
git rm --cached -r a                              →
git rm -n a                                       →
git rm "*.o"                                      → d:/w/**
git mv a b                                        → r:/w/a/** d:/w/a/** w:/w/b/**
git mv a b d → r:/w/a/** d:/w/a/** w:/w/d/a/** r:/w/b/** d:/w/b/** w:/w/d/b/**
git add .                                         → r:/w
git add -f .env                                   → r:/w/.env/**
git add -fA d                                     → r:/w/d/**
git apply p                                       → r:/w/p w:/w/**
git apply --check p                               → r:/w/p
git apply --cached p                              → r:/w/p
git apply --unsafe-paths p                        → ! r:/w/p w:/w/**
git apply --directory=d p                         → r:/w/p w:/w/d/**
git am m                                          → r:/w/m w:/w/**
git worktree remove ../x                          → d:/x/**
git worktree add ../x main                        → w:/x/**
git checkout-index -f -a                          → w:/w/**
git read-tree -u --reset HEAD                     → w:/w/** d:/w/**
git init x                                        → w:/w/x w:/w/x/.git/**
git init --template=/t x                          → ! r:/t/** w:/w/x w:/w/x/.git/**
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

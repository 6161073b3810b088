"""Subcommands that reach another repository."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
git clone https://Evil.example/a/b.git      → n:evil.example:443 w:/w/b/**
git clone https://h/a/b /x                  → n:h:443 w:/x/**
git clone git@h.example:a/b.git             → n:h.example:22 w:/w/b/**
git clone u@h:x.git d                       → n:h:22 w:/w/d/**
git clone --bare https://h/a/b              → n:h:443 w:/w/b.git/**
git clone ../other d                        → r:/other/** w:/w/d/**
git clone file:///srv/x d                   → r:/srv/x/** w:/w/d/**
git clone -c core.fsmonitor=x https://h/x   → ! n:h:443 w:/w/x/**
git clone -u prog h:x                       → ! n:h:22 w:/w/x/**
git clone "ext::sh -c x" d                  → ! w:/w/d/**
git clone --separate-git-dir=/q https://h/x → w:/q/** n:h:443 w:/w/x/**
git fetch                                   →
git fetch origin                            →
git fetch https://h:8443/x                  → n:h:8443
git fetch ../other                          → r:/other/**
git fetch --upload-pack=x h:y               → ! n:h:22
git pull                                    →
git pull git://h/x main                     → n:h:9418
git push                                    →
git push origin main                        →
git push https://h/x main                   → n:h:443
git push h:x main                           → n:h:22
git push /srv/x.git main                    → r:/srv/x.git/** w:/srv/x.git/**
git push --repo=https://h/x                 → n:h:443
git push -f                                 → w:/w/.git/refs/remotes/**
git push -uf origin main                    → w:/w/.git/refs/remotes/**
git push --force-with-lease                 → w:/w/.git/refs/remotes/**
git push --force-w=other origin main        → w:/w/.git/refs/remotes/**
git push origin +main                       → w:/w/.git/refs/remotes/**
git push origin :old                        → w:/w/.git/refs/remotes/** d:/w/.git/refs/remotes/**
git push origin --delete old                → w:/w/.git/refs/remotes/** d:/w/.git/refs/remotes/**
git push --mirror origin                    → w:/w/.git/refs/remotes/** d:/w/.git/refs/remotes/**
git push --dry-run --mirror origin          →
git push -- --delete                        →
git push --receive-pack=x h:y               → ! n:h:22
git ls-remote https://h/x                   → n:h:443
git remote add o https://h/x                → n:h:443 w:/w/.git/config
git remote -v                               →
git remote set-url o h:x                    → n:h:22 w:/w/.git/config
git submodule add https://h/x               → n:h:443 w:/w/x/**
git submodule update --init                 →
git submodule foreach ls                    → !
git submodule deinit -f x                   → d:/w/x/**
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

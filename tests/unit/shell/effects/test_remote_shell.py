"""ssh, scp, sftp and rsync."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
ssh h                                         → n:h:22
ssh -p 2222 U@H.example. rm -p 1 x            → n:h.example:2222
ssh -p2222 h                                  → n:h:2222
ssh -i key -J j1,u@j2:23 h                    → r:/w/key n:j1:22 n:j2:23 n:h:22
ssh ssh://u@h:99                              → n:h:99
ssh -F cfg h                                  → ! r:/w/cfg n:h:22
ssh -o ProxyCommand=x h                       → ! n:h:22
ssh -oProxyCommand=x h                        → ! n:h:22
ssh -o "proxycommand x" h                     → ! n:h:22
ssh -o HostName=evil h                        → n:evil:22 n:h:22
ssh -E log h                                  → w:/w/log n:h:22
ssh -W t:80 h                                 → n:t:80 n:h:22
ssh ::1                                       → n:::1:22
scp a h:                                      → r:/w/a n:h:22
scp -r a u@h:/x                               → r:/w/a/** n:h:22
scp -P 2222 h:/etc/x .                        → n:h:2222 w:/w
scp h:/etc/x /d/                              → n:h:22 w:/d/x
scp a:b c:d                                   → n:a:22 n:c:22
scp ./a:b c                                   → r:/w/a:b w:/w/c
scp scp://u@h:99/x y                          → n:h:99 w:/w/y
scp "[::1]:x" y                               → n:::1:22 w:/w/y
scp -qvoProxyCommand=x a h:b                  → ! r:/w/a n:h:22
scp -S prog a h:b                             → ! r:/w/a n:h:22
sftp h                                        → n:h:22
sftp -b batch h                               → ! r:/w/batch n:h:22
sftp h:/x y                                   → n:h:22 w:/w/y/**
rsync -a src/ dst                             → r:/w/src/** w:/w/dst/**
rsync -a src dst/                             → r:/w/src/** w:/w/dst/src/**
rsync -a --delete src/ dst                    → r:/w/src/** w:/w/dst/** d:/w/dst/**
rsync -a --del src dst/                       → r:/w/src/** w:/w/dst/src/** d:/w/dst/src/**
rsync -a --delete-excluded --exclude=* e/ /p/ → r:/w/e/** w:/p/** d:/p/**
rsync -an --delete src/ /                     → r:/w/src/**
rsync -a --dry-run --delete src/ /            → r:/w/src/**
rsync --list-only --delete src/ /             → r:/w/src/**
rsync --remove-source-files a h:b             → r:/w/a d:/w/a/** n:h:22
rsync -e "ssh -p 22" a h:b                    → r:/w/a n:h:22
rsync -e "ssh -o ProxyCommand=x" a h:b        → ! r:/w/a n:h:22
rsync -ae sh a h:b                            → ! r:/w/a/** n:h:22
rsync --rsh=sh a h:b                          → ! r:/w/a n:h:22
rsync rsync://h:99/m/x .                      → n:h:99 w:/w
rsync h::m/x y                                → n:h:873 w:/w/y
rsync -a h:x :y d                             → n:h:22 w:/w/d/x/** w:/w/d/:y/**
rsync --backup-dir=/b --log-file=l a b        → w:/w/l w:/b/** r:/w/a w:/w/b w:/w/b/**
rsync --password-file=p a h::m                → r:/w/p r:/w/a n:h:873
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

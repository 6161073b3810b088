"""install, mkdir, touch, patch and their kin."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
install a b                      → r:/w/a w:/w/b
install -Dm755 a x/b             → r:/w/a w:/w/x/b w:/w/x
install -t d a b                 → r:/w/a w:/w/d/a r:/w/b w:/w/d/b
install -d a/b                   → w:/w/a w:/w/a/b
install -b a b                   → r:/w/a w:/w/b w:/w/b~
install a d/                     → r:/w/a w:/w/d/a
install --strip-program=x -s a b → ! r:/w/a w:/w/b
mkdir a                          → w:/w/a
mkdir -p a/b/c                   → w:/w/a/b/c w:/w/a/b w:/w/a
mkdir -m 700 a                   → w:/w/a
mkdir -pm 700 -- -a              → w:/w/-a
touch a b                        → w:/w/a w:/w/b
touch -r x y                     → r:/w/x w:/w/y
touch -t 01010101 y              → w:/w/y
touch -d now y                   → w:/w/y
patch -p1 -i f                   → r:/w/f w:/w/** d:/w/**
patch -d d -i f                  → r:/w/d/f w:/w/d/** d:/w/d/**
patch f p                        → r:/w/p r:/w/f w:/w/f w:/w/f.orig w:/w/f.rej d:/w/f
patch -o out f p                 → r:/w/p w:/w/out r:/w/f
patch --dry-run -i f             → r:/w/f
patch -b -z .o f p               → r:/w/p r:/w/f w:/w/f w:/w/f.o w:/w/f.rej d:/w/f
patch -e f p                     → ! r:/w/p r:/w/f w:/w/f w:/w/f.orig w:/w/f.rej d:/w/f
split f                          → r:/w/f w:/w/**
split -b 1 f /x/p                → r:/w/f w:/x/**
split --filter=sh f              → ! r:/w/f w:/w/**
csplit -f /x/p f 1               → r:/w/f w:/x/**
chattr +i f                      → w:/w/f
chattr -R -V +i d                → w:/w/d/**
setfacl -R -m u:d:rwx /etc       → w:/etc/**
setfacl --restore=f              → ! r:/w/f
rename a b f                     → ! d:/w/b/** d:/w/f/**
mkfifo p                         → w:/w/p
mknod p p                        → w:/w/p
link a b                         → r:/w/a w:/w/b
vim f                            → r:/w/f w:/w/f
sponge f                         → w:/w/f
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

"""sed: operands, `-i`, and what its scripts name."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = r"""
sed s/a/b/ f                 → r:/w/f
sed -n 1p f                  → r:/w/f
sed -i s/a/b/ f              → r:/w/f w:/w/f
sed -i.bak s/a/b/ f          → r:/w/f w:/w/f w:/w/f.bak
sed --in-place=.bak s/a/b/ f → r:/w/f w:/w/f w:/w/f.bak
sed -i "" s/a/b/ f           → r:/w/f w:/w/f
sed -ibak/x*.y s/a/b/ d/f    → r:/w/d/f w:/w/d/f w:/w/bak/xf.y
sed -Ei s/a/b/ f             → r:/w/f w:/w/f
sed -e 1d -e 2d -i f g       → r:/w/f w:/w/f r:/w/g w:/w/g
sed s/a/b/ -i f              → r:/w/f w:/w/f
sed --expr=1d f              → r:/w/f
sed -f script f              → ! r:/w/script r:/w/f
sed -n "w /h/.bashrc" f      → r:/w/f w:/h/.bashrc
sed "s/a/b/w out" f          → r:/w/f w:/w/out
sed "s/a/b/gw /dev/stdout" f → r:/w/f
sed "s/[^/]*$/x/w out" f     → r:/w/f w:/w/out
sed "s/[]/]x/y/w out" f      → r:/w/f w:/w/out
sed "s,a,b,;w out" f         → r:/w/f w:/w/out
sed "1r /etc/passwd" f       → r:/w/f r:/etc/passwd
sed "s/a/b/e" f              → ! r:/w/f
sed "1e id" f                → ! r:/w/f
sed "y/abc/wer/" f           → r:/w/f
sed "/w/d" f                 → r:/w/f
sed "/x/,/y/{s|a|b|g;p}" f   → r:/w/f
sed '\,x,w out' f            → r:/w/f w:/w/out
sed '/x/a\text w y' f        → r:/w/f
sed ':a;N;$!ba;s/\n/ /g' f   → r:/w/f
sed "# w out" f              → r:/w/f
sed "s/a" f                  → ! r:/w/f
sed "k" f                    → ! r:/w/f
sed                          →
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

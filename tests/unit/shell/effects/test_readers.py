"""Programs that read."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
cat a b -                     → r:/w/a r:/w/b
cat -- -n                     → r:/w/-n
head -n5 f                    → r:/w/f
head -n 5 f                   → r:/w/f
head -5 f                     → r:/w/f
tail -f /var/log/x            → r:/var/log/x
less -N +G f                  → r:/w/+G r:/w/f
less -o log f                 → w:/w/log r:/w/f
wc -l f                       → r:/w/f
wc --files0-from=list         → ! r:/w/list
od -An -tx1 f                 → r:/w/f
xxd a                         → r:/w/a
xxd a b                       → r:/w/a w:/w/b
xxd -ps a                     → r:/w/a
base64 -d f                   → r:/w/f
base64 -i f -o out            → w:/w/out r:/w/f
strings -n 8 f                → r:/w/f
sha256sum -c sums             → r:/w/sums
diff a b                      → r:/w/a r:/w/b
diff -r a b                   → r:/w/a/** r:/w/b/**
diff -ru a b                  → r:/w/a/** r:/w/b/**
diff --recur a b              → r:/w/a/** r:/w/b/**
diff --from-file=x a b        → r:/w/x/** r:/w/a r:/w/b
diff3 -m a b c                → r:/w/a r:/w/b r:/w/c
cmp a b                       → r:/w/a r:/w/b
comm -1 a b                   → r:/w/a r:/w/b
join -t : a b                 → r:/w/a r:/w/b
cut -d: -f1 f                 → r:/w/f
sort -o out in                → w:/w/out r:/w/in
sort in -oout                 → w:/w/out r:/w/in
sort in --outp=out            → w:/w/out r:/w/in
sort --compress-program=sh in → ! r:/w/in
sort -T /t in                 → w:/t/** r:/w/in
uniq a b                      → r:/w/a w:/w/b
uniq -c a                     → r:/w/a
grep x f g                    → r:/w/f r:/w/g
grep -e x f                   → r:/w/f
grep -ex f                    → r:/w/f
grep -f pats f                → r:/w/pats r:/w/f
grep --file=pats f            → r:/w/pats r:/w/f
grep -r x .                   → r:/w/**
grep -rn x                    → r:/w/**
grep -R x d                   → r:/w/d/**
grep x -- -r                  → r:/w/-r
grep -A 3 x f                 → r:/w/f
rgrep x d                     → r:/w/d/**
rg "" .env                    → r:/w/.env
rg x                          →
rg x d                        → r:/w/d
rg -uu x d                    → r:/w/d/**
rg --hidden x                 → r:/w/**
rg --pre sh x f               → ! r:/w/f
jq . f                        → r:/w/f
jq --slurpfile a s . f        → r:/w/s r:/w r:/w/f
jq -f prog f                  → r:/w/prog r:/w/f
source .env                   → r:/w/.env
. .env                        → r:/w/.env
column -t f                   → r:/w/f
zless -S f                    → r:/w/f
iconv -f a -t b -o out f      → w:/w/out r:/w/f
bat --pager "sh -c x" f       → ! r:/w/f
file -f list                  → ! r:/w/list
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

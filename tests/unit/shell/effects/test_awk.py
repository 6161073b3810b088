"""awk: operands, and where its programs print to."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
awk 1 f                                       → r:/w/f
awk -F: "{print}" /etc/passwd                 → r:/etc/passwd
awk -v x=1 -f prog f                          → ! r:/w/prog r:/w/f
awk "{print}" x=1 f                           → r:/w/f
awk '$3 > 100 {print $1}' f                   → r:/w/f
awk '{ if ($1 > 2) print $2 }' f              → r:/w/f
awk '{print > "/h/.bashrc"}' f                → r:/w/f w:/h/.bashrc
awk '{printf "%s", $1 >> "out"}' f            → r:/w/f w:/w/out
awk '{print $1 " -> " $2}' f                  → r:/w/f
awk '{print ($1 > 2)}' f                      → r:/w/f
awk '/a"b/ {print > "out"}' f                 → r:/w/f w:/w/out
awk '{print > $1}' f                          → ! r:/w/f
awk '{print > "a" "b"}' f                     → ! r:/w/f
awk '{print | "sh"}' f                        → ! r:/w/f
awk '$1 || $2' f                              → r:/w/f
awk 'BEGIN{system("id")}'                     → !
awk 'BEGIN{while ("id" | getline x) print x}' → !
awk '{getline < "f"}'                         → !
awk '# system' f                              → r:/w/f
awk '{print "system"}' f                      → r:/w/f
gawk -i inplace 1 f                           → ! r:/w/inplace r:/w/f w:/w/f
gawk -o/x 1                                   → w:/x
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

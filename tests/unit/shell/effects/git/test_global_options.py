"""Global options."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
git -c core.pager=sh status               → !
git -c user.name=x status                 →
git -c color.ui=never status              →
git -c color.x.y=z status                 → !
git -c alias.wipe=clean status            → !
git --config-env=core.sshCommand=X status → !
git --exec-path=/x status                 → !
git --exec-path                           →
git -p log                                →
git                                       →
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected

from __future__ import annotations

import pytest

from vaultroom.audit.report import PROVES, Check, CheckOutcome, Property, Report, SealState, SessionReport

SEALED = SessionReport("A", SealState.SEALED, 3)
TAMPERED = SessionReport("B", SealState.TAMPERED, 3, 2, "why")
HOLDS = Property(Check.ROWS, CheckOutcome.HOLDS)
BROKEN = Property(Check.LINKS, CheckOutcome.BROKEN, "why")


@pytest.mark.parametrize(
    ("session", "item", "complete", "code"),
    [
        (SEALED, HOLDS, True, 0),
        (SEALED, HOLDS, False, 1),
        (TAMPERED, HOLDS, True, 3),
        (TAMPERED, HOLDS, False, 3),
        (SEALED, BROKEN, True, 3),
    ],
)
def test_the_exit_code(session: SessionReport, item: Property, complete: bool, code: int) -> None:
    report = Report((session,), (item,), 3, complete)
    assert report.exit_code == code
    assert report.ok is (code == 0)


def test_every_property_says_what_it_proves_and_against_whom() -> None:
    assert set(PROVES) == set(Check)
    assert (HOLDS.proves, HOLDS.against) == PROVES[Check.ROWS]

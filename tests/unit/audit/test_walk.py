"""The walk as a plain call; the whole matrix of attacks is in test_tamper_matrix.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.unit.audit.audit_kit import OTHER_HASH, POLICY_HASH, Log
from vaultroom.audit.walk import SessionState, Walk

SEQ, PAYLOAD = 3, 6


def rows_of(log: Log) -> Iterator[list[Any]]:
    with closing(sqlite3.connect(log.db)) as connection:
        yield from (list(row) for row in connection.execute("SELECT * FROM events ORDER BY rowid"))


def walked(log: Log, rows: list[list[Any]]) -> dict[str, SessionState]:
    walk = Walk({}, log.key.public, whole=True)
    walk.walk(tuple(row) for row in rows)
    return walk.states


def test_rows_as_they_were_written_have_no_divergence(pristine: Log) -> None:
    walk = Walk({}, pristine.key.public, whole=True)
    walk.walk(tuple(row) for row in rows_of(pristine))
    assert walk.rows == 25
    assert walk.miscount == ""
    assert set(walk.first_use) == {POLICY_HASH, OTHER_HASH}
    assert {name: (state.seq, state.segment, state.closed) for name, state in walk.states.items()} == {
        pristine.sealed: (11, 2, True),
        pristine.taken_over: (8, 2, True),
        pristine.unsealed: (6, 1, False),
    }
    assert not any(state.divergence for state in walk.states.values())


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "[]",
        "nul",
        "{}",
        '{"record":5}',
        "[" * 100_000,
        "9" * 10_000,
        "\udcff",
        '{"record":{"kind":[]}}',
        None,
        7,
        b"{}",
    ],
)
def test_no_payload_can_break_the_walk(pristine: Log, payload: object) -> None:
    rows = list(rows_of(pristine))
    rows[1][PAYLOAD] = payload
    found = walked(pristine, rows)[pristine.sealed].divergence
    assert found is not None
    assert found.seq == 2


@pytest.mark.parametrize("missing", range(25))
def test_a_missing_row_is_named_by_its_number(pristine: Log, missing: int) -> None:
    rows = list(rows_of(pristine))
    gone = rows.pop(missing)
    states = walked(pristine, rows)
    found = states[gone[1]].divergence
    was_last = not any(row[1] == gone[1] and row[SEQ] > gone[SEQ] for row in rows)
    if was_last:
        assert found is None, "only heads and the head file see a row that is missing at the end"
    else:
        assert found is not None
        assert found.seq == gone[SEQ]

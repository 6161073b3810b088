from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from tests.unit.audit.audit_kit import an_entry
from vaultroom.audit import chain, rows, schema
from vaultroom.audit.head_file import Tip


def test_a_row_takes_the_next_place_in_its_chain() -> None:
    entry = an_entry("S")
    row, tip = rows.chained(entry, Tip("S", 4, b"p" * 32))
    cells = dict(zip(schema.EVENT_COLUMNS, row, strict=True))
    assert (cells["seq"], cells["prev_hash"]) == (5, b"p" * 32)
    assert json.loads(cells["payload"])["record"]["seq"] == 5
    assert "seq" not in entry.payload["record"]
    expected = chain.row_hash(b"p" * 32, cells["payload"].encode(), "allow", "workdir-is-free", cells["ts"])
    assert tip == Tip("S", 5, expected)
    assert cells["row_hash"] == expected


@pytest.mark.parametrize("count", [0, 1, rows.ROWS_PER_INSERT, 2 * rows.ROWS_PER_INSERT + 1])
def test_any_number_of_rows_is_inserted(count: int) -> None:
    tip = Tip("S", 0, b"p" * 32)
    made = []
    for _ in range(count):
        row, tip = rows.chained(an_entry("S"), tip)
        made.append(row)
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema.DDL:
            connection.execute(statement)
        for sql, values in rows.insert_rows(made):
            connection.execute(sql, values)
        assert connection.execute("SELECT * FROM events ORDER BY rowid").fetchall() == made


def test_text_that_no_database_can_hold_is_escaped() -> None:
    assert rows.storable("a\udcffé") == "a\\udcffé"

"""What `verify` reads beside the rows; the attacks are in test_tamper_matrix.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log, open_writer
from vaultroom.audit.chain import Head, witness_line
from vaultroom.audit.head_file import Tip
from vaultroom.audit.report import Check, CheckOutcome
from vaultroom.audit.verify import read_witness, verify
from vaultroom.errors import StoreError
from vaultroom.signing import SigningKey


def test_an_empty_log_is_valid(tmp_path: Path) -> None:
    key = SigningKey.generate()
    open_writer(tmp_path / "audit.db", key).stop()
    report = verify(tmp_path / "audit.db", key.public)
    assert report.exit_code == 0
    assert report.sessions == ()


def test_a_damaged_file_is_tampered_and_no_crash(log: Log) -> None:
    content = bytearray(log.db.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 200] = b"\xff" * 200
    log.db.write_bytes(content)
    try:
        report = verify(log.db, log.key.public)
    except StoreError:
        return
    assert report.exit_code == 3


def test_every_property_is_reported_once_and_in_order(log: Log) -> None:
    report = verify(log.db, log.key.public, session=log.sealed)
    assert [item.check for item in report.properties] == list(Check)
    outcomes = {item.check: item.outcome for item in report.properties}
    assert outcomes[Check.LINKS] is CheckOutcome.NOT_CHECKED
    assert report.exit_code == 0


def test_published_heads_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "heads"
    path.write_text(witness_line(Head("S", 3, b"h" * 32, 9, "then")) + "\n\n")
    assert read_witness(path) == (Tip("S", 3, b"h" * 32),)
    with pytest.raises(StoreError, match="cannot be read"):
        read_witness(tmp_path / "nothing")


def test_a_witness_that_saw_another_session_contradicts_the_log(log: Log) -> None:
    report = verify(log.db, log.key.public, witness=[Tip("nobody", 4, b"h" * 32)])
    assert report.exit_code == 3
    assert [(item.id, item.first_bad_seq) for item in report.sessions if item.reason] == [("nobody", 1)]

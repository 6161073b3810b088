from __future__ import annotations

import argparse
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log
from vaultroom.audit.reader import AuditReader
from vaultroom.cli import verify as command
from vaultroom.errors import StoreError


@pytest.fixture
def home(log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "install.pub").write_text(log.key.public.hex() + "\n")
    monkeypatch.setenv("VAULTROOM_HOME", str(tmp_path))
    return log


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


def tamper(log: Log, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        connection.execute(statement, values)
        connection.commit()


def test_the_homes_log_is_valid(home: Log, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    text = capsys.readouterr().out
    assert f"unsealed  {home.unsealed}  up to seq 6" in text
    assert text.endswith("valid: 3 sessions, 25 rows\n")


def test_json_has_the_contracted_members(home: Log, capsys: pytest.CaptureFixture[str]) -> None:
    tamper(home, "UPDATE events SET source = 'mcp' WHERE session_id = ? AND seq = 3", home.sealed)
    assert run("--json") == 3
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is False
    found = {item["id"]: item for item in data["sessions"]}
    assert (found[home.sealed]["state"], found[home.sealed]["first_bad_seq"]) == ("tampered", 3)
    assert found[home.sealed]["rows"] == 11
    assert (found[home.unsealed]["state"], found[home.unsealed]["first_bad_seq"]) == ("unsealed", None)


def test_a_missing_head_file_is_1(home: Log, capsys: pytest.CaptureFixture[str]) -> None:
    home.head.unlink()
    assert run() == 1
    assert "NOT FULLY CHECKED" in capsys.readouterr().out


def test_a_witness_is_compared(home: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    witness = tmp_path / "witness.jsonl"
    with closing(sqlite3.connect(home.db)) as connection:
        hashes = [
            row[0]
            for row in connection.execute("SELECT row_hash FROM events WHERE session_id = ?", (home.sealed,))
        ]
    lines = [{"session": home.sealed, "seq": seq, "hash": hash_.hex()} for seq, hash_ in enumerate(hashes, 1)]
    witness.write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert run("--witness", str(witness)) == 0
    assert "holds        witness" in capsys.readouterr().out
    lines[4]["hash"] = "00" * 32
    witness.write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert run("--witness", str(witness)) == 3
    assert "first bad seq 5" in capsys.readouterr().out
    lines[4]["seq"] = 5000
    witness.write_text(json.dumps(lines[4]))
    assert run("--witness", str(witness)) == 3


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"session":"a","seq":0,"hash":"00"}', '{"session":1,"seq":1,"hash":"x"}']
)
def test_a_witness_that_is_none_is_an_error(home: Log, tmp_path: Path, line: str) -> None:
    witness = tmp_path / "witness.jsonl"
    witness.write_text(line)
    with pytest.raises(StoreError, match="line 1"):
        run("--witness", str(witness))


def test_a_session_that_is_not_there_is_an_error(home: Log) -> None:
    with pytest.raises(StoreError, match="expected session nobody"):
        run("--session", "nobody")


def test_another_log_needs_its_own_key(home: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "keys" / "install.pub"
    moved = tmp_path / "moved.pub"
    key.rename(moved)
    assert run("--db", str(home.db)) == 1
    assert "install key is not available" in capsys.readouterr().out
    assert run("--db", str(home.db), "--key", str(moved)) == 0


def test_hostile_names_cannot_act_on_the_screen(home: Log, capsys: pytest.CaptureFixture[str]) -> None:
    tamper(home, "UPDATE sessions SET agent_name = ? WHERE id = ?", "\x1b[2Jgone", home.sealed)
    tamper(
        home,
        "UPDATE events SET session_id = ? WHERE session_id = ? AND seq = 5",
        "\x1b]0;x\x07",
        home.unsealed,
    )
    assert run() == 3
    assert "\x1b" not in capsys.readouterr().out


def test_the_reader_sees_what_verify_checked(home: Log) -> None:
    with AuditReader(home.db) as reader:
        assert len(reader.page(100)) == 25

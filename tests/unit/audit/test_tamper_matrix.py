"""The tamper matrix (specification section 6): every change of a copied log is seen, and named where it is.

Whoever changes the log here has the database and its .head file, plain sqlite3, and no key unless said so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.unit.audit.audit_kit import (
    Log,
    add_rows,
    an_entry,
    build_log,
    open_writer,
    session_start,
)
from vaultroom.audit import chain
from vaultroom.audit.head_file import Tip
from vaultroom.audit.ledger import Ledger
from vaultroom.audit.report import Check, CheckOutcome, Report, SealState
from vaultroom.audit.verify import verify
from vaultroom.errors import StoreError
from vaultroom.events import new_ulid
from vaultroom.signing import SigningKey

COLUMNS = {
    "sessions": "id started_at ended_at agent_name agent_command policy_hash pubkey head_hash head_sig",
    "events": "id session_id ts seq source action payload rule_name verdict final_effect approved_by wait_ms "
    "eval_micros prev_hash row_hash",
    "heads": "session_id seq row_hash rows sig ts",
    "policies": "hash text first_used",
    "schema_migrations": "version applied_at",
}
CELLS = [
    (table, column)
    for table, columns in COLUMNS.items()
    for column in columns.split()
    if (table, column) != ("schema_migrations", "version")  # a newer version is refused: see test_store
]


def run(log: Log, **options: object) -> Report:
    return verify(log.db, log.key.public, **options)  # type: ignore[arg-type]


def attack(log: Log, *statements: str, **values: object) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        for statement in statements:
            if ":" in statement:
                connection.execute(statement, values)
            else:
                connection.execute(statement)
        connection.commit()


def state_of(report: Report, session_id: str) -> tuple[SealState, int | None]:
    (found,) = [item for item in report.sessions if item.id == session_id]
    return found.state, found.first_bad_seq


def broken(report: Report) -> set[Check]:
    return {item.check for item in report.properties if item.outcome is CheckOutcome.BROKEN}


def flipped(value: object) -> object:
    """The value with one bit flipped; something for NULL."""
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, str):
        return chr(ord(value[0]) ^ 1) + value[1:] if value else "x"
    return value ^ 1024 if isinstance(value, int) else "x"


def test_the_untouched_log_is_valid(log: Log) -> None:
    report = run(log)
    assert report.exit_code == 0, report
    assert report.ok
    assert state_of(report, log.sealed) == (SealState.SEALED, None)
    assert state_of(report, log.taken_over) == (SealState.SEALED, None)
    assert state_of(report, log.unsealed) == (SealState.UNSEALED, None)
    assert {item.check for item in report.properties if item.outcome is CheckOutcome.HOLDS} == set(Check) - {
        Check.WITNESS
    }


@pytest.mark.parametrize(("table", "column"), CELLS, ids=[f"{table}.{column}" for table, column in CELLS])
def test_a_flipped_bit_in_any_column_of_any_row_is_seen(log: Log, table: str, column: str) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        rows = connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
        names = ["rowid", *COLUMNS[table].split()]
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        where = f"UPDATE {table} SET {column} = :value WHERE rowid = :row"
        attack(log, where, value=flipped(cells[column]), row=cells["rowid"])
        report = run(log)
        assert report.exit_code == 3, (cells, report)
        if table == "events" and column != "session_id":
            assert state_of(report, cells["session_id"]) == (SealState.TAMPERED, cells["seq"])
            assert sum(item.state is SealState.TAMPERED for item in report.sessions) == 1, report
        attack(log, where, value=cells[column], row=cells["rowid"])
    assert run(log).exit_code == 0


@pytest.mark.parametrize("column", COLUMNS["events"].split())
@pytest.mark.parametrize("value", ["CAST(x'ff' AS TEXT)", "x'00'", "1.5", "''", "9223372036854775807"])
def test_a_cell_of_another_kind_is_seen(log: Log, column: str, value: str) -> None:
    attack(log, f"UPDATE events SET {column} = {value} WHERE session_id = :id AND seq = 4", id=log.sealed)
    report = run(log)
    assert report.exit_code == 3
    assert state_of(report, log.sealed) == (SealState.TAMPERED, 4)


@dataclass(frozen=True)
class Attack:
    name: str
    change: Callable[[Log], None]
    session: str = "sealed"
    """Which session is named; empty: none of those that are left."""
    first_bad: int | None = None
    broken: Check | None = None


def _sql(*statements: str) -> Callable[[Log], None]:
    def change(log: Log) -> None:
        names = {"sealed": log.sealed, "unsealed": log.unsealed, "taken": log.taken_over}
        attack(log, *statements, **names)

    return change


def _swap_rows(log: Log) -> None:
    attack(
        log,
        "UPDATE events SET seq = -3 WHERE session_id = :id AND seq = 3",
        "UPDATE events SET seq = 3 WHERE session_id = :id AND seq = 4",
        "UPDATE events SET seq = 4 WHERE session_id = :id AND seq = -3",
        id=log.sealed,
    )


def _move_row(log: Log) -> None:
    attack(
        log,
        "UPDATE events SET rowid = 1000 WHERE session_id = :id AND seq = 3",
        id=log.sealed,
    )


def _move_between(log: Log) -> None:
    """Every session's own order stays; only the order between sessions changes."""
    with closing(sqlite3.connect(log.db)) as connection:
        order = connection.execute("SELECT session_id, seq FROM events ORDER BY rowid").fetchall()
        order.remove((log.taken_over, 4))
        order.insert(order.index((log.unsealed, 1)) + 1, (log.taken_over, 4))
        connection.execute("UPDATE events SET rowid = rowid + 1000")
        for rowid, place in enumerate(order, 1):
            connection.execute(
                "UPDATE events SET rowid = ? WHERE session_id = ? AND seq = ?", (rowid, *place)
            )
        connection.commit()


def _insert_and_rehash(log: Log) -> None:
    """A forged row after the last one of the unsealed session, hashed as it should be."""
    with closing(sqlite3.connect(log.db)) as connection:
        last = connection.execute(
            "SELECT * FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1", (log.unsealed,)
        ).fetchone()
        row = list(last)
        row[0], row[3], row[13] = new_ulid(), last[3] + 1, last[14]
        row[6] = row[6].replace(last[0], row[0]).replace(f'"seq":{last[3]}', f'"seq":{row[3]}')
        row[14] = chain.row_hash(row[13], row[6].encode(), row[8], row[7], row[2])
        connection.execute(f"INSERT INTO events VALUES ({','.join('?' * 15)})", row)
        connection.commit()


def _edit_and_rehash_all(log: Log) -> None:
    """A changed row with every later hash of its session computed again; no signature."""
    with closing(sqlite3.connect(log.db)) as connection:
        rows = connection.execute(
            "SELECT rowid, seq, payload, verdict, rule_name, ts, prev_hash FROM events WHERE session_id = ? "
            "ORDER BY seq",
            (log.unsealed,),
        ).fetchall()
        before = rows[0][6]
        for rowid, seq, payload, verdict, rule, ts, _ in rows:
            changed = payload.replace('"git push"', '"git pull"') if seq == 2 else payload
            digest = chain.row_hash(before, changed.encode(), verdict, rule, ts)
            connection.execute(
                "UPDATE events SET payload = ?, prev_hash = ?, row_hash = ? WHERE rowid = ?",
                (changed, before, digest, rowid),
            )
            before = digest
        connection.execute("UPDATE heads SET row_hash = ? WHERE session_id = ?", (before, log.unsealed))
        connection.commit()


def _swap_session_names(log: Log) -> None:
    for table, column in (("sessions", "id"), ("events", "session_id"), ("heads", "session_id")):
        attack(
            log,
            f"UPDATE {table} SET {column} = 'x' WHERE {column} = :one",
            f"UPDATE {table} SET {column} = :one WHERE {column} = :two",
            f"UPDATE {table} SET {column} = :two WHERE {column} = 'x'",
            one=log.sealed,
            two=log.taken_over,
        )


def _delete_session(name: str) -> Callable[[Log], None]:
    return _sql(
        f"DELETE FROM events WHERE session_id = :{name}",
        f"DELETE FROM heads WHERE session_id = :{name}",
        f"DELETE FROM sessions WHERE id = :{name}",
    )


def _new_session_key(log: Log) -> None:
    key = SigningKey.generate()
    with closing(sqlite3.connect(log.db)) as connection:
        hash_, rows, ts, seq = connection.execute(
            "SELECT row_hash, rows, ts, seq FROM heads WHERE session_id = ?", (log.sealed,)
        ).fetchone()
        sig = key.sign(chain.head_statement(log.sealed, seq, hash_, rows, ts))
        connection.execute(
            "UPDATE sessions SET pubkey = ?, head_sig = ? WHERE id = ?",
            (key.public, key.sign(hash_), log.sealed),
        )
        connection.execute("UPDATE heads SET sig = ? WHERE session_id = ?", (sig, log.sealed))
        connection.commit()


def _reopen_sealed(log: Log) -> None:
    attack(
        log,
        "DELETE FROM events WHERE session_id = :id AND action = 'session.close'",
        "UPDATE sessions SET ended_at = NULL, head_hash = NULL, head_sig = NULL WHERE id = :id",
        id=log.sealed,
    )


ATTACKS = [
    Attack(
        "delete the first row", _sql("DELETE FROM events WHERE session_id=:sealed AND seq=1"), first_bad=1
    ),
    Attack("delete a row", _sql("DELETE FROM events WHERE session_id=:sealed AND seq=4"), first_bad=4),
    Attack("delete a suffix", _sql("DELETE FROM events WHERE session_id=:sealed AND seq>5"), first_bad=6),
    Attack(
        "delete an unsealed suffix",
        _sql("DELETE FROM events WHERE session_id=:unsealed AND seq>3"),
        "unsealed",
        first_bad=4,
    ),
    Attack("delete a session's rows", _sql("DELETE FROM events WHERE session_id=:sealed"), first_bad=1),
    Attack("delete all rows", _sql("DELETE FROM events"), first_bad=1),
    Attack(
        "delete everything",
        _sql("DELETE FROM events", "DELETE FROM heads", "DELETE FROM sessions", "DELETE FROM policies"),
        "unsealed",
        first_bad=1,
        broken=Check.HEAD_FILE,
    ),
    Attack("reorder rows", _swap_rows, first_bad=3),
    Attack("move a row to the end", _move_row, first_bad=3),
    Attack("move a row past the opening of another session", _move_between, "", broken=Check.LINKS),
    Attack("append a hashed row", _insert_and_rehash, "unsealed", first_bad=7, broken=Check.HEADS),
    Attack("edit and hash anew", _edit_and_rehash_all, "unsealed", first_bad=6),
    Attack("swap two sessions", _swap_session_names, first_bad=1),
    Attack(
        "delete a session that others follow",
        _delete_session("sealed"),
        "taken",
        first_bad=1,
        broken=Check.LINKS,
    ),
    Attack("delete a session", _delete_session("taken"), "", broken=Check.LINKS),
    Attack(
        "delete the newest session",
        _delete_session("unsealed"),
        "unsealed",
        first_bad=1,
        broken=Check.HEAD_FILE,
    ),
    Attack("delete a head", _sql("DELETE FROM heads WHERE session_id=:sealed"), broken=Check.HEADS),
    Attack("delete a sessions row", _sql("DELETE FROM sessions WHERE id=:sealed"), broken=Check.ROWS),
    Attack("new session key, signed anew", _new_session_key, broken=Check.HEADS),
    Attack("take a seal off", _reopen_sealed, first_bad=11, broken=Check.HEAD_FILE),
]


@pytest.mark.parametrize("case", ATTACKS, ids=[case.name for case in ATTACKS])
def test_an_attack_without_keys_is_seen(log: Log, case: Attack) -> None:
    case.change(log)
    report = run(log)
    assert report.exit_code == 3, report
    if not case.session:
        assert case.broken in broken(report)
        return
    session = {"sealed": log.sealed, "unsealed": log.unsealed, "taken": log.taken_over}[case.session]
    state, first_bad = state_of(report, session)
    assert state is SealState.TAMPERED, report
    if case.first_bad is not None:
        assert first_bad == case.first_bad, report
    if case.broken is not None:
        assert case.broken in broken(report), report


@pytest.mark.parametrize("case", ATTACKS, ids=[case.name for case in ATTACKS])
def test_an_attack_that_also_removes_the_head_file_is_never_valid(log: Log, case: Attack) -> None:
    case.change(log)
    log.head.unlink()
    only_the_head_file_knows = case.name == "delete everything"
    assert run(log).exit_code == (1 if only_the_head_file_knows else 3)


SCHEMA_ATTACKS = [
    "CREATE TRIGGER quiet AFTER INSERT ON events BEGIN DELETE FROM events WHERE verdict='deny'; END",
    "CREATE TABLE extra (x)",
    "CREATE VIEW seen AS SELECT * FROM events",
    "DROP INDEX idx_events_verdict",
    "DELETE FROM policies",
    "INSERT INTO policies VALUES ('ab', x'00', 'now')",
    "DELETE FROM schema_migrations",
    "UPDATE schema_migrations SET version = 0",
]


@pytest.mark.parametrize("statement", SCHEMA_ATTACKS)
def test_changed_tables_are_seen(log: Log, statement: str) -> None:
    with closing(sqlite3.connect(log.db)) as connection:
        connection.execute(statement)
        connection.commit()
    assert run(log).exit_code == 3


def test_an_index_that_hides_a_row_is_seen(log: Log) -> None:
    """A view that filters by verdict would not show the row; the table still has it."""
    with closing(sqlite3.connect(log.db)) as connection:
        page = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name='idx_events_verdict'"
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(log.db.read_bytes())
    start = (page - 1) * size
    place = content.index(b"require_approval", start, start + size)
    content[place : place + 5] = b"REQUI"
    log.db.write_bytes(content)
    report = run(log)
    assert report.exit_code == 3
    assert broken(report) == {Check.TABLES}


def test_a_database_that_was_rolled_back_contradicts_its_head_file(log: Log, tmp_path: Path) -> None:
    old = log.copy_to(tmp_path / "old")
    writer = open_writer(log.db, log.key)
    writer.open_session(session_start(log.unsealed, segment=2, name="gemini")).result()
    add_rows(writer, log.unsealed, 2)
    writer.stop()
    newer_head = log.head.read_bytes()
    assert run(log).exit_code == 0
    published = newest_of(log)
    rows_before = len_rows(old)

    log.db.write_bytes(old.db.read_bytes())
    report = run(log)
    assert report.exit_code == 3
    assert broken(report) >= {Check.HEAD_FILE}
    assert state_of(report, log.unsealed) == (SealState.TAMPERED, 7)

    log.head.write_bytes(old.head.read_bytes())
    assert run(log).exit_code == 0, "both rolled back: only a witness sees it"
    report = run(log, witness=[published])
    assert report.exit_code == 3
    assert state_of(report, log.unsealed) == (SealState.TAMPERED, 7)
    assert len_rows(log) == rows_before
    log.head.write_bytes(newer_head)


def newest_of(log: Log) -> Tip:
    with closing(sqlite3.connect(log.db)) as connection:
        found = connection.execute("SELECT session_id, seq, row_hash FROM heads ORDER BY rows DESC LIMIT 1")
        return Tip(*found.fetchone())


def len_rows(log: Log) -> int:
    with closing(sqlite3.connect(log.db)) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def test_a_missing_head_file_is_not_a_full_check(log: Log) -> None:
    log.head.unlink()
    report = run(log)
    assert report.exit_code == 1
    assert not report.ok
    assert not report.tampered
    assert state_of(report, log.unsealed) == (SealState.UNSEALED, None)


def test_a_garbled_head_file_is_not_a_full_check(log: Log) -> None:
    log.head.write_bytes(b"x" * log.head.stat().st_size)
    assert run(log).exit_code == 1


def test_a_head_file_of_another_installation_is_tampering(log: Log, tmp_path: Path) -> None:
    log.head.write_bytes(build_log(tmp_path / "other.db").head.read_bytes())
    report = run(log)
    assert report.exit_code == 3
    assert Check.HEAD_FILE in broken(report)


def test_without_the_install_key_the_check_is_not_complete(log: Log) -> None:
    report = verify(log.db, None)
    assert report.exit_code == 1
    assert {item.check: item.outcome for item in report.properties}[Check.KEYS] is CheckOutcome.NOT_CHECKED


@pytest.mark.parametrize("has_install_key", [False, True])
def test_a_log_written_anew_needs_the_install_key_and_falls_to_a_witness(
    log: Log, tmp_path: Path, has_install_key: bool
) -> None:
    """Everything replaced: rows, session keys, signatures, head file."""
    published = newest_of(log)
    forger = log.key if has_install_key else SigningKey.generate()
    for path in (log.db, log.head):
        path.unlink()
    writer = open_writer(log.db, forger)
    writer.open_session(session_start(log.unsealed, name="gemini")).result()
    add_rows(writer, log.unsealed, 5)
    writer.stop()
    assert run(log).exit_code == (0 if has_install_key else 3)
    assert run(log, witness=[published]).exit_code == 3
    if not has_install_key:
        assert Check.KEYS in broken(run(log))


class _Impostor(SigningKey):
    """Carries the public key of an installation and signs with another."""

    def __init__(self, public: bytes) -> None:
        super().__init__(Ed25519PrivateKey.generate())
        self.public = public


def test_naming_the_install_key_is_not_having_it(log: Log, tmp_path: Path) -> None:
    forged = tmp_path / "forged.db"
    writer = open_writer(forged, _Impostor(log.key.public))
    session = new_ulid()
    writer.open_session(session_start(session)).result()
    writer.stop()
    report = verify(forged, log.key.public)
    assert broken(report) == {Check.KEYS, Check.HEAD_FILE}
    assert state_of(report, session) == (SealState.TAMPERED, 1)


def test_a_fork_by_a_second_writer(log: Log, tmp_path: Path) -> None:
    """Two hosts go on from the same state; each history is valid alone and contradicts the other's heads."""
    fork = log.copy_to(tmp_path / "fork")
    for side in (log, fork):
        writer = open_writer(side.db, side.key)
        writer.open_session(session_start(log.unsealed, segment=2, name="gemini")).result()
        add_rows(writer, log.unsealed, 2)
        writer.stop()
        assert run(side).exit_code == 0
    report = run(fork, witness=[newest_of(log)])
    assert report.exit_code == 3
    assert state_of(report, log.unsealed) == (SealState.TAMPERED, 9)
    log.head.write_bytes(fork.head.read_bytes())
    report = run(log)
    assert report.exit_code == 3
    assert state_of(report, log.unsealed) == (SealState.TAMPERED, 9)


def test_a_dropped_wal_is_a_log_that_was_cut_off(log: Log, tmp_path: Path) -> None:
    writer = open_writer(log.db, log.key)
    writer.open_session(session_start(log.unsealed, segment=2, name="gemini")).result()
    writer.submit(an_entry(log.unsealed)).result()
    killed = log.copy_to(tmp_path / "killed")  # what a killed host leaves
    writer.stop()
    assert killed.wal.stat().st_size > 0
    report = run(killed)
    assert report.exit_code == 0
    assert state_of(report, log.unsealed) == (SealState.UNSEALED, None)
    assert {path.name for path in killed.db.parent.iterdir()} == {"audit.db", "audit.db-wal", "audit.db.head"}
    killed.wal.unlink()
    report = run(killed)
    assert report.exit_code == 3
    assert state_of(report, log.unsealed) == (SealState.TAMPERED, 7)


def _cut_off(log: Log, newer: Log, fork: Log) -> None:
    attack(log, "DELETE FROM events WHERE session_id = :id AND seq > 4", id=log.unsealed)


def _unsigned(log: Log, newer: Log, fork: Log) -> None:
    attack(log, "UPDATE heads SET ts = 'later' WHERE session_id = :id", id=log.unsealed)


def _rolled_back(log: Log, newer: Log, fork: Log) -> None:
    log.head.write_bytes(newer.head.read_bytes())


def _another_history(log: Log, newer: Log, fork: Log) -> None:
    log.db.write_bytes(newer.db.read_bytes())
    log.head.write_bytes(fork.head.read_bytes())


def _another_installation(log: Log, newer: Log, fork: Log) -> None:
    log.head.write_bytes(build_log(log.db.with_name("other.db")).head.read_bytes())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_cut_off, "not its newest row"),
        (_unsigned, "not its newest row"),
        (_rolled_back, "cut off or rolled back"),
        (_another_history, "not the one the head file saw"),
        (_another_installation, "install key"),
    ],
)
def test_the_next_host_refuses_a_log_that_is_not_as_it_was_left(
    log: Log, tmp_path: Path, change: Callable[[Log, Log, Log], None], text: str
) -> None:
    newer, fork = log.copy_to(tmp_path / "newer"), log.copy_to(tmp_path / "fork")
    for side in (newer, fork):
        writer = open_writer(side.db, side.key)
        writer.open_session(session_start(log.unsealed, segment=2, name="gemini")).result()
        writer.stop()
    change(log, newer, fork)
    with pytest.raises(StoreError, match=text) as caught:
        open_writer(log.db, log.key)
    assert "evidence" in caught.value.advice


def test_a_session_that_follows_an_unsigned_head_is_seen(log: Log) -> None:
    """Written by somebody who has the install key."""
    ledger = Ledger(log.db, log.key, busy_seconds=1)
    assert ledger.newest is not None
    ledger.newest = replace(ledger.newest, sig=b"s" * 64)
    session = new_ulid()
    ledger.open_session(session_start(session))
    ledger.stop()
    report = run(log)
    assert state_of(report, session) == (SealState.TAMPERED, 1)
    assert broken(report) == {Check.LINKS}


def test_one_session_can_be_checked_alone(log: Log) -> None:
    attack(log, "UPDATE events SET payload = '{}' WHERE session_id = :id AND seq = 2", id=log.taken_over)
    assert run(log, session=log.sealed).exit_code == 0
    report = run(log, session=log.taken_over)
    assert report.exit_code == 3
    assert state_of(report, log.taken_over) == (SealState.TAMPERED, 2)

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from vaultroom.audit import chain
from vaultroom.audit.chain import Head

HEAD = Head("S", 3, b"h" * 32, 9, "2026-01-31T12:00:00.000000000Z", b"s" * 64)


def test_the_first_session_starts_at_the_specified_genesis() -> None:
    assert chain.genesis(None) == hashlib.sha256(b"agentvault:v1").digest()


def test_later_sessions_start_from_the_newest_signed_head() -> None:
    assert chain.genesis(HEAD) == hashlib.sha256(b"agentvault:v1" + b"h" * 32 + b"s" * 64).digest()


def test_the_row_hash_is_the_specified_one() -> None:
    expected = hashlib.sha256(b"p" * 32 + b"{}" + b"deny" + "règle".encode() + b"ts").digest()
    assert chain.row_hash(b"p" * 32, b"{}", "deny", "règle", "ts") == expected


def test_no_rule_is_hashed_as_the_empty_text() -> None:
    assert chain.row_hash(b"", b"", "allow", None, "t") == hashlib.sha256(b"allowt").digest()


@given(st.tuples(st.text(), st.integers(), st.binary(), st.integers(), st.text()))
def test_head_statements_of_different_heads_differ(other: tuple[str, int, bytes, int, str]) -> None:
    mine = (HEAD.session_id, HEAD.seq, HEAD.row_hash, HEAD.rows, HEAD.ts)
    assert (chain.head_statement(*other) == chain.head_statement(*mine)) is (other == mine)


def test_no_statement_can_be_taken_for_another_kind() -> None:
    statements = [
        chain.head_statement("S", 1, b"h" * 32, 1, "t"),
        chain.key_statement("S", 1, b"k" * 32),
        chain.head_file_statement(b"{}"),
    ]
    domains = {statement.partition(b"\n")[0] for statement in statements}
    assert len(domains) == 3
    assert all(len(statement) != chain.HASH_SIZE for statement in statements)  # a seal signs 32 bytes


def test_a_link_names_everything_that_its_signature_covers() -> None:
    assert chain.head_from_link(chain.link_to(HEAD)) == HEAD


def test_a_witness_line_is_one_line_of_json() -> None:
    line = chain.witness_line(HEAD)
    assert "\n" not in line
    assert json.loads(line) == {"session": "S", "seq": 3, "hash": "68" * 32, "ts": HEAD.ts}

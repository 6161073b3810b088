from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.approvals.channels.keys import KeyDecoder


def keys_of(data: bytes) -> list[str]:
    return KeyDecoder().feed(data)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"a", ["a"]),
        (b"ad", ["a", "d"]),
        (b"\r", ["enter"]),
        (b"\x7f", ["backspace"]),
        (b"\x03", ["ctrl-c"]),
        ("é".encode(), ["é"]),
        (b"\x1b[A", ["other"]),
        (b"\x1b[1;5D", ["other"]),
        (b"\x1bOa", ["other"]),
        (b"\x1ba", ["other"]),
        (b"\x1b[Maaa", ["other"]),
        (b"\x1b[<0;1;1m", ["other"]),
        (b"\x1b[200~aaa\raad\x1b[201~", ["other"]),
        (b"\x1b]11;rgb:aaaa/aaaa/aaaa\x1b\\", ["other"]),
        (b"\x1b]0;a\x07", ["other"]),
        (b"\x1bP1$ra\x1b\\d", ["other", "d"]),
        (b"\x1b[97u", ["a"]),
        (b"\x1b[97;1:3u", ["other"]),
        (b"\x1b[97;5u", ["other"]),
        (b"\x1b[99;5u", ["ctrl-c"]),
        (b"\x1b[27;5;99~", ["ctrl-c"]),
        (b"\x1b[27u", ["escape"]),
        (b"\x1b[;u", ["other"]),
        (b"\xffa", ["other", "a"]),
        (b"\x01\x1a\x1c", ["other"] * 3),
    ],
)
def test_sequences(data: bytes, keys: list[str]) -> None:
    assert [key if key != "\ufffd" else "other" for key in keys_of(data)] == keys


@given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_how_the_bytes_arrive_does_not_matter(data: bytes, cuts: list[int]) -> None:
    decoder = KeyDecoder()
    edges = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    assert [key for piece in pieces for key in decoder.feed(piece)] == keys_of(data)


def test_a_lone_escape_is_a_key_once_nothing_follows() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.idle() == ["escape"]
    assert decoder.feed(b"a") == ["a"]


def test_a_sequence_that_never_ends_is_given_up() -> None:
    decoder = KeyDecoder()
    decoder.feed(b"\x1b[200~aaa")
    assert [key for _ in range(20) for key in decoder.idle()] == ["other"]
    assert decoder.feed(b"d") == ["d"]

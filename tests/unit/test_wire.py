from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom import wire
from vaultroom.errors import FrameError


def test_a_frame_is_a_length_and_ascii_json() -> None:
    assert wire.encode({"type": "eval", "x": "é"}) == b'\x00\x00\x00\x1c{"type":"eval","x":"\\u00e9"}'


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_a_message_reads_back(message: dict[str, Any]) -> None:
    frame = wire.encode(message)
    assert wire.body_length(frame[:4]) == len(frame) - 4
    assert wire.decode(frame[4:]) == message


@given(st.binary())
def test_rubbish_is_a_frame_error_or_an_object(body: bytes) -> None:
    try:
        assert isinstance(wire.decode(body), dict)
    except FrameError:
        pass


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"\xff", "UTF-8"),
        (b"[1]", "found list"),
        (b'{"a":1,"a":2}', "'a' stands twice"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":', "JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"", "JSON"),
    ],
)
def test_what_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(FrameError, match=said):
        wire.decode(body)


def test_the_bound() -> None:
    with pytest.raises(FrameError, match="at most"):
        wire.encode({"x": "a" * wire.MAX_FRAME})
    for length in (0, wire.MAX_FRAME + 1, 2**32 - 1):
        with pytest.raises(FrameError, match="header says"):
            wire.body_length(wire.HEADER.pack(length))
    assert json.loads(b"1") == 1

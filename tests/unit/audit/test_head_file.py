from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultroom.audit.chain import head_file_statement
from vaultroom.audit.head_file import (
    HeadFile,
    HeadFileError,
    HeadFileWriter,
    Tip,
    head_path,
    read_head_file,
)
from vaultroom.signing import SigningKey, verifies

KEY = SigningKey.generate()


def a_head(commit: int, sessions: int = 1) -> HeadFile:
    return HeadFile(
        commit=commit,
        rows=commit,
        sessions=sessions,
        unsealed=tuple(Tip(f"S{number}", commit, b"h" * 32) for number in range(sessions)),
        sealed=Tip("Z", 1, b"z" * 32),
        schema=((1, "then"),),
        ts="now",
        install_key=KEY.public,
    )


def test_what_is_written_is_read_and_signed(tmp_path: Path) -> None:
    path = tmp_path / "x.head"
    HeadFileWriter(path, KEY).write(a_head(1), sync=True)
    found = read_head_file(path)
    assert replace(found, body=b"", sig=b"") == a_head(1)
    assert verifies(KEY.public, found.sig, head_file_statement(found.body))
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_newest_slot_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.head"
    writer = HeadFileWriter(path, KEY)
    for commit in range(1, 12):
        writer.write(a_head(commit), sync=commit % 5 == 0)
        assert read_head_file(path).commit == commit


@pytest.mark.parametrize("sync", [False, True])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_torn_write_leaves_an_older_head(
    tmp_path_factory: pytest.TempPathFactory, sync: bool, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("torn") / "x.head"
    writer = HeadFileWriter(path, KEY)
    for commit in range(1, 6):
        writer.write(a_head(commit), sync=commit == 1)
    before = path.read_bytes()
    writer.write(a_head(6), sync=sync)
    after = path.read_bytes()
    changed = [index for index, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    kept = data.draw(st.integers(0, len(changed)))
    mixed = bytearray(before)
    for index in changed[:kept]:
        mixed[index] = after[index]
    path.write_bytes(mixed)
    assert read_head_file(path).commit == (6 if kept == len(changed) else 5)


def test_both_unsynced_slots_may_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "x.head"
    writer = HeadFileWriter(path, KEY)
    for commit in range(1, 6):
        writer.write(a_head(commit), sync=commit == 3)
    content = bytearray(path.read_bytes())
    third = len(content) // 3
    content[third:] = os.urandom(len(content) - third)
    path.write_bytes(content)
    assert read_head_file(path).commit == 3


def test_it_grows_with_its_sessions(tmp_path: Path) -> None:
    path = tmp_path / "x.head"
    writer = HeadFileWriter(path, KEY)
    writer.write(a_head(1), sync=True)
    small = path.stat().st_size
    writer.write(a_head(2, sessions=300), sync=False)
    assert path.stat().st_size > small
    assert len(read_head_file(path).unsealed) == 300
    writer.write(a_head(3, sessions=301), sync=False)
    assert read_head_file(path).commit == 3
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"x", b"vaultroom-head-1 " * 700, b"\0" * 12288])
def test_garbage_is_no_head(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.head"
    path.write_bytes(content)
    with pytest.raises(HeadFileError):
        read_head_file(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "x.head").symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        HeadFileWriter(tmp_path / "x.head", KEY).write(a_head(1), sync=True)
    assert target.read_bytes() == b"precious"


def test_it_lies_beside_its_database() -> None:
    assert head_path(Path("/a/audit.db")) == Path("/a/audit.db.head")

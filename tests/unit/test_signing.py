from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from vaultroom.signing import SigningKey, install_public_key, load_install_key, verifies


def test_a_signature_holds_for_its_message_and_key_alone() -> None:
    key, other = SigningKey.generate(), SigningKey.generate()
    signature = key.sign(b"head")
    assert verifies(key.public, signature, b"head")
    assert not verifies(key.public, signature, b"heads")
    assert not verifies(other.public, signature, b"head")
    assert not verifies(b"short", signature, b"head")
    assert not verifies(key.public, b"", b"head")


def test_a_destroyed_key_signs_no_more() -> None:
    key = SigningKey.generate()
    key.destroy()
    with pytest.raises(ValueError, match="destroyed"):
        key.sign(b"x")


def test_a_key_cannot_be_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(SigningKey.generate())


def test_the_install_key_is_made_once_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    assert install_public_key(folder) is None
    first = load_install_key(folder)
    assert load_install_key(folder).public == first.public == install_public_key(folder)
    assert (folder / "install.key").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["install.key", "install.pub"]


def test_a_public_half_that_was_lost_is_written_again(tmp_path: Path) -> None:
    key = load_install_key(tmp_path)
    (tmp_path / "install.pub").write_text("rubbish")
    assert load_install_key(tmp_path).public == key.public == install_public_key(tmp_path)


def test_an_exposed_or_broken_install_key_is_refused(tmp_path: Path) -> None:
    load_install_key(tmp_path)
    (tmp_path / "install.key").chmod(0o644)
    with pytest.raises(PermissionError, match="0600"):
        load_install_key(tmp_path)
    (tmp_path / "install.key").chmod(0o600)
    (tmp_path / "install.key").write_bytes(b"short")
    with pytest.raises(ValueError, match="32 bytes"):
        load_install_key(tmp_path)

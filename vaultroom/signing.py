"""Ed25519 keys: the long-lived install key, and one key for each session.

The install key lies in the home's key folder (0600) and signs every session key; a session's private
key lives in the host's memory alone and is dropped when the session closes.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

_PRIVATE = "install.key"
_PUBLIC = "install.pub"


class SigningKey:
    """A private key that signs bytes. It has no way to be printed or pickled."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key: Ed25519PrivateKey | None = key
        self.public: bytes = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(Ed25519PrivateKey.generate())

    def sign(self, message: bytes) -> bytes:
        """64 bytes. Raises ValueError after `destroy()`."""
        if self._key is None:
            raise ValueError("this key was destroyed when its session closed")
        return self._key.sign(message)

    def destroy(self) -> None:
        """Drop the private half for good."""
        self._key = None

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a signing key cannot be serialised")


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether `signature` (64 bytes) over `message` was made with the private half of `public` (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def load_install_key(folder: Path) -> SigningKey:
    """The install key in `folder`; made on first use.

    Raises PermissionError when the file can be read by others, ValueError when it is not a key.
    """
    path = folder / _PRIVATE
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return _create_install_key(folder)
    with os.fdopen(descriptor, "rb") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise PermissionError(f"expected {path} to be readable by its owner alone (mode 0600)")
        raw = file.read()
    if len(raw) != 32:
        raise ValueError(f"expected a key of 32 bytes in {path}, found {len(raw)}")
    key = SigningKey(Ed25519PrivateKey.from_private_bytes(raw))
    if install_public_key(folder) != key.public:  # a crash may have come between the two files
        _write_public(folder, key)
    return key


def install_public_key(folder: Path) -> bytes | None:
    """The public half of the install key in `folder`, without reading the private one; None if absent."""
    try:
        text = (folder / _PUBLIC).read_text("ascii").strip()
        raw = bytes.fromhex(text)
    except (OSError, ValueError):
        return None
    return raw if len(raw) == 32 else None


def _create_install_key(folder: Path) -> SigningKey:
    private = Ed25519PrivateKey.generate()
    key = SigningKey(private)
    raw = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = folder / f".{_PRIVATE}.{os.getpid()}"
    _write_synced(temporary, raw, 0o600)
    try:
        os.link(temporary, folder / _PRIVATE)  # fails when another process was first
    except FileExistsError:
        return load_install_key(folder)
    finally:
        temporary.unlink()
    _write_public(folder, key)
    return key


def _write_public(folder: Path, key: SigningKey) -> None:
    _write_synced(folder / _PUBLIC, key.public.hex().encode() + b"\n", 0o644)


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

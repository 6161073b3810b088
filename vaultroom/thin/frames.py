"""What the thin clients share: frames by hand, and words for people (specification section 3.3).

Built-in modules and `_socket` only. The installers put this file's code in front of each client's own
(`vaultroom.intercept.thin_code`), so that a client starts with one read.
"""

import posix
import sys

MAX_FRAME = 8 * 1024 * 1024
CONNECT_MICROSECONDS = 200_000

_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _Escapes(dict[int, str]):
    """For str.translate: what JSON in ASCII writes for each character; ordinary ones stay."""

    def __missing__(self, code: int) -> str:
        if 32 <= code < 127 and code not in (34, 92):
            text = chr(code)
        elif code > 0xFFFF:
            high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
            text = f"\\u{high:04x}\\u{low:04x}"
        else:
            text = f"\\u{code:04x}"
        self[code] = text
        return text


_escapes = _Escapes()


def json_text(value: str) -> str:
    """`value` as a JSON string in ASCII; undecodable bytes travel as lone surrogates."""
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return f'"{value.translate(_escapes)}"'


def framed(body: str) -> bytes:
    """A frame: a big-endian length and the ASCII text."""
    data = body.encode("ascii")
    return len(data).to_bytes(4, "big") + data


def exchange(frame: bytes, path: bytes) -> bytes:
    """Send one frame to the socket at `path`; gives the body of the frame that answers.

    Raises ConnectionRefusedError, FileNotFoundError and other OSErrors where nobody listens, EOFError for
    half an answer, ValueError for one of an impossible length. The answer may take as long as it needs.
    """
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        wait = (0).to_bytes(8, sys.byteorder) + CONNECT_MICROSECONDS.to_bytes(8, sys.byteorder)
        connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDTIMEO, wait)
        connection.connect(path)
        connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDTIMEO, bytes(16))
        connection.sendall(frame)
        length = int.from_bytes(_receive(connection, 4), "big")
        if not 0 < length <= MAX_FRAME:
            raise ValueError
        return _receive(connection, length)
    finally:
        connection.close()


def _receive(connection: object, count: int) -> bytes:
    parts = []
    while count:
        part = connection.recv(min(count, 65536))  # type: ignore[attr-defined]
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def json_string(text: str, start: int) -> tuple[str, int]:
    """The JSON string that begins at `start`, behind its quote: its value, and where its closing quote is.

    Raises ValueError, IndexError or KeyError for anything else.
    """
    pieces = []
    index = start
    while True:
        char = text[index]
        if char == '"':
            break
        if char < " ":
            raise ValueError
        if char != "\\":
            pieces.append(char)
            index += 1
        elif text[index + 1] == "u":
            code, index = _code_unit(text, index), index + 6
            if 0xD800 <= code < 0xDC00 and text.startswith("\\u", index):
                low = _code_unit(text, index)
                if 0xDC00 <= low < 0xE000:
                    code, index = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, index + 6
            pieces.append(chr(code))
        else:
            pieces.append(_ESCAPED[text[index + 1]])
            index += 2
    return "".join(pieces), index


def _code_unit(text: str, index: int) -> int:
    digits = text[index + 2 : index + 6]
    if len(digits) != 4 or digits.strip("0123456789abcdefABCDEF"):
        raise ValueError
    return int(digits, 16)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def decode(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def printable(text: str) -> str:
    """For a person's terminal: nothing in it moves the cursor or hides."""
    return "".join([char if char.isprintable() else " " if char in "\n\t" else "?" for char in text])


def write_all(descriptor: int, text: str) -> bool:
    """Write the whole text; False where the other end is gone or was never there."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[posix.write(descriptor, data) :]
    except OSError:
        return False
    return True

"""The form of a policy file: what YAML may do in it, and where each value stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.policy import source
from vaultroom.policy.source import Document, Mapping, Scalar, Sequence, parse_source


def _only(document: Document) -> tuple[str, int, int]:
    (finding,) = document.findings
    return finding.code, finding.line, finding.column


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\n---\nb: 2\n", "several-documents", 2, 1),
        ("\ufeffa: 1\n", "byte-order-mark", 1, 1),
        ("a:\n\tb: 1\n", "tab", 2, 1),
        ("a:\n  \tb: 1\n", "tab", 2, 3),
        ("a: *x\n", "alias", 1, 4),
        ("a: &x 1\n", "anchor", 1, 4),
        ("a: !!str 1\n", "tag", 1, 4),
        ("a: !!python/object:os.system x\n", "tag", 1, 4),
        ("a: !mine 1\n", "tag", 1, 4),
        ("a: ! 1\n", "tag", 1, 4),
        ("%YAML 1.1\n---\na: 1\n", "directive", 1, 1),
        ("a: b\u200bc\n", "invisible-character", 1, 5),
        ("# \u202e comment\n", "invisible-character", 1, 3),
        ("a: 1\rb: 2\n", "invisible-character", 1, 5),
        ("a: 1\u2028b: 2\n", "invisible-character", 1, 5),
        ("a: \x00\n", "yaml-syntax", 1, 4),
        ("a: [1, 2\n", "yaml-syntax", 2, 1),
        ("a: 'b\n", "yaml-syntax", 2, 1),
        ("a: " + "[" * 20 + "]" * 20, "too-deep", 1, 15),
        ("[" * 100_000, "yaml-syntax", 1, 1001),
    ],
)
def test_form_errors_have_a_code_and_a_place(text: str, code: str, line: int, column: int) -> None:
    document = parse_source(text.encode())
    found = [(finding.code, finding.line, finding.column) for finding in document.findings]
    assert (code, line, column) in found or (code == "yaml-syntax" and found[0][0] == code)


def test_an_alias_is_refused_where_it_stands() -> None:
    document = parse_source(b"a: &x [1]\nb: *x\n")
    assert [(f.code, f.line, f.column) for f in document.findings] == [("anchor", 1, 4), ("alias", 2, 4)]


def test_broken_utf8_is_placed() -> None:
    assert _only(parse_source("a: é\nb: ".encode() + b"\xff\n")) == ("encoding", 2, 4)


def test_size_is_bounded() -> None:
    assert _only(parse_source(b"#" * (source.LARGEST + 1))) == ("too-large", 1, 1)
    assert parse_source(b"#" * source.LARGEST).findings == ()


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_NODES", 10)
    assert _only(parse_source(b"[" + b"a," * 20 + b"]"))[0] == "too-many-values"


def test_line_ends_of_windows_do_not_move_anything() -> None:
    document = parse_source(b"a: 1\r\nb:\r\n  - x\r\n")
    assert isinstance(document.root, Mapping)
    items = document.root.entries[1][1]
    assert isinstance(items, Sequence)
    assert (items.items[0].spot.line, items.items[0].spot.column) == (3, 5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no", "bool"), ("on", "bool"), ("1", "int"), ("0x10", "int"), ("1:30", "int"), ("1.5", "float"),
        ("~", "null"), ("", "null"), ("2024-01-01", "timestamp"), ("<<", "merge"), ("=", "value"),
        ("~/.ssh", "str"), ("'no'", "str"), ('"1"', "str"),
    ],
)  # fmt: skip
def test_what_yaml_would_make_of_a_scalar_is_known(text: str, kind: str) -> None:
    root = parse_source(f"a: {text}\n".encode()).root
    assert isinstance(root, Mapping)
    value = root.entries[0][1]
    assert isinstance(value, Scalar)
    assert value.kind == kind


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    document = parse_source(data)
    assert document.root is None or document.text is not None

"""Hosts: one spelling for each, and the patterns that match them."""

# ruff: noqa: E501  (tables read best packed)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.policy.matchers.hosts import HostPattern, HostSet, normalise_host, parse_host_pattern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.Com.", "example.com"),
        ("localhost", "localhost"),
        ("my_host.example", "my_host.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("\u0430pi.example", "xn--pi-6kc.example"),
        ("example\u3002com", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("\uff11\uff12\uff17.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("0:0:0::1", "::1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("[::FFFF:7f00:1]", "127.0.0.1"),
        ("1.example", "1.example"),
        ("1e100.net", "1e100.net"),
    ],
)
def test_one_spelling(text: str, expected: str) -> None:
    assert normalise_host(text) == expected
    assert normalise_host(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "..", "a..b", "a.example..", ".a", "http://a.example", "a.example:80", "[::1]:80", "a.example/x",
        "10.0.0.0/8", "user@a.example", "*.a.example", "a b", " a", "a\n", "a\0", "a%20b", "fe80::1%eth0", "-a.example",
        "a-.example", "a" * 64, ".".join(["a" * 60] * 5), "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1",
        "127.0.0.256", "1.2.3.4.5", "a.example\\b", "a.0x", "\u2488.example\u2488", "\u00ad", "a\u200db.example", "[a]",
        "[127.0.0.1]", ":::", "é" * 300,
    ],
)  # fmt: skip
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        normalise_host(text)


@given(st.text(max_size=30))
def test_normalising_is_stable_and_never_raises_otherwise(text: str) -> None:
    try:
        host = normalise_host(text)
    except ValueError:
        return
    assert normalise_host(host) == host
    assert host.isascii()
    assert host == host.lower()


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("a.example", "a.example", True),
        ("a.example", "b.a.example", False),
        ("*.a.example", "b.a.example", True),
        ("*.a.example", "c.b.a.example", True),
        ("*.a.example", "a.example", False),
        ("*.a.example", "xa.example", False),
        ("*.EXAMPLE.", "a.example", True),
        ("*.bücher.example", "x.xn--bcher-kva.example", True),
        ("*.com", "a.com", True),
        ("10.0.0.1", "10.0.0.1", True),
    ],
)
def test_patterns(pattern: str, host: str, expected: bool) -> None:
    parsed = parse_host_pattern(pattern)
    assert parsed.matches(host) is expected
    assert HostSet([parsed, HostPattern("other.example")]).matches(host) is expected


@pytest.mark.parametrize(
    "text", ["*", "*.", "*.*.a", "a.*", "**.a", "*a.example", "*.10.0.0.1", "10.0.0.*", "*.::1"]
)
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_host_pattern(text)


def test_a_pattern_shows_as_it_is_written() -> None:
    assert str(parse_host_pattern("*.A.example")) == "*.a.example"
    assert str(parse_host_pattern("a.example.")) == "a.example"

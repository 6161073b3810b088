"""Hosts out of URLs, authorities and remote specs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.shell.effects.hosts import Endpoint, endpoint, endpoint_of_url, remote_spec, split_url


@pytest.mark.parametrize(
    ("text", "host", "port", "doubtful"),
    [
        ("h", "h", 0, False),
        ("H.Example.", "h.example", 0, False),
        ("u:p@h:80", "h", 80, False),
        ("u@good@evil", "evil", 0, False),
        ("[::1]:80", "::1", 80, False),
        ("[fe80::1%25eth0]", "fe80::1", 0, False),
        ("::1", "::1", 0, False),
        ("h:", "h", 0, False),
        ("h:0x50", "h", 0, True),
        ("h:65536", "h", 0, True),
        ("h:٣", "h", 0, True),
        ("127.0.0.1", "127.0.0.1", 0, False),
        ("127.1", "127.1", 0, True),
        ("0177.0.0.1", "0177.0.0.1", 0, True),
        ("0x7f.0.0.1", "0x7f.0.0.1", 0, True),
        ("0X7F000001", "0x7f000001", 0, True),
        ("2130706433", "2130706433", 0, True),
        ("1.2.3.256", "1.2.3.256", 0, True),
        ("1.2.3.4.5", "1.2.3.4.5", 0, True),
        ("a..b", "a..b", 0, True),
        ("good\\@evil", "evil", 0, True),
        ("e%76il", "e%76il", 0, True),
        ("h{a,b}", "h{a,b}", 0, True),
        ("a b", "a b", 0, True),
        ("a\tb", "a\tb", 0, True),
        ("[::1", "::1", 0, True),
        ("-oProxyCommand=x", "-oproxycommand=x", 0, True),
        ("bücher.example", "bücher.example", 0, False),
    ],
)
def test_endpoints(text: str, host: str, port: int, doubtful: bool) -> None:
    assert endpoint(text) == Endpoint(host, port, doubtful)


@pytest.mark.parametrize("text", ["", ".", "u@", ":80", "[]"])
def test_no_host(text: str) -> None:
    assert endpoint(text) is None


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://h/x", "h", 80),
        ("HTTPS://h", "h", 443),
        ("https:/h/x", "h", 443),
        ("http:////h", "h", 80),
        ("http://h?x@evil", "h", 80),
        ("http://h#@evil", "h", 80),
        ("http://u@h:1/@evil", "h", 1),
        ("h/x", "h", 7),
        ("h:1/x", "h", 1),
        ("what://h", "h", 7),
    ],
)
def test_urls(text: str, host: str, port: int) -> None:
    assert endpoint_of_url(text, 7) == Endpoint(host, port)


@pytest.mark.parametrize(
    ("text", "path"),
    [("file:///a", "/a"), ("FILE:/a", "/a"), ("file://localhost/a", "/a"), ("file:////a", "//a")],
)
def test_file_urls(text: str, path: str) -> None:
    assert split_url(text).path == path


@pytest.mark.parametrize(
    ("text", "host", "port", "path"),
    [
        ("h:x", "h", 22, "x"),
        ("u@h:/x:y", "h", 22, "/x:y"),
        ("[::1]:x", "::1", 22, "x"),
        ("u@[::1]:x", "::1", 22, "x"),
        ("h::m/x", "h", 873, "m/x"),
        ("scp://u@h:9/x", "h", 9, "/x"),
        ("rsync://h/m", "h", 873, "/m"),
    ],
)
def test_remote_specs(text: str, host: str, port: int, path: str) -> None:
    spec = remote_spec(text)
    assert spec is not None and spec.at == Endpoint(host, port) and spec.path == path


@pytest.mark.parametrize("text", ["x", "./h:x", "/h:x", "a/b:c", ":x", "", "u@x"])
def test_local_paths(text: str) -> None:
    assert remote_spec(text) is None


@given(st.text(st.sampled_from("ab.:/@[]?#%\\0x1-"), max_size=24))
def test_hosts_have_no_other_parts(text: str) -> None:
    found = endpoint_of_url(text)
    if found is not None and not found.doubtful:
        assert found.host == found.host.lower() and "@" not in found.host and not found.host.endswith(".")
        assert not set(found.host) & set("/?#\\%")

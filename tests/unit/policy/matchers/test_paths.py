"""Globs against paths: RE2 patterns against a plain reference, spellings, case, folders above."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.policy.matchers.globs import parse_glob
from vaultroom.policy.matchers.paths import GlobUse, PathIndex


def index(
    *globs: str, strict: bool = False, cwd: str = "/home/dev/proj", resolve: Callable[[str], str] = str
) -> PathIndex:
    uses = [
        GlobUse(position, parse_glob(text, home="/home/dev", environ={}), strict)
        for position, text in enumerate(globs)
    ]
    return PathIndex(uses, cwd=cwd, resolve=resolve)


def matches(glob: str, path: str, *, strict: bool = False, recursive: bool = False) -> bool:
    return bool(index(glob, strict=strict).matching(path, recursive=recursive))


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("~/.ssh/**", "/home/dev/.ssh", True),
        ("~/.ssh/**", "/home/dev/.ssh/a/b", True),
        ("~/.ssh/**", "/home/dev/.sshx", False),
        ("~/.ssh/*", "/home/dev/.ssh", False),
        ("~/.ssh/*", "/home/dev/.ssh/a/b", False),
        ("*", "/home/dev/proj/.hidden", True),
        ("*.py", "/home/dev/proj/a.py", True),
        ("*.py", "/home/dev/proj/a/b.py", False),
        ("*.py", "/home/dev/proj/apy", False),
        ("**/*.py", "/x/y.py", True),
        ("./**/*.py", "/home/dev/proj/y.py", True),
        ("./**/*.py", "/x/y.py", False),
        ("/a/**/b", "/a/b", True),
        ("/a/**/b", "/a/x/y/b", True),
        ("/a/**/b", "/ab", False),
        ("**", "/", True),
        ("/**", "/a", True),
        ("/**/**", "/a/b", True),
        ("/", "/", True),
        ("/", "/a", False),
        ("/?", "/é", True),
        ("/?", "/ab", False),
        ("/[a-c]x", "/bx", True),
        ("/[!a-c]x", "/bx", False),
        ("/[+-9]x", "//x", False),
        ("/a.b", "/aXb", False),
        ("/a+(b)|c^d", "/a+(b)|c^d", True),
        ("/a/**", "/a/b\nc", True),
        ("/a/*", "/a/b\nc", True),
        ("/a/*", "/a/\udcff", True),
    ],
)
def test_matching(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected
    assert not expected or matches(glob, path, strict=True)


def test_strict_rules_do_not_care_about_case_or_composition() -> None:
    glob = "/home/dev/s\u00e9cret/**"
    for spelling in ("/home/dev/S\u00c9CRET/x", "/home/dev/se\u0301cret/x", "/HOME/dev/se\u0301cret"):
        assert matches(glob, spelling, strict=True)
        assert not matches(glob, spelling)
    assert matches("/home/dev/se\u0301cret/**", "/home/dev/s\u00e9cret/x", strict=True)


def test_folding_never_makes_a_strict_rule_match_less() -> None:
    assert matches("/[!a]x", "/Ax", strict=True)
    assert not matches("/[!a]x", "/ax", strict=True)


def test_an_undecodable_byte_slips_past_no_deny() -> None:
    found = index("/\udcffx", strict=True, cwd="/")
    assert found.matching("/\udcfex", recursive=False)
    assert not index("/\udcffx", cwd="/").matching("/\udcffx", recursive=False)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("~/.ssh/**", "/home/dev", True),
        ("~/.ssh/**", "/home", True),
        ("~/.ssh/**", "/", True),
        ("~/.ssh/**", "/home/DEV", True),
        ("~/.ssh/**", "/home/dev/.ssh", True),
        ("~/.ssh/**", "/home/dev/proj", False),
        ("~/.ssh/**", "/home/de", False),
        ("**/.env", "/home/dev/proj/build", False),
        ("**/.env", "/", True),
        ("~/*/keys", "/home/dev/x", True),
        ("~/*/keys", "/home/dev/x/y", False),
        ("~/a/**/b", "/home/dev/a/x", False),
        ("../other/**", "/home/dev", True),
    ],
)
def test_a_recursive_act_reaches_what_lies_below(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path, strict=True, recursive=True) is expected
    assert not matches(glob, path, recursive=True) or matches(glob, path)


def test_both_spellings_of_a_linked_folder() -> None:
    def resolve(path: str) -> str:
        return path.replace("/home/dev/link", "/data/real*dir", 1)

    found = index("~/link/sub/**", "~/link", strict=True, resolve=resolve)
    assert found.matching("/home/dev/link/sub/x", recursive=False) == 0b01
    assert found.matching("/data/real*dir/sub/x", recursive=False) == 0b01
    assert found.matching("/data/realXdir/sub/x", recursive=False) == 0
    assert found.matching("/data", recursive=True) == 0b11


def test_one_bit_for_each_rule() -> None:
    assert index("/a/**", "/a/b", "/c").matching("/a/b", recursive=False) == 0b011
    assert PathIndex([], cwd="/", resolve=str).matching("/a", recursive=True) == 0


_PATTERNS = st.sampled_from(["a", "b", "*", "?", "a*", "*b", "[ab]", "[!a]", "**", "{a,b}", "a{,b}"])


@given(
    st.lists(_PATTERNS, min_size=1, max_size=4), st.lists(st.sampled_from(["a", "b", "ab", ".a"]), max_size=4)
)
def test_matching_equals_a_reference(patterns: list[str], names: list[str]) -> None:
    """The reference walks segments; it shares no code with the patterns."""
    expected = any(_walk(one.split("/"), names) for one in _alternatives("/".join(patterns)))
    glob, path = "/" + "/".join(patterns), "/" + "/".join(names)
    assert matches(glob, path) is expected
    assert matches(glob, path, strict=True) is expected


def _alternatives(text: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", text)
    if found is None:
        return [text]
    return [
        one
        for choice in found[1].split(",")
        for one in _alternatives(text[: found.start()] + choice + text[found.end() :])
    ]


def _walk(patterns: list[str], names: list[str]) -> bool:
    if not patterns:
        return not names
    if patterns[0] == "**":
        return _walk(patterns[1:], names) or (bool(names) and _walk(patterns, names[1:]))
    return bool(names) and _same(patterns[0], names[0]) and _walk(patterns[1:], names[1:])


def _same(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(_same(pattern[1:], name[cut:]) for cut in range(len(name) + 1))
    if pattern[0] == "[":
        end = pattern.index("]")
        body = pattern[1:end]
        inside = bool(name) and (name[0] in body.lstrip("!")) is not body.startswith("!")
        return inside and _same(pattern[end + 1 :], name[1:])
    return bool(name) and pattern[0] in ("?", name[0]) and _same(pattern[1:], name[1:])

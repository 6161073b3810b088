"""The language of path globs."""

# ruff: noqa: E501  (tables read best packed)

from __future__ import annotations

import pytest

from vaultroom.policy.matchers.globs import (
    DEEP,
    AnyRun,
    CharacterClass,
    Glob,
    Literal,
    Segment,
    expand_braces,
    parse_glob,
    quote_literal,
)

ENVIRON = {"DIR": "/srv/x", "ODD": "/srv/a*{b}[c]$d", "EMPTY": "", "REL": "sub/dir"}


def parse(text: str) -> Glob:
    return parse_glob(text, home="/home/dev", environ=ENVIRON)


def names(text: str, cwd: str = "/w/p") -> list[str]:
    """The alternatives from the root, for globs without wildcards other than `**` and `*`."""
    result = []
    for alternative in parse(text).alternatives:
        parts = []
        for segment in alternative.anchored(cwd):
            parts.append("**" if segment.deep else segment.literal or "*")
        result.append("/" + "/".join(parts))
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a/b", ["/a/b"]),
        ("/a//b/./c/", ["/a/b/c"]),
        ("/a/x/../b", ["/a/b"]),
        ("/..", ["/"]),
        ("/", ["/"]),
        ("~", ["/home/dev"]),
        ("~/.ssh/**", ["/home/dev/.ssh/**"]),
        ("a~", ["/w/p/a~"]),
        (".", ["/w/p"]),
        ("./**", ["/w/p/**"]),
        ("src/*", ["/w/p/src/*"]),
        ("..", ["/w"]),
        ("../../../x", ["/x"]),
        ("a/../../b", ["/w/b"]),
        ("**/.env", ["/**/.env"]),
        ("**", ["/**"]),
        ("$DIR/a", ["/srv/x/a"]),
        ("${DIR}a", ["/srv/xa"]),
        ("$REL/a", ["/w/p/sub/dir/a"]),
        ("$ODD/a", ["/srv/a*{b}[c]$d/a"]),
        ("[$]HOME", ["/w/p/$HOME"]),
        ("[*][{][[]", ["/w/p/*{["]),
        ("{~,/x}/a", ["/home/dev/a", "/x/a"]),
        ("/{a,b}{1,2}", ["/a1", "/a2", "/b1", "/b2"]),
        ("/{a,b{c,d}}", ["/a", "/bc", "/bd"]),
        ("/a{,.bak}", ["/a", "/a.bak"]),
        ("/{a/b,c}/d", ["/a/b/d", "/c/d"]),
    ],
)
def test_what_a_glob_means(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "a**", "**a", "a**b/c", "a***b", "~bob", "~bob/x", "[a", "[]", "[b-a]", "[[:alpha:]]", "a[/]b", "{a", "a}",
        "{a}", "{}", "$UNSET", "${UNSET}", "$EMPTY/x", "$", "$1", "a$", "${DIR", "a\\b", "a\0b", "*/../x", "**/..",
        "a/" * 200, "x" * 5000, "{a,b}" * 10, "{" * 2000, "/{x,}{y,}{z,}{1,}{2,}{3,}{4,}",
    ],
)  # fmt: skip
def test_what_is_no_glob(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse(text)


def test_a_home_that_is_not_absolute_is_no_home() -> None:
    with pytest.raises(ValueError, match="absolute home"):
        parse_glob("~/a", home="~", environ={})


def test_tokens_of_a_segment() -> None:
    (alternative,) = parse("/a*[!b-c]x[y]z/**").alternatives
    negated = CharacterClass((("b", "c"),), negated=True)
    assert alternative.segments == (
        Segment((Literal("a"), AnyRun(), negated, Literal("xyz"))),
        DEEP,
    )


def test_a_class_that_begins_with_its_end() -> None:
    (alternative,) = parse("/[]a]").alternatives
    assert alternative.segments == (Segment((CharacterClass((("]", "]"), ("a", "a")), negated=False),)),)


def test_braces_without_braces() -> None:
    assert expand_braces("abc") == ["abc"]


def test_quoting_is_undone_by_parsing() -> None:
    text = "a*?[]{}$b"
    (alternative,) = parse("/" + quote_literal(text)).alternatives
    assert alternative.segments[0].literal == text

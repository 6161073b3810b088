"""The door to RE2: linear time, clear errors, loud failures, and text that is not Unicode."""

import time

import pytest

from vaultroom.policy.re2 import UNKNOWN_CHARACTER, PatternSet, compile_pattern

UNDECODABLE = b"/etc/\xff/x".decode(errors="surrogateescape")


def test_search_and_fullmatch() -> None:
    pattern = compile_pattern("b+")
    assert pattern.search("abbc")
    assert not pattern.fullmatch("abbc")
    assert pattern.fullmatch("bb")


def test_a_dot_matches_a_newline_only_when_asked() -> None:
    assert not compile_pattern("a.b").search("a\nb")
    assert compile_pattern("a.b", dot_all=True).search("a\nb")
    assert PatternSet.full(["a.b"], dot_all=True).matches("a\nb") == [0]
    assert PatternSet.full(["a.b"]).matches("a\nb") == []


def test_a_set_tells_which_patterns_match() -> None:
    assert PatternSet.search(["z", "b", "^a"]).matches("abc") == [1, 2]
    assert PatternSet.full(["abc", "b", "a.*"]).matches("abc") == [0, 2]
    assert PatternSet.search([]).matches("abc") == []
    assert PatternSet.full(["[^/]*"]).matches("") == [0]


@pytest.mark.parametrize("bad", ["(", "(?=x)", r"\1", "a{2000}", "((a{100}){100}){100}", "\ud800"])
def test_a_bad_pattern_is_explained(bad: str) -> None:
    for make in (compile_pattern, lambda pattern: PatternSet.full(["fine", pattern])):
        with pytest.raises(ValueError, match="regular expression"):
            make(bad)


def test_patterns_that_hang_a_backtracking_engine_do_not() -> None:
    text = "a" * 200_000
    start = time.perf_counter()
    for pattern in ("(a+)+$", "(a|aa)+b", "a*a*a*a*a*b"):
        compile_pattern(pattern).search(text + "!")
        PatternSet.full([pattern]).matches(text + "!")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("answer", [None, [], [1, 2]])
def test_a_failure_of_a_set_is_not_no_match(answer: list[int] | None) -> None:
    class Broken:
        def Match(self, text: bytes) -> list[int] | None:
            return answer

    patterns = PatternSet.search(["a"])
    patterns._set = Broken()
    with pytest.raises(RuntimeError):
        patterns.matches("b")


def test_an_undecodable_byte_is_one_character_that_nobody_knows() -> None:
    assert compile_pattern("/etc/./x").fullmatch(UNDECODABLE)
    assert compile_pattern("/etc/[^/]/x").fullmatch(UNDECODABLE)
    assert PatternSet.full(["/etc/.*", "/etc/[a-z]/x", "/etc//x"]).matches(UNDECODABLE) == [0]
    for literal in ("/etc/\xff/x", "/etc/ÿ/x", "/etc/[?]/x", "/etc/x"):
        assert not compile_pattern(literal).fullmatch(UNDECODABLE)


def test_no_character_a_policy_names_equals_an_undecodable_one() -> None:
    for code in (*range(0x250), 0x2028, 0xFFFE, 0x10FFFF):
        assert not compile_pattern(rf"\x{{{code:X}}}").fullmatch("\udcff")
    assert compile_pattern(UNKNOWN_CHARACTER).fullmatch("\udcff")

"""One plain line ↔ argv."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultroom.shell import join_argv, split_line


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("ls", ("ls",)),
        ("  git \t push  ", ("git", "push")),
        ("rm 'a b' \"c d\" e\\ f", ("rm", "a b", "c d", "e f")),
        ("rm 'a'\"b\"c", ("rm", "abc")),
        ("echo ''", ("echo", "")),
        ('echo "a\\"b\\\\c\\d"', ("echo", 'a"b\\c\\d')),
        ("echo 'a$b`c`;|'", ("echo", "a$b`c`;|")),
        ("echo \\$x \\;", ("echo", "$x", ";")),
        ("find . -exec x {} +", ("find", ".", "-exec", "x", "{}", "+")),
        ("echo a#b a~ x=1", ("echo", "a#b", "a~", "x=1")),
        ("'if' x", ("if", "x")),
        ("./run --a=b", ("./run", "--a=b")),
        ("echo grüße", ("echo", "grüße")),
    ],
)
def test_a_plain_line(line: str, argv: tuple[str, ...]) -> None:
    assert split_line(line) == argv


@pytest.mark.parametrize(
    "line",
    [
        "", "  ", "a;b", "a&", "a|b", "a>b", "a<b", "a\nb", "a\rb", "a\0b", "a\x1bb", "(a)", "a $x",
        'a "$x"', "a `b`", 'a "`b`"', "a *", "a ?", "a [b]", "a {b,c}", "a {1..3}", "a x{}", "a ~",
        "a ~root/x", "a x=~", "a #b", "#a", "a =ls", "A=b", "A=b c", "A+=b c", "a[0]=b c", "! a", "a !b",
        'a "!b"', "if a", "[[ a ]]", "time a", "a 'b", 'a "b', "a \\", "a \\\nb", 'a "b\\\nc"',
        "a 'b\0'", "'' a", "eval a", "sudo rm x", "/usr/bin/env rm x", "'sudo' rm x", "bash -c x",
        "xargs rm", ". x", "exec a", "coproc a", "a $'x'", "a b^c",
    ],
)  # fmt: skip
def test_anything_else_is_refused(line: str) -> None:
    assert split_line(line) is None


WORDS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
    min_size=1,
    max_size=5,
)


@given(WORDS)
def test_a_joined_line_splits_into_the_same_words(argv: list[str]) -> None:
    line = join_argv(argv)
    assert shlex.split(line) == argv
    assert split_line(line) in (tuple(argv), None)


@given(st.text(st.sampled_from("ab '\"\\$`;|&<>(){}[]*?~#=!\n\t/.,:^%@-"), max_size=16))
@settings(max_examples=400)
def test_what_is_accepted_means_the_same_to_the_standard_splitter(line: str) -> None:
    argv = split_line(line)
    if argv is not None:
        assert list(argv) == shlex.split(line)


def test_bash_agrees() -> None:
    lines = ["echo a 'b c' \"d e\" f\\ g", 'echo "a\\d\\\\"', "echo a#b a~ x=1 {} a:b,c", "echo a%b @c +d -e"]
    for line in lines:
        argv = split_line(line)
        assert argv is not None
        script = f"show() {{ printf '%s\\0' \"$@\"; }}; show {line}"
        found = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
        assert tuple(found.decode().split("\0")[:-1]) == argv


def test_join_quotes_what_a_shell_would_read_otherwise() -> None:
    assert join_argv(["a", "b c", ""]) == "a 'b c' ''"
    assert join_argv(["A=b", "c"]) == "'A=b' c"
    assert join_argv(["if"]) == "'if'"
    assert join_argv([]) == ""
    assert join_argv(["a", "\udcff"]) == "a '\udcff'"

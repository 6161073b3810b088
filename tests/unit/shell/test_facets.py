"""A command's facets: one primary, the rest derived from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.events import Action, Facet
from vaultroom.shell import NoFiles, RealFiles, command_facets, effects, needs_files


def test_the_primary_facet_comes_first() -> None:
    primary, derived = command_facets(("/bin/rm", "-r", "x"), cwd="/w", view=NoFiles())
    assert primary == Facet(action=Action.SHELL_EXEC, cmd="rm", argv=("/bin/rm", "-r", "x"), cwd="/w")
    assert derived == Facet(
        action=Action.FS_DELETE,
        cmd="rm",
        argv=("/bin/rm", "-r", "x"),
        path="/w/x",
        cwd="/w",
        recursive=True,
        derived=True,
        parent=0,
    )


def test_a_program_without_known_effects_asks_nothing_of_the_disk() -> None:
    class Untouchable(NoFiles):
        def realpath(self, path: str) -> str:
            raise AssertionError(path)

    facets = command_facets(("git", "-C", "x", "push"), cwd="/w", view=Untouchable())
    assert [facet.subcommand for facet in facets] == ["push"]


@pytest.mark.parametrize(("argv", "cwd"), [((), "/w"), (("rm",), "w"), (("rm",), "")])
def test_what_cannot_be_a_command_is_an_error(argv: tuple[str, ...], cwd: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        command_facets(argv, cwd=cwd, view=NoFiles())


def test_which_programs_look_at_files() -> None:
    assert all(needs_files(cmd) for cmd in ("rm", "mv", "find", "git", "tee"))
    assert not any(needs_files(cmd) for cmd in ("ls", "kill", "", "/bin/rm"))


PIECES = st.sampled_from(
    ["-rf", "--", "-t", "-", "push", "run", "-v", "/x:/y", "h:/p", "http://h:1/x", "cf", "-o",
     "s/a/b/w f", "--target-directory=x", "a", "/", "..", "../..", "a/", "of=x", "-delete",
     "clean", "-C", ":x", "*", "",
     "-S", "-R", "+x", "\udcff", "/proc/self/fd/9"]
)  # fmt: skip
PROGRAMS = st.sampled_from(sorted(effects.PROGRAMS))


@given(PROGRAMS, st.lists(PIECES, max_size=6), st.booleans())
def test_paths_are_always_absolute_and_tidy(cmd: str, arguments: list[str], real: bool) -> None:
    for facet in command_facets((cmd, *arguments), cwd="/tmp", view=RealFiles() if real else NoFiles())[1:]:
        assert (facet.action is Action.NET_EGRESS) == bool(facet.host) == (not facet.path)
        if facet.host:
            continue
        parts = facet.path.split("/")
        assert facet.path.startswith("/")
        assert facet.path == "/" or ("" not in parts[1:] and "." not in parts and ".." not in parts)

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.approvals.making import act, command, with_facets
from vaultroom.approvals.targets import target_of
from vaultroom.events import Action, Environment, Event, Facet


def target(event: Event, files: dict[str, str] | None = None) -> str | None:
    return target_of(event, event.judged_facets()[0], (files or {}).get)


def test_the_same_command_in_the_same_folder_is_the_same_target() -> None:
    assert target(command("git", "push")) == target(command("git", "push")) is not None


@pytest.mark.parametrize(
    "other",
    [
        command("git", "push", "--force"),
        command("git", "push", cwd="/home/dev/other"),
        command("/tmp/git", "push"),
        command("git", "push", raw="GIT_SSH_COMMAND='sh -c evil' git push"),
        command("git", "push", raw='A="b c" git push'),
        command("git", "push", env=Environment({"LD_PRELOAD": "/tmp/x.so"})),
        command("git push"),
    ],
    ids=["argument", "folder", "program", "assignment", "quoted-assignment", "environment", "split"],
)
def test_another_act_has_another_target(other: Event) -> None:
    assert target(command("git", "push")) != target(other)


def test_a_quoted_assignment_with_another_value_is_another_target() -> None:
    first = command("git", "push", raw='A="b c" git push')
    assert target(first) != target(replace(first, raw='A="b d" git push'))


def test_an_assignment_that_repeats_an_argument_is_seen() -> None:
    plain = command("make", "X=1")
    assert target(plain) != target(replace(plain, raw="X=1 make X=1"))


def test_the_shell_in_front_does_not_matter_and_is_never_what_is_bound() -> None:
    wrapped = with_facets(
        command("/bin/zsh", "-lc", "whoami"),
        Facet(Action.SHELL_EXEC, cmd="whoami", argv=("whoami",), cwd="/home/dev/proj"),
    )
    destructive = with_facets(
        command("/bin/zsh", "-lc", "rm -rf /home/dev/photos"),
        Facet(Action.SHELL_EXEC, cmd="rm", argv=("rm", "-rf", "/home/dev/photos"), cwd="/home/dev/proj"),
    )
    assert target(wrapped) == target(command("whoami"))
    assert target(wrapped) != target(destructive)


def test_a_redirect_makes_another_target() -> None:
    echo = Facet(Action.SHELL_EXEC, cmd="echo", argv=("echo", "hi"), cwd="/home/dev/proj")
    write = Facet(Action.FS_WRITE, path="/home/dev/.bashrc", derived=True, parent=0)
    event = command("echo", "hi")
    assert target(with_facets(event, echo)) != target(with_facets(event, echo, write))


def test_equal_commands_in_one_line_keep_their_own_redirects() -> None:
    echo = Facet(Action.SHELL_EXEC, cmd="echo", argv=("echo", "hi"), cwd="/home/dev/proj")
    again = replace(echo)
    write = Facet(Action.FS_WRITE, path="/home/dev/.bashrc", derived=True, parent=1)
    event = with_facets(command("echo", "hi"), echo, again, write)
    assert target_of(event, echo) != target_of(event, again)


def test_a_script_is_bound_by_its_content() -> None:
    event = command("python3.12", "x.py")
    before = target(event, {"/home/dev/proj/x.py": "one"})
    assert before is not None
    assert before == target(event, {"/home/dev/proj/x.py": "one"})
    assert before != target(event, {"/home/dev/proj/x.py": "two"})


@pytest.mark.parametrize(
    ("argv", "path"),
    [
        (("bash", "-x", "deploy.sh"), "/home/dev/proj/deploy.sh"),
        (("node", "-r", "./hook.js", "main.js"), "/home/dev/proj/hook.js"),
        (("python", "-m", "pkg.tool"), "/home/dev/proj/pkg/tool.py"),
        (("./run", "now"), "/home/dev/proj/run"),
        (("make", "all"), "/home/dev/proj/Makefile"),
        (("npm", "test"), "/home/dev/proj/package.json"),
        (("node", "--require=./hook.js", "main.js"), "/home/dev/proj/hook.js"),
    ],
)
def test_all_that_may_be_code_is_bound(argv: tuple[str, ...], path: str) -> None:
    files = dict.fromkeys(("/home/dev/proj/main.js", "/home/dev/proj/deploy.sh"), "same") | {path: "one"}
    assert target(command(*argv), files) != target(command(*argv), files | {path: "two"})


@pytest.mark.parametrize(
    "event",
    [
        command("python3"),
        command("python3", "gone.py"),
        command("bash", "-s", "x"),
        command("python3", "-"),
        command("xargs", "rm"),
        command("rm", "x", opaque=True),
        command("true", argv=()),
        act(Action.FS_WRITE, path="relative"),
        act(Action.NET_EGRESS, host="h"),
        act(Action.NET_EGRESS, port=443),
        act(Action.MCP_TOOL),
    ],
    ids=lambda event: " ".join(event.argv) or event.action,
)
def test_what_cannot_be_bound_has_no_target(event: Event) -> None:
    assert target(event) is None


def test_one_opaque_facet_spoils_the_whole_act() -> None:
    push = Facet(Action.SHELL_EXEC, cmd="git", argv=("git", "push"))
    eval_ = Facet(Action.SHELL_EXEC, cmd="eval", argv=("eval", "$x"), opaque=True)
    event = with_facets(command("git", "push"), push, eval_)
    assert target_of(event, push) is None


def test_a_script_that_cannot_be_read_has_no_target() -> None:
    def unreadable(path: str) -> str | None:
        raise PermissionError(path)

    event = command("python3", "x.py")
    assert target_of(event, event.as_facet(), unreadable) is None


def test_files_hosts_and_tools() -> None:
    write = act(Action.FS_WRITE, path="/a/b")
    tree = Facet(Action.FS_DELETE, path="/a/b", recursive=True)
    assert target(write) == "path:/a/b"
    assert target_of(with_facets(write, tree), tree) == "tree:/a/b"
    assert target(act(Action.NET_EGRESS, host="docs.example", port=443)) == "host:docs.example:443"
    tool = act(Action.MCP_TOOL, server="fs", tool="move", tool_args={"from": "a", "to": "b"})
    same = replace(tool, tool_args={"to": "b", "from": "a"})
    assert target(tool) == target(same)
    for other in (
        replace(tool, tool_args={"from": "a", "to": "c"}),
        replace(tool, tool="copy"),
        replace(tool, server="x"),
    ):
        assert target(other) != target(tool)


def test_secrets_do_not_stay() -> None:
    found = target(command("curl", "-H", "Authorization: hunter2"))
    assert found is not None and "hunter2" not in found


@given(st.lists(st.text(), min_size=1, max_size=4), st.lists(st.text(), min_size=1, max_size=4))
def test_two_commands_share_a_target_only_when_equal(one: list[str], two: list[str]) -> None:
    first, second = (with_facets(command("x"), Facet(Action.SHELL_EXEC, argv=tuple(a))) for a in (one, two))
    a, b = target(first), target(second)
    assert (a == b) == (one == two) or a is None or b is None

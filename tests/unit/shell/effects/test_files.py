"""What file programs touch, program by program, with plain, tricky and hostile arguments."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from vaultroom.shell import NoFiles, RealFiles, command_facets

D, W, R = "fs.delete", "fs.write", "fs.read"


def touched(line: str, *, cwd: str = "/w", view: object = None) -> list[tuple[str, str, bool]]:
    """(action, path, recursive) of each derived facet."""
    facets = command_facets(shlex.split(line), cwd=cwd, view=view or NoFiles())  # type: ignore[arg-type]
    assert all(facet.parent == 0 and facet.derived for facet in facets[1:])
    return [(facet.action.value, facet.path, facet.recursive) for facet in facets[1:]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rm a", [(D, "/w/a", False)]),
        ("/bin/rm a", [(D, "/w/a", False)]),
        ("rm -rf a b", [(D, "/w/a", True), (D, "/w/b", True)]),
        ("rm a -rf", [(D, "/w/a", True)]),
        ("rm -fvR a", [(D, "/w/a", True)]),
        ("rm --recursive a", [(D, "/w/a", True)]),
        ("rm --recurs --fo a", [(D, "/w/a", True)]),
        ("rm --r a", [(D, "/w/a", True)]),
        ("rm --preserve-root=all a", [(D, "/w/a", False)]),
        ("rm --unknown -Q a", [(D, "/w/a", False)]),
        ("rm -- -rf", [(D, "/w/-rf", False)]),
        ("rm -r -- -rf --", [(D, "/w/-rf", True), (D, "/w/--", True)]),
        ("rm -", [(D, "/w/-", False)]),
        ("rm -rf /", [(D, "/", True)]),
        ("rm -rf //", [(D, "/", True)]),
        ("rm -rf /a/../b/./c//d", [(D, "/b/c/d", True)]),
        ("rm -rf ../../../../x", [(D, "/x", True)]),
        ("rm -rf .", [(D, "/w", True)]),
        ("rm -rf a/..", [(D, "/w", True)]),
        ("rm ''", []),
        ("rm", []),
        ("rm a a ./a", [(D, "/w/a", False)]),
        ("unlink a", [(D, "/w/a", False)]),
        ("rmdir a/b", [(D, "/w/a/b", False)]),
        ("rmdir -p a/b/c/", [(D, "/w/a/b/c", False), (D, "/w/a/b", False), (D, "/w/a", False)]),
        ("rmdir --parents /a/b", [(D, "/a/b", False), (D, "/a", False)]),
    ],
)
def test_removal(line: str, expected: list[tuple[str, str, bool]]) -> None:
    assert touched(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cp a b", [(R, "/w/a", False), (W, "/w/b", False)]),
        ("cp a d/", [(R, "/w/a", False), (W, "/w/d/a", False)]),
        (
            "cp a x/b d",
            [(R, "/w/a", False), (W, "/w/d/a", False), (R, "/w/x/b", False), (W, "/w/d/b", False)],
        ),
        ("cp -t d a b", [(R, "/w/a", False), (W, "/w/d/a", False), (R, "/w/b", False), (W, "/w/d/b", False)]),
        ("cp a -td", [(R, "/w/a", False), (W, "/w/d/a", False)]),
        ("cp a --target-directory=d", [(R, "/w/a", False), (W, "/w/d/a", False)]),
        ("cp a --target d", [(R, "/w/a", False), (W, "/w/d/a", False)]),
        ("cp -S rc a .bash", [(R, "/w/a", False), (W, "/w/.bash", False), (W, "/w/.bashrc", True)]),
        ("cp -b a b", [(R, "/w/a", False), (W, "/w/b", False), (W, "/w/b~", True)]),
        ("cp -aT a d/", [(R, "/w/a", True), (W, "/w/d", True)]),
        ("cp -r a b", [(R, "/w/a", True), (W, "/w/b", True)]),
        ("cp -rt d ..", [(R, "/", True), (W, "/w/d", True)]),
        ("cp --parents x/y d/", [(R, "/w/x/y", False), (W, "/w/d/x", False), (W, "/w/d/x/y", False)]),
        ("cp a", [(R, "/w/a", False)]),
        ("cp -- -t d", [(R, "/w/-t", False), (W, "/w/d", False)]),
        ("mv a b", [(R, "/w/a", True), (D, "/w/a", True), (W, "/w/b", True)]),
        ("mv -f a d/", [(R, "/w/a", True), (D, "/w/a", True), (W, "/w/d/a", True)]),
        ("mv -t d a/", [(R, "/w/a", True), (D, "/w/a", True), (W, "/w/d/a", True)]),
        ("ln a b", [(R, "/w/a", True), (W, "/w/b", False)]),
        ("ln ../x/a", [(R, "/x/a", True), (W, "/w/a", False)]),
        ("ln -s ../x d/l", [(R, "/w/x", True), (W, "/w/d/l", False)]),
        ("ln -sr ../x d/l", [(R, "/x", True), (W, "/w/d/l", False)]),
        ("ln -sf /etc/passwd l", [(R, "/etc/passwd", True), (W, "/w/l", False)]),
    ],
)
def test_copies_moves_and_links(line: str, expected: list[tuple[str, str, bool]]) -> None:
    assert touched(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dd if=/dev/zero of=x bs=1M", [(R, "/dev/zero", False), (W, "/w/x", False)]),
        ("dd of=a of=b", [(W, "/w/a", False), (W, "/w/b", False)]),
        ("dd bs=1", []),
        ("truncate -s 0 a", [(W, "/w/a", False)]),
        ("truncate --size=0 -r ref a", [(R, "/w/ref", False), (W, "/w/a", False)]),
        ("shred -n 3 a", [(W, "/w/a", False)]),
        ("shred -zun3 a", [(W, "/w/a", False), (D, "/w/a", False)]),
        ("shred --remove=wipe a", [(W, "/w/a", False), (D, "/w/a", False)]),
        ("shred --random-source /r a", [(R, "/r", False), (W, "/w/a", False)]),
        ("tee -a a b -", [(W, "/w/a", False), (W, "/w/b", False)]),
        ("chmod 755 a", [(W, "/w/a", False)]),
        ("chmod -R u+x d", [(W, "/w/d", True)]),
        ("chmod -w a", [(W, "/w/a", False)]),
        ("chmod -Rw a", [(W, "/w/a", True)]),
        ("chmod a -rwx", [(W, "/w/a", False)]),
        ("chmod --reference=r a", [(R, "/w/r", False), (W, "/w/a", False)]),
        ("chmod --ref r a", [(R, "/w/r", False), (W, "/w/a", False)]),
        ("chmod -- -w a", [(W, "/w/a", False)]),
        ("chown -R me:us d", [(W, "/w/d", True)]),
        ("chown --from=x me d", [(W, "/w/d", False)]),
        ("chown --reference r d", [(R, "/w/r", False), (W, "/w/d", False)]),
        ("chgrp us d", [(W, "/w/d", False)]),
    ],
)
def test_contents_and_attributes(line: str, expected: list[tuple[str, str, bool]]) -> None:
    assert touched(line) == expected


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """safe/ and prize/ are folders; links in safe/ lead into prize/."""
    root = tmp_path.resolve()
    (root / "safe").mkdir()
    (root / "prize" / "deep").mkdir(parents=True)
    (root / "prize" / "file").write_text("x")
    (root / "safe" / "file").write_text("x")
    (root / "safe" / "to_dir").symlink_to("../prize")
    (root / "safe" / "to_file").symlink_to(root / "prize" / "file")
    (root / "safe" / "dangling").symlink_to("../prize/new")
    (root / "safe" / "loop").symlink_to("loop")
    return root


def at(tree: Path, line: str) -> list[tuple[str, str, bool]]:
    found = touched(line, cwd=str(tree / "safe"), view=RealFiles())
    return [(action, str(Path(path).relative_to(tree)), recursive) for action, path, recursive in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rm to_file", [(D, "safe/to_file", False)]),
        ("rm -rf to_dir", [(D, "safe/to_dir", True)]),
        ("rm -rf to_dir/", [(D, "prize", True)]),
        ("rm -rf to_dir/.", [(D, "prize", True)]),
        ("rm to_dir/file", [(D, "prize/file", False)]),
        ("rm -r to_dir/../safe", [(D, "safe", True)]),
        ("rm -r to_dir/../prize/deep", [(D, "prize/deep", True)]),
        ("tee to_file", [(W, "prize/file", False)]),
        ("tee dangling", [(W, "prize/new", False)]),
        ("tee loop", [(W, "safe/loop", False)]),
        ("dd of=to_dir/x", [(W, "prize/x", False)]),
        ("cp file to_dir", [(R, "safe/file", False), (W, "prize/file", False)]),
        ("cp file dangling", [(R, "safe/file", False), (W, "prize/new", False)]),
        ("cp file to_file", [(R, "safe/file", False), (W, "prize/file", False)]),
        (
            "cp --remove-destination file to_file",
            [(R, "safe/file", False), (W, "prize/file", False), (W, "safe/to_file", False)],
        ),
        ("cp to_file x", [(R, "prize/file", False), (W, "safe/x", False)]),
        ("mv file to_dir", [(R, "safe/file", False), (D, "safe/file", False), (W, "prize/file", False)]),
        ("mv file to_file", [(R, "safe/file", False), (D, "safe/file", False), (W, "safe/to_file", False)]),
        ("mv -T file to_dir", [(R, "safe/file", False), (D, "safe/file", False), (W, "safe/to_dir", False)]),
        ("mv ../prize x", [(R, "prize", True), (D, "prize", True), (W, "safe/x", True)]),
        ("ln -sf x to_dir", [(R, "prize/x", True), (W, "prize/x", False)]),
        ("ln -sfn x to_dir", [(R, "safe/x", True), (W, "safe/to_dir", False)]),
        ("chmod 600 to_file", [(W, "prize/file", False)]),
        ("chown -h me to_file", [(W, "prize/file", False), (W, "safe/to_file", False)]),
        ("shred -u to_file", [(W, "prize/file", False), (D, "safe/to_file", False)]),
    ],
)
def test_links_are_seen_as_the_kernel_sees_them(
    tree: Path, line: str, expected: list[tuple[str, str, bool]]
) -> None:
    assert at(tree, line) == expected


def snapshot(tree: Path) -> dict[str, str]:
    """Every path below `tree`, with what it is and holds."""
    return {
        str(path): f"link {os.readlink(path)}"
        if path.is_symlink()
        else "dir"
        if path.is_dir()
        else path.read_text()
        for path in tree.rglob("*")
    }


@pytest.mark.parametrize(
    "line",
    [
        "rm to_file dangling",
        "rm -rf to_dir/",
        "rm -rf to_dir",
        "rm -r to_dir/../prize/deep file",
        "rmdir -p to_dir/deep",
        "unlink to_dir/file",
        "mv file to_dir",
        "mv file to_file",
        "mv to_dir other",
        "mv ../prize here",
        "mv -t to_dir file to_file",
        "mv -T file to_file",
        "cp file to_dir/new",
        "cp file to_file",
        "cp -r ../prize copy",
        "cp -r .. to_dir/deep",
        "cp -r . to_dir/deep",
        "cp --remove-destination file to_file",
        "cp --parents to_dir/file to_dir/deep",
        "cp -t to_dir/deep file",
        "cp -b file to_dir",
        "cp --backup -S .x file to_file",
        "mv -b file to_dir",
        "ln -sbT file to_dir",
        "ln file to_dir",
        "ln -s file to_dir",
        "ln -sfn file to_dir",
        "ln -s to_dir/file",
        "dd if=file of=dangling status=none",
        "tee to_file dangling",
        "truncate -s 5 to_file dangling",
        "shred -u to_file",
        "find to_dir/ -delete",
        "find to_dir -delete",
        "find . -name file -delete",
        "find -H to_dir -delete",
        "find . -name file -fprint to_dir/found",
    ],
)
def test_everything_that_the_real_program_changes_was_foreseen(tree: Path, line: str) -> None:
    folder = tree / "safe"
    facets = command_facets(shlex.split(line), cwd=str(folder), view=RealFiles())[1:]
    foreseen = [(facet.path, facet.recursive) for facet in facets if facet.action.value != R]
    before = snapshot(tree)
    subprocess.run(shlex.split(line), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    after = snapshot(tree)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    for path in changed:
        assert any(path == seen or (deep and path.startswith(seen + "/")) for seen, deep in foreseen), path


def test_a_working_directory_behind_a_link(tree: Path) -> None:
    found = touched("rm ../file", cwd=str(tree / "safe" / "to_dir" / "deep"), view=RealFiles())
    assert found == [(D, str(tree / "prize" / "file"), False)]


@pytest.mark.parametrize(
    "operand",
    [
        "a" * 5000,
        "x\0y",
        "\ud800",
        "/proc/self/fd/7/x",
        "/dev/fd/3",
        "/proc/thread-self/fd/3/x",
        "/proc/self/task/1/cwd",
    ],
)
def test_an_operand_that_cannot_be_looked_up_makes_the_command_opaque(operand: str) -> None:
    facets = command_facets(["rm", "-rf", operand, "/home/x"], cwd="/w", view=RealFiles())
    assert facets[0].opaque
    assert facets[-1].path == "/home/x"


def test_the_process_to_be_has_its_own_proc_self() -> None:
    found = touched("tee /proc/self/cwd/a /proc/self/root/b /dev/stderr", cwd="/tmp", view=RealFiles())
    assert found == [(W, "/tmp/a", False), (W, "/b", False), (W, "/proc/self/fd/2", False)]


def test_too_many_operands_are_opaque() -> None:
    facets = command_facets(["rm", *map(str, range(10_000))], cwd="/w", view=NoFiles())
    assert len(facets) == 1 and facets[0].opaque


def test_names_that_multiply_are_opaque() -> None:
    deep = "/".join("a" * 2000)
    for argv in (["rmdir", "-p", *[deep] * 20], ["cp", "--parents", *[deep] * 20, "d"]):
        facets = command_facets(argv, cwd="/w", view=NoFiles())
        assert len(facets) == 1 and facets[0].opaque
    many = ["mv", *["-tx"] * 3000, *map(str, range(6000))]
    assert len(command_facets(many, cwd="/w", view=NoFiles())) < 100_000


def test_a_chain_of_links_ends(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for number in range(200):
        (folder / str(number)).symlink_to(str(number + 1))
    assert RealFiles().realpath(f"{folder}/0").startswith(str(folder))

"""The real programs, in a tree full of links: everything that they change was foreseen."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit.effects import snapshot
from vaultroom.events import Action
from vaultroom.shell import RealFiles, command_facets

PREPARE = r"""
mkdir -p safe prize/deep
echo one > safe/file; echo two > safe/other; echo prize > prize/file
ln -s ../prize safe/to_dir; ln -s ../prize/file safe/to_file; ln -s ../prize/new safe/dangling
cd safe
mkdir sub pack; echo x > sub/x; echo y > pack/file; echo z > pack/new
tar cf a.tar -C pack file new; (cd pack && zip -qr ../b.zip file new); gzip -k other
printf -- '--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+changed\n' > p.diff
git init -q -b main repo; cd repo
git config user.email a@b; git config user.name x
mkdir src; echo 1 > a; echo 1 > src/b; ln -s ../../prize/file link; git add .; git commit -qm 1
git branch old; git tag v1; echo 2 > a; echo 2 > src/b
git diff src/b > ../q.diff; git stash -q; echo 3 > a; echo new > untracked
"""

LINES = r"""
tar xf a.tar
tar xf a.tar -C to_dir
tar xfC a.tar to_dir
tar -xf a.tar --one-top-level=to_dir/new
tar cf to_file sub
tar cf dangling sub
tar rf a.tar sub
tar cf x.tar --remove-files sub file
tar cf x.tar -C to_dir --remove-files deep -C ../safe/sub x
tar xf a.tar --unlink-first -C sub
tar cf x.tar --index-file=to_file -v sub
zip -q to_file.zip file
zip -q b.zip file
zip -qm new.zip file sub
zip -qrm new sub
zip -qd b.zip file
zip -q b.zip other -O out.zip
unzip -qo b.zip
unzip -qo b.zip -d to_dir
unzip -qo b -d sub
gzip file
gzip -f to_file
gzip -k other -S .x
gzip -rk sub
gunzip -f other.gz
gzip -df other.gz
bzip2 file
xz -k file
xz file other
zstd -q file -o to_dir/z
zstd -q --rm file
sed -i s/one/two/ file
sed -i.bak s/prize/two/ to_file
sed -i s/prize/two/ to_dir/file
sed --follow-symlinks -i s/prize/two/ to_file
sed -n w\ dangling file
sed -ne s/one/x/wto_file file
sed -isub/*.y -e s/one/x/ file
awk {print>"dangling"} file
sort -o to_file other file
sort other -odangling
uniq file dangling
xxd file to_dir/x
install file to_dir
install -D file a/b/c
install file to_file
install -b file to_file
install -t to_dir file other
install -d a/b to_dir/c
mkdir -p a/b/c to_dir/q/r
mkdir -m 700 new
touch new dangling to_file
touch -r file to_dir/t
patch -p1 -i p.diff
patch -s file p.diff
patch -b -z .o file p.diff
patch -o sub/out file p.diff
split -b1 file to_dir/part
csplit -sf to_dir/c file 1
truncate -s 0 to_file
tee dangling to_dir/t
dd if=file of=to_file status=none
cp -r sub to_dir
mv sub to_dir
ln -sf file to_dir
mkfifo to_dir/pipe
link file to_dir/hard
git -C repo reset -q --hard
git -C repo reset -q --hard old
git -C repo checkout -q .
git -C repo checkout -q -- a
git -C repo checkout -qf old
git -C repo restore .
git -C repo restore -s old a src
git -C repo clean -fdq
git -C repo rm -qf a link
git -C repo rm -rq src
git -C repo mv src/b c
git -C repo mv src d
git -C repo worktree add -q ../tree old
git -C repo config a.b c
git -C repo config -f ../to_file a.b c
git -C repo diff --output=../to_file
git -C repo archive -o ../dangling HEAD
git -C repo format-patch -q -o ../to_dir -1
git -C repo bundle create -q ../to_dir/b HEAD
git -C repo apply ../q.diff
git -C repo checkout-index -qfa
git -C repo checkout-index -a --prefix=../to_dir/
git clone -q repo to_dir/clone
git init -q to_dir/fresh
git --git-dir=repo/.git --work-tree=to_dir reset -q --hard
git --git-dir=repo/.git --work-tree=to_dir checkout -q -f
""".strip().splitlines()

OWN_FILES = "/.git/"
"""git's bookkeeping (index, logs) changes with every command and is not foreseen for each."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not all(map(shutil.which, ("bash", "git", "zip", "gzip"))):
        pytest.skip("expected bash, git, zip and gzip on this machine")
    folder = tmp_path_factory.mktemp("programs") / "template"
    folder.mkdir()
    subprocess.run(["bash", "-euc", PREPARE], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("line", LINES)
def test_everything_changed_was_foreseen(template: Path, tmp_path: Path, line: str) -> None:
    argv = [word.replace("\0", " ") for word in line.replace(r"\ ", "\0").split()]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"expected {argv[0]} on this machine")
    tree = tmp_path.resolve() / "tree"
    shutil.copytree(template, tree, symlinks=True)
    folder = tree / "safe"
    facets = command_facets(argv, cwd=str(folder), view=RealFiles(), home="/nowhere")[1:]
    foreseen = [(facet.path, facet.recursive) for facet in facets if facet.action is not Action.FS_READ]
    before = snapshot(tree)
    subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=20,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    after = snapshot(tree)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed, "expected the program to change something"
    for path in changed:
        if argv[0] == "git" and OWN_FILES in f"{path}/":
            continue
        assert any(
            path == seen or (deep and path.startswith(seen.rstrip("/") + "/")) for seen, deep in foreseen
        ), f"{path} was not foreseen, only {foreseen}"

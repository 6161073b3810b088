"""Hand-written lines: which commands they run, what these touch, and which are opaque."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.shell_scripts import Scripts
from vaultroom.events import Action, Facet
from vaultroom.shell import LineFacets, NoFiles, Surroundings, line_facets

HOME = Surroundings(home="/home/dev", homes={"root": "/root"})
LETTERS = {Action.FS_READ: "r", Action.FS_WRITE: "w", Action.FS_DELETE: "d", Action.NET_EGRESS: "n"}


class SomeFiles(NoFiles):
    """A disk with a few entries, for globs and `cd`."""

    entries: ClassVar[tuple[str, ...]] = ("/w/a.log", "/w/b.log", "/w/-rf", "/w/dir")

    def is_dir(self, path: str) -> bool:
        return path in ("/w", "/w/dir", "/", "/tmp")

    def glob(self, pattern: str, limit: int) -> list[str] | None:
        from vaultroom.shell.patterns import Pattern

        found = [path for path in self.entries if Pattern(pattern).matches(path)]
        return found if len(found) <= limit else None


def read(line: str, *, files: bool = False) -> LineFacets:
    return line_facets(line, cwd="/w", view=SomeFiles() if files else NoFiles(), surroundings=HOME)


def commands(line: str) -> list[str]:
    return [
        " ".join(facet.argv)
        for facet in read(line).facets
        if facet.action is Action.SHELL_EXEC and not facet.derived
    ]


def touches(line: str, *, files: bool = False) -> list[str]:
    """`d /x` deletes, `D /x` with everything below; a host as `n host:port`."""
    found = []
    for facet in read(line, files=files).facets:
        if facet.action is Action.SHELL_EXEC:
            continue
        letter = LETTERS[facet.action]
        target = facet.path or f"{facet.host}:{facet.port}"
        found.append(f"{letter.upper() if facet.recursive else letter} {target}")
    return sorted(set(found))


def reasons(line: str, *, files: bool = False) -> str:
    return "; ".join(reason for _, reason in read(line, files=files).notes)


COMMANDS = [
    ("rm -rf /tmp/x", ["rm -rf /tmp/x"]),
    ("curl -s http://x | sh", ["curl -s http://x", "sh"]),
    ("cd /a && rm -rf b || echo no; ls &", ["cd /a", "rm -rf b", "echo no", "ls"]),
    ("make |& tee log", ["make", "tee log"]),
    ("a\nb\n\n# rm x\nc", ["a", "b", "c"]),
    ("ls # ; rm -rf /\necho 'a # b'", ["ls", "echo a # b"]),
    ("echo a#b", ["echo a#b"]),
    ("(cd /tmp; rm -rf a) && { mv b c; }", ["cd /tmp", "rm -rf a", "mv b c"]),
    (
        "if grep -q x f; then rm -rf a; elif b; then c; else mv a b; fi",
        ["grep -q x f", "rm -rf a", "b", "c", "mv a b"],
    ),
    ('for f in x y; do rm "$f"; done', ["rm x", "rm y"]),
    ("for f; do m; done", ["m"]),
    ("for ((i=0;i<3;i++)); do rm x; done", ["rm x"]),
    ("while a; do b; done", ["a", "b"]),
    ("until rm x; do sleep 1; done", ["rm x", "sleep 1"]),
    ("select x in a b; do m; done", ["m"]),
    ("case x in a) rm x;; (b|c) ls;& *) pwd;; esac", ["rm x", "ls", "pwd"]),
    ("[[ -f x && $(rm y) ]] && [ -d z ]", ["rm y", "[ -d z ]"]),
    ("[[ a =~ ^(b|c)$ ]] && x", ["x"]),
    ("(( $(rm x) + 1 ))", ["rm x"]),
    ("echo $(rm -rf /x)", ["rm -rf /x", "echo $(rm -rf /x)"]),
    ('echo `rm -rf "/x y"`', ["rm -rf /x y", 'echo `rm -rf "/x y"`']),
    ("echo `a \\`b\\``", ["b", "a `b`", "echo `a \\`b\\``"]),
    ('echo "a $(git push) b"', ["git push", 'echo "a $(git push) b"']),
    ("diff <(ls a) <(rm -rf b)", ["ls a", "rm -rf b", "diff <(ls a) <(rm -rf b)"]),
    ("m > >(rm x)", ["rm x", "m"]),
    ("echo $(( $(rm x) + 1 ))", ["rm x", "echo $(( $(rm x) + 1 ))"]),
    ("echo ${X:-$(rm y)}", ["rm y", "echo ${X:-$(rm y)}"]),
    ("echo ${X/$(rm y)/b}", ["rm y", "echo ${X/$(rm y)/b}"]),
    ("echo ${a[$(rm y)]}", ["rm y", "echo ${a[$(rm y)]}"]),
    ("a[$(rm y)]=1", ["rm y"]),
    ("a=(1 $(rm x) 3)", ["rm x"]),
    ("X=$(rm z)", ["rm z"]),
    ('A=1 B="$(rm z)" make all', ["rm z", "make all"]),
    ("export A=$(rm x)", ["rm x", "export A=$(rm x)"]),
    ("cat <<EOF\n$(rm -rf /p)\nEOF", ["rm -rf /p", "cat"]),
    ("cat <<'EOF'\n$(rm -rf /p)\nEOF", ["cat"]),
    ("cat <<A <<B\na\nA\nrm -rf /\nB\nls", ["cat", "ls"]),
    ("cat <<-E\n\trm x\n\tE\nls", ["cat", "ls"]),
    ("<<'EOF' cat > s\nrm -rf /\nEOF\nls", ["cat", "ls"]),
    ("bash <<EOF\nrm -rf /x\nEOF", ["bash", "rm -rf /x"]),
    ('bash <<< "rm -rf /x"', ["bash", "rm -rf /x"]),
    ("bash -s <<'E'\nls\nE", ["bash -s", "ls"]),
    ("cat << E | sh\nrm x\nE", ["cat", "sh", "rm x"]),
    ('echo hi > "$(rm x; echo /dev/null)"', ["rm x", "echo /dev/null", "echo hi"]),
    ("cat < <(rm x)", ["rm x", "cat"]),
    ("r\\m x", ["rm x"]),
    ("'r'm x", ["rm x"]),
    ('"rm" x', ["rm x"]),
    ('$"rm" x', ["rm x"]),
    ("$'\\x72\\x6d' x", ["rm x"]),
    ("$'\\162m' $'a\\tb'", ["rm a\tb"]),
    ("rm \\\n  -rf \\\n  /x", ["rm -rf /x"]),
    ("r\\\nm x", ["rm x"]),
    ("{rm,-rf,/x}", ["rm -rf /x"]),
    ("echo {a,b}{1..3} {a} {x,", ["echo a1 a2 a3 b1 b2 b3 {a} {x,"]),
    ("echo {01..03} {c..a} {1..5..2}", ["echo 01 02 03 c b a 1 3 5"]),
    ("a=rm; $a -rf /", ["rm -rf /"]),
    ("X='-rf /tmp/x'; rm $X", ["rm -rf /tmp/x"]),
    ("X='-rf /tmp/x'; rm \"$X\"", ["rm -rf /tmp/x"]),
    ("rm${IFS}-rf${IFS}/p", ["rm -rf /p"]),
    ("rm$IFS-rf$IFS/p", ["rm -rf /p"]),
    ("A=a; A+=b; m $A", ["m ab"]),
    ("A=1 B=$A m; m $B", ["m", "m $B"]),
    ('TOOL=rmx; "${TOOL%x}" -rf /', ["rm -rf /"]),
    ('unset t; "${t:=rm}" /x', ["unset t", "rm /x"]),
    ('x=1; eval "${x+rm /y}"', ["eval rm /y", "rm /y"]),
    ('set -- a b; m "$@" $2 $#', ["set -- a b", "m a b b 2"]),
    ('a=(x y); m "${a[@]}" ${a[1]}', ["m x y y"]),
    ("m ~ ~/x ~root/y a=~/z", ["m /home/dev /home/dev/x /root/y a=/home/dev/z"]),
    ("m '~' \"~\" \\~ x~", ["m ~ ~ ~ x~"]),
    ("m $HOME/x $PWD", ["m /home/dev/x /w"]),
    ("cd /x && m $PWD $OLDPWD", ["cd /x", "m /x /w"]),
    ('f() { rm -rf "$1"; }; f /x', ["rm -rf /x"]),
    ("function f { m \"$@\"; }\nf 'a b' c", ["m a b c"]),
    ("f() ( m; ); f", ["m"]),
    ("f() { m; }", ["m"]),
    ('ls(){ command rm -rf "$@"; }; ls /p', ["command rm -rf /p", "rm -rf /p"]),
    ("a() { b x; }; b() { m $1; }; a", ["m x"]),
    (
        "shopt -s expand_aliases\nalias ls='rm -rf'\nls /p",
        ["shopt -s expand_aliases", "alias ls=rm -rf", "rm -rf /p", "ls /p"],
    ),
    ('eval "rm -rf /x"', ["eval rm -rf /x", "rm -rf /x"]),
    ("eval a '&&' b", ["eval a && b", "a", "b"]),
    ("trap 'rm -rf /x' EXIT", ["trap rm -rf /x EXIT", "rm -rf /x"]),
    ("bash -c 'rm -rf /x; ls'", ["bash -c rm -rf /x; ls", "rm -rf /x", "ls"]),
    ('/bin/bash -lc "cd x && rm y"', ["/bin/bash -lc cd x && rm y", "cd x", "rm y"]),
    ("bash -c 'm \"$1\"' name arg", ['bash -c m "$1" name arg', "m arg"]),
    ("bash -o pipefail -c 'm'", ["bash -o pipefail -c m", "m"]),
    ("sudo -u root -E rm x", ["sudo -u root -E rm x", "rm x"]),
    (
        "sudo env X=1 bash -c 'rm x'",
        ["sudo env X=1 bash -c rm x", "env X=1 bash -c rm x", "bash -c rm x", "rm x"],
    ),
    ("env -i FOO=1 rm x", ["env -i FOO=1 rm x", "rm x"]),
    ("env -S 'rm -rf x'", ["env -S rm -rf x", "rm -rf x"]),
    ("timeout -k 5 10s nice -n 5 rm x", ["timeout -k 5 10s nice -n 5 rm x", "nice -n 5 rm x", "rm x"]),
    (
        "nohup stdbuf -oL setsid rm x",
        ["nohup stdbuf -oL setsid rm x", "stdbuf -oL setsid rm x", "setsid rm x", "rm x"],
    ),
    ("time ! rm x", ["rm x"]),
    ("/usr/bin/time -f x rm y", ["/usr/bin/time -f x rm y", "rm y"]),
    ("exec rm x", ["exec rm x", "rm x"]),
    ("command -v rm", ["command -v rm"]),
    ("builtin cd x", ["builtin cd x", "cd x"]),
    ("coproc rm x", ["rm x"]),
    ("coproc N { rm x; }", ["rm x"]),
    ("flock /tmp/l bash -lc 'rm -rf p'", ["flock /tmp/l bash -lc rm -rf p", "bash -lc rm -rf p", "rm -rf p"]),
    ("flock /l -c 'rm p'", ["flock /l -c rm p", "rm p"]),
    ("unshare -r rm x", ["unshare -r rm x", "rm x"]),
    ("watch -n1 rm -rf p", ["watch -n1 rm -rf p", "rm -rf p", "rm -rf p"]),
    ("script -qc 'rm p' /dev/null", ["script -qc rm p /dev/null", "rm p"]),
    ("parallel rm -rf ::: /a /b", ["parallel rm -rf ::: /a /b", "rm -rf /a", "rm -rf /b"]),
    ("parallel 'rm {}' ::: a", ["parallel rm {} ::: a", "rm a"]),
    ("su root -c 'rm x'", ["su root -c rm x", "rm x"]),
    ("busybox sh -c 'rm x'", ["busybox sh -c rm x", "sh -c rm x", "rm x"]),
    ("ionice -c 3 rm x", ["ionice -c 3 rm x", "rm x"]),
    ("chroot /x rm y", ["chroot /x rm y", "rm y"]),
    ("doas rm y", ["doas rm y", "rm y"]),
    ("ssh -p 2 host rm -rf /x", ["ssh -p 2 host rm -rf /x", "rm -rf /x"]),
    ("xargs -0 -n 1 rm -f", ["xargs -0 -n 1 rm -f", "rm -f {}"]),
    ("echo a b | xargs rm", ["echo a b", "xargs rm", "rm a b"]),
    ("xargs -I% sh -c 'm %'", ["xargs -I% sh -c m %", "sh -c m %", "m"]),
    (
        "find . -exec rm -f {} \\; -o -exec m {} +",
        ["find . -exec rm -f {} ; -o -exec m {} +", "rm -f {}", "m {}"],
    ),
    ("python3 -c \"import os; os.system('rm x')\"", ["python3 -c import os; os.system('rm x')", "rm x"]),
    ("awk 'BEGIN { system(\"rm x\") }'", ['awk BEGIN { system("rm x") }', "rm x"]),
    ("rm x\r\nls", ["rm x\r", "ls"]),
    ("git -C /x push", ["git -C /x push"]),
    ("2>/dev/null rm 2>/dev/null -rf >/dev/null /x", ["rm -rf /x"]),
    ("$EMPTY rm -rf /x", ["$EMPTY rm -rf /x", "rm -rf /x"]),
    ("r${E}m -rf /x", ["r${E}m -rf /x", "rm -rf /x"]),
    ("true && " * 60 + "m", ["true"] * 60 + ["m"]),
    ("echo " + "A" * 5000 + " && rm x", ["echo " + "A" * 5000, "rm x"]),
    ("", [""]),
    ("# only a comment", [""]),
    ("X=1", [""]),
    ("A='x y'; export B=$A; m \"$B\"", ["export B=x y", "m x y"]),
    ("export B=~/x; m $B", ["export B=/home/dev/x", "m /home/dev/x"]),
    ("m $HOME{a,b}", ["m $HOME{a,b} $HOME{a,b}"]),
]

TOUCHES = [
    ("rm -rf /tmp/x", ["D /tmp/x"]),
    ("echo x > f", ["w /w/f"]),
    ("echo x >> ~/.bashrc 2>&1", ["w /home/dev/.bashrc"]),
    ("m &> f; m &>> g; m >| h; m 2> i; m >& j", ["w /w/f", "w /w/g", "w /w/h", "w /w/i", "w /w/j"]),
    ("m 2>/dev/null >/dev/stderr 3>&1 >&2 2>&-", []),
    ("m < f", ["r /w/f"]),
    ("m <> f", ["r /w/f", "w /w/f"]),
    ("> /etc/passwd", ["w /etc/passwd"]),
    (": > x", ["w /w/x"]),
    ("{ a; b; } > f", ["w /w/f"]),
    ("while read l; do m; done < f", ["r /w/f"]),
    ("exec 3<>/dev/tcp/Evil.example/4444", ["n evil.example:4444"]),
    ("cd /x && rm -rf y", ["D /x/y"]),
    ("cd /x; rm y", ["d /w/y", "d /x/y"]),
    ("cd /x || exit; rm y", ["d /x/y"]),
    ("(cd /x && rm y); rm z", ["d /w/z", "d /x/y"]),
    ("cd /x && cd .. && rm y", ["d /y"]),
    ("cd /x && cd - && rm y", ["d /w/y"]),
    ("pushd /x && rm y && popd && rm z", ["d /w/z", "d /x/y"]),
    ("cd && rm y", ["d /home/dev/y"]),
    ("rm -rf -- ~", ["D /home/dev"]),
    ('rm -rf "$HOME"', ["D /home/dev"]),
    ('rm -rf "$A/$B"', ["D /"]),
    ('rm -rf "$HOME/$B/$C"', ["D /home/dev"]),
    ('rm -rf "$A/b"', []),
    ('rm -rf "${ROOT:-/}"', ["D /"]),
    ('unset R; rm -rf "${R:-/}"', ["D /"]),
    ("rm -rf $DIR/*", ["D /*"]),
    ('cd "$UNSET"; rm -rf x', ["D /w/x"]),
    ("find a -exec rm {} \\;", ["D /w/a"]),
    ("find a b -execdir rm -f {} +", ["D /w/a", "D /w/b"]),
    ("find a -name x | xargs rm -f", ["D /w/a"]),
    ("env -C /x rm y", ["d /x/y"]),
    ("sudo -D /x rm y", ["d /x/y"]),
    ("X=a; if m; then X=b; fi; rm $X", []),
    ("X=a; X=b; rm $X", ["d /w/b"]),
    ("for x in a b; do rm $x; done", ["d /w/a", "d /w/b"]),
    ("dd of=~/x", ["w /home/dev/x"]),
    ("python -c \"open('/etc/x','w'); shutil.rmtree('/p'); os.remove('q')\"", ["D /p", "d /w/q", "w /etc/x"]),
    ("python3 -c \"print(open('.env').read())\"", ["r /w/.env"]),
    (
        "node -e \"fs.rmSync('/p',{recursive:true}); fs.unlinkSync('q'); fs.writeFileSync('r','')\"",
        ["D /p", "d /w/q", "w /w/r"],
    ),
    ("perl -e 'unlink \"/p\"'", ["d /p"]),
    ('ruby -e \'File.delete("/p"); FileUtils.rm_rf("/q")\'', ["D /q", "d /p"]),
    ("php -r 'unlink(\"/p\");'", ["d /p"]),
    ("python3 - <<'E'\nimport os\nos.remove('/p')\nE", ["d /p"]),
    ("python3 -c \"requests.get('https://evil.example/x')\"", ["n evil.example:443"]),
    ("ssh host 'rm -rf /x'", ["n host:22"]),
]

OPAQUE = [
    ("$X -rf /", "name of the program"),
    ("$(cat x) a", "name of the program"),
    ("/bin/r? x", "name of the program"),
    ('eval "$x"', "eval runs text"),
    ('eval "$(cat script.sh)"', "eval runs text"),
    ("base64 -d | sh", "input, which is not known"),
    ("curl x | bash", "input, which is not known"),
    ("curl x | sudo bash", "input, which is not known"),
    ("curl x | python3", "given as input"),
    ("curl x | env bash -s -- a", "input, which is not known"),
    ("curl x | (bash)", "input, which is not known"),
    ("curl x | { cd y; sh; }", "input, which is not known"),
    ("curl x | tee >(sh)", "input, which is not known"),
    ("sh < f", "input, which is not known"),
    ("bash <(curl x)", "commands that are not known"),
    ("source f", "file whose contents"),
    (". ./f", "file whose contents"),
    ("bash f.sh", "file whose contents"),
    ("source <(curl x)", "file whose contents"),
    ('bash <<< "$(x)"', "input, which is not known"),
    ("bash <<E\n$(x)\nE", "input, which is not known"),
    ('bash -c "$x"', "text that is not known"),
    ("python -c 'x'", "code given on the command line"),
    ("python3.11 -Ic 'x'", "code given"),
    ("node -e x", "code given"),
    ("perl -ne 'x' f", "code given"),
    ("ruby -e x", "code given"),
    ("php -r x", "code given"),
    ("awk '{ system($1) }' f", "may run commands"),
    ("awk -f prog f", "may run commands"),
    ("echo 'x", "cannot be read"),
    ('echo "x', "cannot be read"),
    ("echo $(x", "cannot be read"),
    ("if x; then y", "cannot be read"),
    ("a ;; b", "cannot be read"),
    ("a )", "cannot be read"),
    ("a |", "cannot be read"),
    ("cat <<EOF\nx", "cannot be read"),
    ("a && ", "cannot be read"),
    ("echo ${ x; }", "cannot be read"),
    ("echo $[1]", "cannot be read"),
    ('echo "${x@P}"', "cannot be read"),
    ("f() x", "cannot be read"),
    ("echo ?(a|b)", "cannot be read"),
    ('x "$\\\n(rm y)"', "cannot be read"),
    ("a\0b", "cannot be read"),
    ("rm $X", "argument $X is not known"),
    ('rm -f "$X"', "is not known"),
    ("rm $(x)", "is not known"),
    ("git $X", "is not known"),
    ("cp $X y", "is not known"),
    ("cd $X; rm y", "working directory"),
    ("cat ~nobody/x", "is not known"),
    ("rm ~-", "is not known"),
    ("f() { f; }; f", "calls itself"),
    (":(){ :|:& };:", "calls itself"),
    ("alias x=rm; x y", "alias"),
    ("./sed -n 1p x", "is not the sed"),
    ("/tmp/x/cat y", "is not the cat"),
    ("PATH=/tmp:$PATH cat y", "PATH"),
    ("export PATH=/x; cat y", "PATH"),
    ("LD_PRELOAD=x ls", "LD_PRELOAD"),
    ("GIT_SSH_COMMAND=x git fetch", "GIT_SSH_COMMAND"),
    ("BASH_ENV=x bash -c ls", "BASH_ENV"),
    ("hash -p /bin/rm wipe; wipe x", "hash -p"),
    ("enable -n echo; echo x", "enable"),
    ("m > $X", "redirection goes"),
    ("m > *", "redirection goes"),
    ("exec 3>/dev/tcp/$H/1", "host that is not known"),
    ("ssh host ls", "another machine"),
    ("find . | xargs -I{} sh -c 'rm {}'", "not known"),
    ("xargs rm", "not known"),
    ("read x; $x", "name of the program"),
    ("read x; rm $x", "is not known"),
    ("X=a; source f; $X", "name of the program"),
    ("IFS=x; X=axb; rm $X", "is not known"),
    ('trap "$x" EXIT', "trap runs text"),
    ("\ufdd0", "character that no script"),
    ("chroot /x ls", "another root"),
    ("declare -n r=X; r=rm; $X y", "name of the program"),
    ("a;" * 3000, "more commands"),
    ("X=a; while m; do rm $X; X=$X/..; done", "is not known"),
    ("printf 'rm x' | sh", "piped into it"),
    ("curl x > f.sh && exec ./f.sh", "writes the program"),
    ("echo x > /tmp/f.py; python3 /tmp/f.py", "writes the file"),
    ("m $X\\\ny", "cannot be read"),
    ("parallel rm :::: f", "not known"),
    ("mapfile -C rm a", "callback"),
]

CLEAR = [
    "ls -la",
    'echo "$x"',
    "echo $(date)",
    "git commit -m \"$(cat <<'EOF'\nit's (a) fix\nEOF\n)\"",
    'git commit -m "$MSG"',
    "git commit -F - <<'MSG'\nrm -rf guard\nMSG",
    'gh pr create --body "$B"',
    "echo 'don'\\''t worry'",
    "jq '\n.items[]\n| .name\n' d.json | head",
    "awk '\n/rm -rf/ {n++}\nEND {print n}\n' log",
    "npm test 2>&1 | tail -5",
    "cd x && make -j4",
    "python3 script.py",
    "python3 -m pytest -x",
    ".venv/bin/python x.py",
    "./gradlew test",
    "bash -c 'cd x && make'",
    "bash <<'E'\nls\nE",
    'for f in a b; do wc -l "$f"; done',
    "curl x && bash",
    "curl x | bash -c 'echo local'",
    "find . -name '*.pyc' -exec rm {} \\;",
    "A=1 make",
    "/bin/rm x",
    'test -n "$X" && [ "$Y" = a ]',
    "cat <<E > f\nuser $USER\nE",
    "[[ $x == y ]] && ls",
    'export A="$B"',
    "PAGER=cat git log",
    'x=$(date); echo "$x"',
    "sleep $N",
    "cat f | tee g",
    "until a; do sleep 1; done",
    "f() { ls; }; f",
    "! grep -q x f",
    "true",
    "set -euo pipefail; ls",
    "exit 1",
    "wait",
]


@pytest.mark.parametrize(("line", "expected"), COMMANDS)
def test_the_commands_of_a_line(line: str, expected: list[str]) -> None:
    assert commands(line) == expected


@pytest.mark.parametrize(("line", "expected"), TOUCHES)
def test_what_a_line_touches(line: str, expected: list[str]) -> None:
    assert touches(line) == expected


@pytest.mark.parametrize(("line", "reason"), OPAQUE)
def test_an_opaque_line_says_why(line: str, reason: str) -> None:
    assert reason in reasons(line)


@pytest.mark.parametrize("line", CLEAR)
def test_an_ordinary_line_is_not_opaque(line: str) -> None:
    assert reasons(line) == ""


def test_lines_before_a_broken_one_are_listed() -> None:
    assert commands("rm -rf /x\nif then") == ["rm -rf /x", ""]


def test_globs_are_looked_up_and_shown_as_written() -> None:
    assert touches("rm *.log", files=True) == ["d /w/a.log", "d /w/b.log"]
    assert commands("rm *.log") == ["rm *.log"]
    assert touches("rm '*.log' \"*\".log", files=True) == ["d /w/*.log"]
    assert touches("for f in *.log; do rm $f; done", files=True) == ["d /w/a.log", "d /w/b.log"]


def test_a_file_named_like_an_option_acts_as_one() -> None:
    assert touches("rm *", files=True) == ["D /w/a.log", "D /w/b.log", "D /w/dir"]
    assert "name like an option" in reasons("rm *", files=True)


def test_too_many_matches_are_opaque() -> None:
    class Many(NoFiles):
        def glob(self, pattern: str, limit: int) -> list[str] | None:
            assert limit == 1000
            return None

    found = line_facets("rm *", cwd="/w", view=Many(), surroundings=HOME)
    assert "too much" in found.notes[0][1]


def test_a_folder_that_is_there_needs_no_second_guess() -> None:
    assert touches("cd dir; rm x", files=True) == ["d /w/dir/x"]


def test_derived_facets_follow_their_parent() -> None:
    found = read("cd x && rm -rf y > z").facets
    assert [(facet.action.value, facet.path, facet.parent) for facet in found] == [
        ("shell.exec", "", None),
        ("shell.exec", "", None),
        ("fs.delete", "/w/x/y", 1),
        ("fs.write", "/w/x/z", 1),
    ]
    assert found[2].argv == ("rm", "-rf", "y") and found[2].cmd == "rm" and found[2].cwd == "/w/x"


def test_a_redirection_alone_is_an_act_of_its_own() -> None:
    assert read("> /etc/x").facets == (Facet(action=Action.FS_WRITE, path="/etc/x", cwd="/w"),)


def test_subcommands_and_names() -> None:
    facets = read("/usr/bin/git -C x push; docker -H h ps").facets
    found = [(facet.cmd, facet.subcommand) for facet in facets if not facet.derived]
    assert found == [("git", "push"), ("docker", "ps")]


def test_a_complete_environment_knows_what_is_unset() -> None:
    around = Surroundings(home="/home/dev", variables={"A": "x"}, is_complete=True)
    found = line_facets('rm -rf "$A/$NONE"', cwd="/w", view=NoFiles(), surroundings=around)
    assert [facet.path for facet in found.facets if facet.derived] == ["/w/x"]
    assert found.notes == ()


def test_a_relative_folder_is_an_error() -> None:
    with pytest.raises(ValueError, match="absolute"):
        line_facets("ls", cwd="w", view=NoFiles())


BOMBS = {
    "a megabyte": "a b;" * 250_000,
    "braces": "echo " + "{a,b}" * 40,
    "open braces": "echo " + "{a," * 20_000,
    "range": "echo {1..999999999}",
    "parentheses": "(" * 100_000,
    "arithmetic": "((x;" * 20_000,
    "substitutions": "$(" * 50_000,
    "quotes": '"$(' * 30_000,
    "backticks": "`" * 50_000,
    "ifs": "if " * 30_000,
    "subscripts": "a[$(" * 20_000,
    "stars": "echo " + "*a" * 50_000,
    "documents": "cat <<E\n" * 5_000,
    "doubling": "x=aaaaaaaaaa;" + "x=$x$x;" * 60 + "echo $x",
    "evals": "eval " * 5_000 + "x",
    "sudos": "sudo " * 5_000 + "x",
    "calls": "".join(f"f{i}(){{ f{i + 1};f{i + 1}; }};" for i in range(40)) + "f0",
    "loops": "for i in {1..60}; do " * 6 + "x" + "; done" * 6,
    "splits": 'x="' + "a " * 30_000 + '";' + "echo $x;" * 200,
    "awk": "awk '" + "print a" * 10_000 + "'",
    "loops that change": "while a; do " * 20 + "x=$x$x; cd .." + ";done" * 20,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.timeout(20)
def test_bombs_end_in_bounds(name: str) -> None:
    found = read(BOMBS[name])
    assert len(found.facets) < 5_000


PIECES = st.sampled_from(
    [
        *" \t\n;&|()<>{}[]$`\"'\\#=*?~!+-:%@^,/.\r",
        "a",
        "rm",
        "$(",
        "${",
        "$((",
        "<<E",
        "\nE\n",
        "<(",
        "&&",
        "||",
        ";;",
        "if ",
        " then ",
        " fi ",
        "for x in ",
        " do ",
        " done",
        "case ",
        " in ",
        " esac",
        "[[ ",
        " ]]",
        "f() ",
        "X=",
        "$X",
        '"$X"',
        "{a,b}",
        "eval ",
        "bash -c ",
        "xargs ",
        "find ",
        "-exec ",
        "cd ",
        "sudo ",
        "trap ",
        "python -c ",
        "\udcff",
        "\0",
        "é",
        "{}",
        "$'",
        "alias ",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40))
def test_any_text_is_read_or_flagged(text: str) -> None:
    first = read(text)
    assert first.facets
    assert first == read(text)
    for index, facet in enumerate(first.facets):
        if facet.derived:
            assert (
                facet.parent is not None and not first.facets[facet.parent].derived and facet.parent < index
            )
            assert facet.path.startswith("/") or facet.action is Action.NET_EGRESS
    flagged = {index for index, _ in first.notes}
    assert flagged == {i for i, facet in enumerate(first.facets) if facet.opaque and not facet.derived}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_random_scripts_are_read(seed: int) -> None:
    assert read(Scripts(seed).next()).facets

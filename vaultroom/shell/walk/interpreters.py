"""Languages with code on the command line or on standard input: opaque, with the effects that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from vaultroom.events import Action
from vaultroom.shell.effects import Touch
from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.walk.names import without_version
from vaultroom.shell.walk.paths import touches_of_path
from vaultroom.shell.walk.simple import HANDLERS, Call
from vaultroom.shell.walk.walker import Outcome

_MOST_CALLS: Final = 64
_LONGEST_CODE: Final = 32 * 1024


class Interpreter(NamedTuple):
    """`code` are the options whose value is code, `values` other options with a value.

    `letters`: `-c` may stand at the end of a cluster (`-Ec`).
    """

    code: tuple[str, ...]
    values: tuple[str, ...] = ()
    clusters: bool = True
    modes: tuple[str, ...] = ()


_PYTHON: Final = Interpreter(("-c",), ("-W", "-X", "--check-hash-based-pycs"), modes=("-m",))
_NODE: Final = Interpreter(
    ("-e", "--eval", "-p", "--print", "-pe"),
    ("-r", "--require", "--import", "--loader", "-C"),
    clusters=False,
)
INTERPRETERS: Final[Mapping[str, Interpreter]] = {
    "python": _PYTHON,
    "python2": _PYTHON,
    "python3": _PYTHON,
    "pypy": _PYTHON,
    "pypy3": _PYTHON,
    "node": _NODE,
    "nodejs": _NODE,
    "bun": _NODE,
    "deno": Interpreter(("-e", "eval"), clusters=False),
    "perl": Interpreter(("-e", "-E"), ("-I",)),
    "ruby": Interpreter(("-e",), ("-I", "-r", "-C")),
    "php": Interpreter(("-r", "-B", "-R", "-E"), ("-d", "-c")),
    "lua": Interpreter(("-e",), ("-l",)),
    "osascript": Interpreter(("-e",), ("-l",)),
    "Rscript": Interpreter(("-e",)),
    "pwsh": Interpreter(
        ("-c", "-Command", "-command", "-EncodedCommand", "-e", "-ec"), ("-File",), clusters=False
    ),
    "powershell": Interpreter(("-c", "-Command", "-command", "-EncodedCommand", "-e"), clusters=False),
    "tclsh": Interpreter(()),
    "expect": Interpreter(("-c",)),
    "groovy": Interpreter(("-e",)),
    "scala": Interpreter(("-e",)),
    "elixir": Interpreter(("-e", "--eval")),
    "julia": Interpreter(("-e", "--eval", "-E")),
    "guile": Interpreter(("-c",)),
    "emacs": Interpreter(("--eval", "--execute"), clusters=False),
    "sqlite3": Interpreter(("-cmd",), clusters=False),
    "vim": Interpreter(("-c", "+", "--cmd"), clusters=False),
    "vi": Interpreter(("-c", "--cmd"), clusters=False),
    "nvim": Interpreter(("-c", "--cmd"), clusters=False),
    "ex": Interpreter(("-c",), clusters=False),
    "gdb": Interpreter(("-ex", "--eval-command", "-eval-command"), clusters=False),
}
_READS_INPUT: Final = frozenset(INTERPRETERS) - {"vim", "vi", "nvim", "emacs", "gdb", "sqlite3"}

_STRING: Final = r"""(?:'([^'\n]{1,1024})'|"([^"\n]{1,1024})")"""
_CALL: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_.]{0,80}?)\s?\(\s?[rbuf]?" + _STRING)
_OPENED: Final = re.compile(
    r"\b(?:open|Open)\s?\(?\s?(?:my\s+\$?\w+|\w+|\$\w+)?\s?,?\s?" + _STRING + r"(?:\s?,\s?" + _STRING + ")?"
)
_QUALIFIED: Final = re.compile(
    r"\b(?:Path|pathlib\.Path)\s?\(\s?"
    + _STRING
    + r"\s?\)\s?\.\s?(unlink|rmdir|write_text|write_bytes|rename"
    r"|touch|read_text|read_bytes|open)"
)
_BARE: Final = re.compile(r"\b(unlink|rmtree|remove|rmdir|system|exec)\s+" + _STRING)
_SHELL_CALLS: Final = frozenset(
    [
        "system",
        "popen",
        "exec",
        "execSync",
        "spawn",
        "spawnSync",
        "execFileSync",
        "getoutput",
        "getstatusoutput",
        "run",
        "call",
        "check_call",
        "check_output",
        "Popen",
        "shell_exec",
        "passthru",
        "backtick",
        "qx",
    ]
)
_DELETES_TREE: Final = frozenset(
    ["rmtree", "rmSync", "rm", "rm_rf", "rm_r", "remove_tree", "remove_entry", "removeSync"]
)
_DELETES: Final = frozenset(
    [
        "remove",
        "unlink",
        "unlinkSync",
        "rmdir",
        "rmdirSync",
        "removedirs",
        "delete",
        "Remove",
        "RemoveAll",
        "deleteSync",
    ]
)
_WRITES: Final = frozenset(
    [
        "writeFile",
        "writeFileSync",
        "appendFile",
        "appendFileSync",
        "createWriteStream",
        "write_text",
        "file_put_contents",
        "truncate",
        "truncateSync",
        "chmod",
        "chmodSync",
        "chown",
        "mkdir",
        "makedirs",
        "symlink",
        "link",
        "copyFileSync",
    ]
)
_READS: Final = frozenset(
    [
        "readFile",
        "readFileSync",
        "createReadStream",
        "file_get_contents",
        "readlines",
        "read_text",
        "loadtxt",
        "fopen",
        "readfile",
    ]
)
_URL: Final = re.compile(r"\b(?:https?|ftp|wss?)://([A-Za-z0-9.-]{1,253})(?::([0-9]{1,5}))?")


def _interpreter(call: Call) -> Outcome:
    name = call.name if call.name in INTERPRETERS else without_version(call.name)
    table = INTERPRETERS[name]
    codes, has_script = _inline_code(call.fields, table)
    for field in call.fields[1:] if has_script else ():
        if field.known and field.text[:1] != "-" and call.walker.has_written(field.text, call.state.folder):
            call.record.doubt("this line writes the file that it runs")
    for code in codes:
        call.record.doubt(f"{call.name} runs code given on the command line")
        if code.known:
            read_code(call, code.text)
    if not codes and not has_script and call.stdin.is_fed and name in _READS_INPUT:
        call.record.doubt(f"{call.name} runs what it is given as input")
        if call.stdin.text is not None:
            read_code(call, call.stdin.text)
    return call.outcome()


def _inline_code(fields: list[Field], table: Interpreter) -> tuple[list[Field], bool]:
    """Code among the arguments, and whether there is a script (or a module) to run instead."""
    codes: list[Field] = []
    index = 1
    while index < len(fields):
        word = fields[index].text
        name, equals, value = word.partition("=")
        if word in table.code:
            if index + 1 < len(fields):
                codes.append(fields[index + 1])
            index += 2
        elif equals and name in table.code:
            codes.append(fields[index]._replace(text=value))
            index += 1
        elif word in table.modes:
            return codes, True
        elif word in table.values:
            index += 2
        elif table.clusters and (found := _clustered(word, table)) is not None:
            rest = word[found:]
            if rest:
                codes.append(fields[index]._replace(text=rest))
                index += 1
            else:
                codes.extend(fields[index + 1 : index + 2])
                index += 2
        elif word == "-" or not word.startswith("-"):
            return codes, word not in ("-", "/dev/stdin")
        else:
            index += 1
    return codes, False


def _clustered(word: str, table: Interpreter) -> int | None:
    """Where the code begins in `-nEe…`; None if the word has no code letter."""
    if len(word) < 2 or word[0] != "-" or word[1] == "-":
        return None
    letters = {option[1] for option in table.code if len(option) == 2}
    takes_rest = {option[1] for option in table.values if len(option) == 2} | {"i"}
    for position, char in enumerate(word[1:], start=1):
        if char in letters:
            return position + 1
        if char in takes_rest and char != "i":
            return None
        if not char.isalnum():
            return None
    return None


# --- what can be read in code


def read_code(call: Call, code: str) -> None:
    """Add the touches that literals given to well-known functions tell of."""
    code = code[:_LONGEST_CODE]
    folder = call.state.folder
    for action, path, recursive in _file_calls(code):
        if "\0" not in path and HOLE not in path and "://" not in path:
            touches = touches_of_path(call.walker.view, folder, action, path, recursive=recursive)
            call.record.touches.extend(touches)
    for number, match in enumerate(_URL.finditer(code)):
        if number >= _MOST_CALLS:
            break
        port = int(match[2] or (443 if match[0].startswith(("https", "wss")) else 80))
        call.record.touches.append(
            Touch(Action.NET_EGRESS, host=match[1].lower().rstrip("."), port=port if port < 65536 else 0)
        )
    for text in _shell_calls(code):
        call.script(text, call.state.fork())


def _file_calls(code: str) -> Iterator[tuple[Action, str, bool]]:
    for number, match in enumerate(_CALL.finditer(code)):
        if number >= _MOST_CALLS:
            return
        function = match[1].rpartition(".")[2]
        path = match[2] or match[3]
        if function in _DELETES_TREE:
            yield Action.FS_DELETE, path, True
        elif function in _DELETES:
            yield Action.FS_DELETE, path, function == "RemoveAll"
        elif function in _WRITES:
            yield Action.FS_WRITE, path, False
        elif function in _READS:
            yield Action.FS_READ, path, False
    for number, match in enumerate(_OPENED.finditer(code)):
        if number >= _MOST_CALLS:
            return
        path, mode = match[1] or match[2], match[3] or match[4] or ""
        if path[:1] in "<>+" and mode:
            path, mode = mode, path
        action = Action.FS_WRITE if set(mode) & set("wax+>") else Action.FS_READ
        if path.strip("<>+ ") != "":
            yield action, path.lstrip("<> "), False
    for match in _QUALIFIED.finditer(code):
        path, method = match[1] or match[2], match[3]
        if method in ("unlink", "rmdir", "rename"):
            yield Action.FS_DELETE, path, False
        elif method.startswith("read"):
            yield Action.FS_READ, path, False
        else:
            yield Action.FS_WRITE, path, False
    for match in _BARE.finditer(code):
        if match[1] in ("unlink", "remove", "rmdir", "rmtree"):
            yield Action.FS_DELETE, match[2] or match[3], match[1] == "rmtree"


def _shell_calls(code: str) -> Iterator[str]:
    """Literal command lines that the code hands to a shell."""
    found = 0
    for match in (*_CALL.finditer(code), *_BARE.finditer(code)):
        function = match[1].rpartition(".")[2]
        if function in _SHELL_CALLS and found < 8:
            found += 1
            yield match[2] or match[3]


# --- awk and sed: languages that are programs of every day

_AWK_ACTS: Final = re.compile(
    r"system\s*\(|\|\s*getline|getline\s*<|\|&|print[^|>;}\n]{0,200}[|>]|@load|@include"
)
_AWK_SYSTEM: Final = re.compile(r"system\s*\(\s*\"([^\"\n]{1,1024})\"")
_AWK_FILE: Final = re.compile(r">>?\s*\"([^\"\n]{1,1024})\"")


def _awk(call: Call) -> Outcome:
    program = _awk_program(call.fields)
    if program is None:
        return call.outcome()
    if program.known and not _AWK_ACTS.search(program.text):
        return call.outcome()
    call.record.doubt(f"{call.name} runs a program that may run commands or write files")
    if program.known:
        for match in list(_AWK_SYSTEM.finditer(program.text))[:8]:
            call.script(match[1], call.state.fork())
        for match in list(_AWK_FILE.finditer(program.text))[:8]:
            call.record.touches.extend(
                touches_of_path(call.walker.view, call.state.folder, Action.FS_WRITE, match[1])
            )
    return call.outcome()


def _awk_program(fields: list[Field]) -> Field | None:
    index = 1
    while index < len(fields):
        word = fields[index].text
        if word in ("-F", "-v", "--assign", "--field-separator"):
            index += 2
        elif word in ("-f", "--file", "-i", "-l", "-E"):
            return Field(HOLE, word, known=False)
        elif word in ("-e", "--source") or word == "--":
            return fields[index + 1] if index + 1 < len(fields) else None
        elif word.startswith("-") and len(word) > 1:
            index += 1
        else:
            return fields[index]
    return None


HANDLERS.update(dict.fromkeys(INTERPRETERS, _interpreter))
HANDLERS.update(dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk))

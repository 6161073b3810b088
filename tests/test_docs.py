"""README and docs are true: commands parse, policies load, links lead somewhere, exit codes are right."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultroom.cli import main as command_line
from vaultroom.cli import policy as policy_command
from vaultroom.cli.exit_codes import Exit
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.fixture import Stage, parse_fixtures
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import Policy
from vaultroom.shell import NoFiles
from vaultroom.thin import shim_client

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HOME = "/home/reader"

_FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_OWN_PATH = re.compile(r"(?:vaultroom|tests|docs|recipes|themes)/[\w./-]*")
_MODULE = re.compile(r"vaultroom(?:\.[a-z_]+)+")
_KNOWN_BLOCKS = frozenset({"", "sh", "json", "yaml", "toml"})


def _blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in _FENCED.findall(page.read_text("utf-8")) if name == language]


def _prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text("utf-8"))


def _spans(page: Path) -> list[str]:
    return [" ".join(span.split()) for _, span in _SPAN.findall(_prose(page))]


def _written_commands(page: Path) -> Iterator[str]:
    """Every command line of Vaultroom's on a page, as it is written there."""
    yield from (span for span in _spans(page) if span == "vaultroom" or span.startswith("vaultroom "))
    for block in _blocks(page, "sh"):
        for line in block.splitlines():
            for command in line.partition(" #")[0].split("&&"):
                words = command.split()
                if words and words[0].rpartition("/")[2] == "vaultroom":
                    yield " ".join(["vaultroom", *words[1:]])


COMMANDS = sorted({(page, command) for page in PAGES for command in _written_commands(page)})


def _id(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=_id)
def test_every_command_that_is_written_down_parses(
    page: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    words = shlex.split(command)[1:]
    for name in {**command_line.COMMANDS, **command_line.HIDDEN}:
        entry = command_line.COMMANDS.get(name, command_line.HIDDEN.get(name))
        module = importlib.import_module(f"vaultroom.cli.{entry if isinstance(entry, str) else entry[0]}")
        monkeypatch.setattr(module, "run", lambda args: 0)
    code = command_line.main(words)
    assert code == 0, f"{page.name}: {command}: {capsys.readouterr().err}"


def test_the_check_of_commands_can_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["doctor-who"]) == Exit.INVALID
    assert command_line.main(["approve", "allow", "--no-such-option", "X"]) == Exit.INVALID
    assert len(COMMANDS) > 20


def test_every_command_is_described() -> None:
    described = {tuple(command.split()[1:2]) for _, command in COMMANDS}
    assert {(name,) for name in command_line.COMMANDS} <= described
    subcommands = {tuple(command.split()[1:3]) for _, command in COMMANDS}
    assert {("policy", name) for name in policy_command.SUBCOMMANDS} <= subcommands


def _as_policy(block: str) -> str:
    """A block as a whole policy: a part of a match or a list of rules gets what it lacks."""
    if re.match(r"version:", block):
        return block
    if re.match(r"\w", block):
        return f"version: 1\n{block}"
    return f"version: 1\nrules:\n  - name: example\n    effect: deny\n    match:\n{block}"


POLICY_PAGES = [ROOT / "README.md", ROOT / "docs" / "policy-language.md"]
POLICIES = [(page, block) for page in POLICY_PAGES for block in _blocks(page, "yaml")]


def _load(text: str) -> Policy:
    return load_policy(text.encode(), name="block", environ={}, home=HOME)


@pytest.mark.parametrize(("page", "block"), POLICIES, ids=lambda value: _id(value)[:30])
def test_every_policy_that_is_written_down_loads(page: Path, block: str) -> None:
    assert _load(_as_policy(block)).rules, f"{page.name}: a block without rules"


def test_the_fixture_of_the_policy_language_fits_the_policy_of_the_readme() -> None:
    (block,) = _blocks(ROOT / "docs" / "policy-language.md", "json")
    (text,) = _blocks(ROOT / "README.md", "yaml")
    engine = Engine(_load(text), cwd="/home/reader/project")
    fixtures = parse_fixtures(block, Stage(home=HOME, cwd="/home/reader/project", files=NoFiles()))
    failures = [
        fixture.expect.failure(engine.evaluate(fixture.event)) for fixture in fixtures if fixture.expect
    ]
    assert failures == ["", ""]


def test_the_words_of_the_policy_language_are_the_ones_of_the_schema() -> None:
    from vaultroom.policy.cel import FIELDS
    from vaultroom.policy.loader import _KEYS

    page = ROOT / "docs" / "policy-language.md"
    spans = set(_spans(page))
    assert set(FIELDS) <= spans
    tops = {re.split(r"[.\[]", span)[0] for span in spans} | {"rules"}
    assert set(_KEYS) <= tops


@pytest.mark.parametrize(
    "attribute",
    ["unknown_methods", "without_host", "listen_port", "no_proxy", "retention_days", "sign_on_close"],
)
def test_what_the_policy_language_calls_without_effect_has_none(attribute: str) -> None:
    """The day one of them gets an effect, the paragraph in docs/policy-language.md is wrong: change it."""
    users = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "vaultroom").rglob("*.py")
        if "policy" not in path.relative_to(ROOT).parts
        and re.search(rf"\.{attribute}\b", path.read_text("utf-8"))
    ]
    assert users == [], "docs/policy-language.md says that this has no effect yet"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_links_and_places_exist(page: Path) -> None:
    for target in _LINK.findall(_prose(page)):
        if re.match(r"https?://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = {_anchor(heading) for heading in _HEADING.findall(linked.read_text("utf-8"))}
            assert anchor in headings, f"{page.name} links to {target}"
    for span in _spans(page):
        for word in span.split():
            if _OWN_PATH.fullmatch(word):
                assert (ROOT / word).exists(), f"{page.name} names {word}"


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_modules_that_are_named_exist(page: Path) -> None:
    for name in set(_MODULE.findall(page.read_text("utf-8"))):
        if name in ("vaultroom.yaml",):
            continue
        found = importlib.util.find_spec(name)
        assert found is not None, f"{page.name} names the module {name}"


def test_every_page_is_reached_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    reached = {(ROOT / target).resolve() for target in _LINK.findall(text) if "://" not in target}
    for page in PAGES[1:]:
        assert reached & {page, *page.parents}, f"README.md links neither to {page.name} nor to its folder"


def test_the_exit_codes_of_the_docs_are_the_real_ones() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    _, _, table = page.partition("## Exit codes")
    documented = re.findall(r"^\| (\d+(?: \+ N)?) \|", table, re.MULTILINE)
    assert documented == [
        str(code.value) if code is not Exit.SIGNAL_BASE else f"{code.value} + N"
        for code in sorted(Exit, key=_row)
    ]


def _row(code: Exit) -> int:
    return code.value


def test_the_exit_codes_of_shims_and_verify_are_the_ones_of_the_command_line() -> None:
    assert (shim_client.DENIED, shim_client.CHECK_FAILED, shim_client.NOT_FOUND) == (
        Exit.DENIED,
        Exit.CHECK_FAILED,
        Exit.NOT_FOUND,
    )
    shims = (ROOT / "docs" / "shims.md").read_text("utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", shims, re.MULTILINE)}
    assert documented == {Exit.DENIED, Exit.CHECK_FAILED, Exit.NOT_FOUND}
    wanted = f"{Exit.OK} valid, {Exit.TAMPERED} tampered, {Exit.FAILED} could not check"
    for name in ("README.md", "docs/audit-log.md"):
        assert wanted in (ROOT / name).read_text("utf-8"), name


def test_blocks_are_of_kinds_that_are_known_here() -> None:
    """A new kind of block would slip past these tests."""
    kinds = {name for page in PAGES for name, _ in _FENCED.findall(page.read_text("utf-8"))}
    assert kinds <= _KNOWN_BLOCKS


def test_no_page_names_a_place_of_one_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/(work|tmp|root)/", page.read_text("utf-8")), page.name
        assert os.path.expanduser("~") + "/" not in page.read_text("utf-8"), page.name

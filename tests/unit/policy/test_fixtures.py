"""Events with their expected verdicts, through the real loader and engine, and again by cel-python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vaultroom.events import Verdict
from vaultroom.policy.agreement import disagreements
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.fixture import Fixture, Stage, parse_fixtures
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import JudgeEngine, Policy
from vaultroom.shell import NoFiles

FOLDER = Path(__file__).parent / "fixtures"
RECIPES = Path(__file__).parents[3] / "recipes"
STAGE = Stage(home="/home/dev", cwd="/home/dev/proj", files=NoFiles())


def _load(path: Path) -> Policy:
    return load_policy(path.read_bytes(), name=path.name, environ={}, home=STAGE.home)


def _cases() -> list[tuple[str, int, Fixture]]:
    return [
        (file.stem, number, fixture)
        for file in sorted(FOLDER.glob("*.json"))
        for number, fixture in enumerate(parse_fixtures(file.read_text(), STAGE), 1)
    ]


CASES = _cases()
POLICIES = {file.stem: _load(file) for file in FOLDER.glob("*.yaml")}
ENGINES = {name: Engine(policy, cwd=STAGE.cwd) for name, policy in POLICIES.items()}


def test_there_are_enough_fixtures() -> None:
    assert len(CASES) >= 40
    assert {name for name, _, _ in CASES} == POLICIES.keys()
    assert all(fixture.expect is not None for _, _, fixture in CASES)


@pytest.mark.parametrize(("name", "number", "fixture"), CASES, ids=lambda part: str(part)[:40])
def test_fixture(name: str, number: int, fixture: Fixture) -> None:
    verdict = ENGINES[name].evaluate(fixture.event)
    assert fixture.expect is not None
    assert fixture.expect.failure(verdict) == ""
    assert len(verdict.facets) == len(fixture.event.judged_facets())


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_cel_python_gives_the_same_verdicts(name: str) -> None:
    theirs = Engine(replace(POLICIES[name], engine=JudgeEngine.CEL_PYTHON), cwd=STAGE.cwd)
    for _, number, fixture in [case for case in CASES if case[0] == name]:
        ours = ENGINES[name].evaluate(fixture.event)
        assert _without_talk(theirs.evaluate(fixture.event)) == _without_talk(ours), number


def _without_talk(verdict: Verdict) -> object:
    """A verdict without its time and without the wording of an evaluation error."""
    return verdict.effect, verdict.rule_name, verdict.line, verdict.decisive


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_no_expression_of_the_fixtures_is_judged_differently_by_cel_python(name: str) -> None:
    assert disagreements(POLICIES[name]) == ()


def test_the_recipe_is_the_example_of_the_specification() -> None:
    assert _load(RECIPES / "example.yaml") == replace(POLICIES["spec_example"], name="example.yaml")


def test_the_minimal_recipe_loads_without_a_finding() -> None:
    assert _load(RECIPES / "minimal.yaml").findings == ()

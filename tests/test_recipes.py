"""Every recipe loads cleanly and judges its own events as its `.events.json` expects, in both CEL engines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vaultroom.policy.agreement import disagreements
from vaultroom.policy.evaluate import Engine
from vaultroom.policy.finding import Severity
from vaultroom.policy.fixture import Fixture, Stage, parse_fixtures
from vaultroom.policy.loader import load_policy
from vaultroom.policy.model import JudgeEngine, Policy
from vaultroom.shell import NoFiles

RECIPES = Path(__file__).parent.parent / "recipes"
NAMES = sorted(path.stem for path in RECIPES.glob("*.yaml"))
STAGE = Stage(home="/home/dev", cwd="/home/dev/proj", files=NoFiles())
FEWEST = {"starter": 60}


def _load(name: str) -> Policy:
    path = RECIPES / f"{name}.yaml"
    telegram = {"VAULTROOM_TELEGRAM_TOKEN": "x", "VAULTROOM_TELEGRAM_CHAT_ID": "x"}
    return load_policy(path.read_bytes(), name=path.name, environ=telegram, home=STAGE.home)


def _fixtures(name: str) -> list[Fixture]:
    return parse_fixtures((RECIPES / f"{name}.events.json").read_text("utf-8"), STAGE)


POLICIES = {name: _load(name) for name in NAMES}
ENGINES = {name: Engine(policy, cwd=STAGE.cwd) for name, policy in POLICIES.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_clean(name: str) -> None:
    worse = [finding for finding in POLICIES[name].findings if finding.severity is not Severity.INFO]
    assert worse == []
    assert disagreements(POLICIES[name]) == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_judges_its_events_as_expected(name: str) -> None:
    raw = json.loads((RECIPES / f"{name}.events.json").read_text("utf-8"))
    failures = []
    for entry, fixture in zip(raw, _fixtures(name), strict=True):
        assert fixture.expect is not None, entry
        verdict = ENGINES[name].evaluate(fixture.event)
        failure = fixture.expect.failure(verdict)
        if failure:
            failures.append(f"{failure} (by {verdict.rule_name!r}): {entry}")
    assert failures == []
    assert len(raw) >= FEWEST.get(name, 5)


@pytest.mark.parametrize("name", NAMES)
def test_cel_python_judges_a_recipe_alike(name: str) -> None:
    theirs = Engine(replace(POLICIES[name], engine=JudgeEngine.CEL_PYTHON), cwd=STAGE.cwd)
    for fixture in _fixtures(name):
        ours, other = ENGINES[name].evaluate(fixture.event), theirs.evaluate(fixture.event)
        assert (other.effect, other.rule_name) == (ours.effect, ours.rule_name), fixture


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_of_a_recipe_decides_one_of_its_events(name: str) -> None:
    """A rule that no event reaches is untested, or can never match."""
    reached = {
        facet.rule_name
        for fixture in _fixtures(name)
        for facet in ENGINES[name].evaluate(fixture.event).facets
    }
    assert {rule.name for rule in POLICIES[name].rules} <= reached


def test_root_can_work_in_its_own_home() -> None:
    text = (RECIPES / "starter.yaml").read_bytes()
    policy = load_policy(text, name="starter.yaml", environ={}, home="/root")
    engine = Engine(policy, cwd="/root/proj")
    stage = Stage(home="/root", cwd="/root/proj", files=NoFiles())
    events = (
        '[{"action":"fs.read","path":"/root/.config/x","expect":"allow"},'
        '{"action":"fs.write","path":"/root/proj/x","expect":"allow"},'
        '{"action":"fs.write","path":"/root/other/x","expect":"require_approval"},'
        '{"action":"shell.exec","argv":["rm","-rf","/root"],"expect":"deny"},'
        '{"action":"fs.read","path":"/root/.ssh/id_rsa","expect":"deny"}]'
    )
    failures = [f.expect.failure(engine.evaluate(f.event)) for f in parse_fixtures(events, stage) if f.expect]
    assert failures == [""] * 5

"""A hundred scenarios over the shipped specs: who plays earns what it should, wherever it is played."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from envscaler.rollout import Trajectories
from envscaler.session.rollouts import RolloutOptions, rollout
from envscaler.session.scenarios import BatchOptions, make_scenarios

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
COUNT = 100
SETTINGS = pytest.mark.parametrize("user", [None, "facts"], ids=["alone", "conversation"])

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the scenarios, for all of the specs."""
    file = tmp_path_factory.mktemp("hundred") / "hundred.jsonl"
    made = make_scenarios(SPECS, file, BatchOptions(count=COUNT, seed=7), jobs=2)
    assert made.complete
    assert {spec for spec, _ in made.tried} == {path.stem for path in SPECS}
    return file


def played(file: Path, output: Path, agent: str, user: str | None, **how: int) -> dict[str, str]:
    """The hashes of the trajectories, by id."""
    setting = "non-conversation" if user is None else "conversation"
    rolled = rollout(file, output, RolloutOptions(agent, user, setting), specs=ROOT / "specs", **how)  # type: ignore[arg-type]
    assert (rolled.complete, rolled.played) == (True, COUNT)
    with Trajectories.open(output) as kept:
        return {row.id: row.hash for row in kept.rows()}


def rewards(output: Path) -> list[float]:
    with Trajectories.open(output) as kept:
        found = [row.reward for row in kept.rows()]
    return [one for one in found if one is not None]


def shared(file: Path) -> set[str]:
    """The scenarios in which a step is the user's own, whom nobody plays where the agent is alone."""
    scenarios = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {one["id"] for one in scenarios if any(step.get("actor") == "user" for step in one["solution"])}


@SETTINGS
def test_who_plays_earns_what_it_should(hundred: Path, tmp_path: Path, user: str | None) -> None:
    for agent in ("reference", "noop", "random"):
        played(hundred, tmp_path / agent, agent, user, concurrency=64)
        assert len(rewards(tmp_path / agent)) == COUNT
    with Trajectories.open(tmp_path / "reference") as kept:
        failed = {row.scenario for row in kept.rows() if row.reward != 1.0}
    assert failed == (shared(hundred) if user is None else set())
    assert Counter(rewards(tmp_path / "noop")) == {0.0: COUNT}
    assert sum(rewards(tmp_path / "random")) / COUNT < 0.05


@SETTINGS
def test_it_is_played_the_same_wherever(hundred: Path, tmp_path: Path, user: str | None) -> None:
    for agent in ("reference", "random"):
        one_by_one = played(hundred, tmp_path / f"{agent}-1", agent, user, concurrency=1)
        assert played(hundred, tmp_path / f"{agent}-64", agent, user, concurrency=64) == one_by_one
        if (agent == "random") == (user is None):  # each process makes all worlds anew
            assert played(hundred, tmp_path / f"{agent}-2", agent, user, jobs=2, concurrency=8) == one_by_one

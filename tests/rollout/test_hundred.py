"""A hundred scenarios over the shipped specs: who plays earns what it should, wherever it is played."""

from __future__ import annotations

import json
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
    assert rolled.complete
    assert len(rolled.left_out) == (shared(file) if user is None else 0)
    assert rolled.played + len(rolled.left_out) == COUNT
    with Trajectories.open(output) as kept:
        return {row.id: row.hash for row in kept.rows()}


def rewards(output: Path) -> list[float]:
    with Trajectories.open(output) as kept:
        found = [row.reward for row in kept.rows()]
    return [one for one in found if one is not None]


def shared(file: Path) -> int:
    """How many scenarios have a step that is the user's own, whom nobody plays where the agent is alone."""
    scenarios = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return sum(any(step.get("actor") == "user" for step in one["solution"]) for one in scenarios)


@SETTINGS
def test_who_plays_earns_what_it_should(hundred: Path, tmp_path: Path, user: str | None) -> None:
    for agent, least, most in (("reference", 1.0, 1.0), ("noop", 0.0, 0.0), ("random", 0.0, 0.05)):
        ids = played(hundred, tmp_path / agent, agent, user, concurrency=64)
        found = rewards(tmp_path / agent)
        assert len(found) == len(ids)
        assert least <= sum(found) / len(found) <= most


@SETTINGS
def test_it_is_played_the_same_wherever(hundred: Path, tmp_path: Path, user: str | None) -> None:
    for agent in ("reference", "random"):
        one_by_one = played(hundred, tmp_path / f"{agent}-1", agent, user, concurrency=1)
        assert played(hundred, tmp_path / f"{agent}-64", agent, user, concurrency=64) == one_by_one
        if (agent == "random") == (user is None):  # each process makes all worlds anew
            assert played(hundred, tmp_path / f"{agent}-2", agent, user, jobs=2, concurrency=8) == one_by_one

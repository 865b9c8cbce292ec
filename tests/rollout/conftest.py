"""The bank as a stage, and a folder with the till and scenarios for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from envscaler.rollout.stage import Stage
from envscaler.scenario.model import Fact, Goal, Scenario, Step, User
from envscaler.scenario.world import World
from envscaler.session.specs import sound
from envscaler.spec.checked import Checked
from tests.rollout.by_hand import scenarios

ROOT = Path(__file__).parents[2]
TILL = ROOT / "tests" / "replay" / "till.yaml"


@pytest.fixture(scope="session", autouse=True)
def worlds_made_once() -> Iterator[None]:
    """Specs with the same text are checked and compiled once for all tests here, which takes longer than to play them."""
    checked: dict[str, Checked] = {}
    made: dict[tuple[int, tuple[str, ...]], World] = {}
    whole = World.of

    def read(file: str | Path) -> Checked:
        text = Path(file).read_text(encoding="utf-8")
        if text not in checked:
            checked[text] = sound(file)
        return checked[text]

    def of(one: Checked, templates: Sequence[str] = ()) -> World:
        key = (id(one), tuple(templates))
        if key not in made:
            made[key] = whole(one, tuple(templates))
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("envscaler.session.worlds.sound", read)
        patch.setattr(World, "of", of)
        yield


@pytest.fixture(scope="session")
def stage() -> Stage:
    return Stage(World.of(sound(ROOT / "specs" / "bank.yaml")))


@pytest.fixture(scope="session")
def bank(stage: Stage) -> dict[str, Scenario]:
    """The scenarios written by hand, by kind."""
    return scenarios(stage.world.ref)


@pytest.fixture(scope="session")
def till_scenarios() -> str:
    """Five scenarios of the till, as lines of JSON."""
    ref = World.of(sound(TILL)).ref
    lines = []
    for value in range(1, 6):
        one = Scenario(
            kind="complete",
            spec=ref,
            task=f"Put a coin of {value} into the till.",
            goals=(Goal(f"sum(c.value for c in final.coins.values()) == {15 + value}", "the coin is there"),),
            guards=(),
            solution=(Step("total", {}), Step("add_coin", {"value": value})),
            user=User((Fact("value", value, f"It is worth {value}."),), opening="I have a coin."),
        )
        lines.append(json.dumps(one.named().to_json()) + "\n")
    return "".join(lines)


def write_till(folder: Path, scenarios: str) -> Path:
    """A file of scenarios, in a working folder with the till's spec."""
    (folder / "specs").mkdir()
    (folder / "specs" / "till.yaml").write_text(TILL.read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / "scenarios.jsonl"
    file.write_text(scenarios, encoding="utf-8")
    return file


@pytest.fixture
def till(tmp_path: Path, till_scenarios: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with five scenarios of the till, in a working folder with its spec."""
    monkeypatch.chdir(tmp_path)
    return write_till(tmp_path, till_scenarios)

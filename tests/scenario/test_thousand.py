"""A thousand scenarios over the shipped specs, proved a second time by what shares no code with the first."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from envscaler.compiler import compile_spec, load_class
from envscaler.session.files import is_spec
from envscaler.session.scenarios import BatchOptions, make_scenarios
from envscaler.session.specs import sound
from tests.scenario.independent import Second, Verdict

SHIPPED = Path(__file__).resolve().parents[2] / "specs"
SPECS = [*sorted(SHIPPED.glob("*.yaml")), *sorted(p for p in (SHIPPED / "ports").glob("*.yaml") if is_spec(p))]


def _again(file: Path) -> list[tuple[dict[str, Any], Verdict]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    named = {json.loads(line)["spec"]["name"] for line in lines}
    classes = {}
    for path in (path for path in SPECS if path.stem in named):
        checked = sound(path)
        assert checked.spec is not None
        classes[checked.spec.name] = load_class(compile_spec(checked))
    states: dict[str, Any] = {}
    found = []
    for line in lines:
        scenario = json.loads(line)
        state = scenario.get("state")
        if isinstance(state, str):
            if state not in states:
                stored = file.with_suffix(".states") / f"{state.removeprefix('sha256:')}.json"
                states[state] = json.loads(stored.read_text(encoding="utf-8"))
            state = states[state]
        found.append((scenario, Second(classes[scenario["spec"]["name"]], scenario, state).prove()))
    return found


def _held_up(found: list[tuple[dict[str, Any], Verdict]]) -> None:
    wrong = [(scenario["id"], verdict.problems) for scenario, verdict in found if verdict.problems]
    assert wrong == []
    assert all(verdict.idle == 0 and verdict.solved == 1 for _, verdict in found)
    near = sum(verdict.near for _, verdict in found)
    ways = sum(verdict.ways for _, verdict in found)
    assert sum(verdict.near_accepted for _, verdict in found) < 0.01 * near
    assert sum(verdict.ways_refused for _, verdict in found) < 0.01 * ways
    assert all(scenario["proof"]["ok"] for scenario, _ in found)
    assert all(gate["ok"] for scenario, _ in found for gate in scenario["proof"]["gates"].values())


@pytest.mark.slow
def test_a_thousand(tmp_path: Path) -> None:
    file = tmp_path / "thousand.jsonl"
    made = make_scenarios(SPECS, file, BatchOptions(count=1000, seed=1), jobs=2)
    assert made.complete
    assert made.unused == {}
    found = _again(file)
    assert len(found) == 1000
    _held_up(found)
    assert len(Counter(scenario["spec"]["name"] for scenario, _ in found)) == len(SPECS)


@pytest.mark.slow
def test_a_few(tmp_path: Path) -> None:
    file = tmp_path / "few.jsonl"
    make_scenarios(SPECS[:1], file, BatchOptions(count=8, seed=2))
    found = _again(file)
    assert len(found) >= 8
    _held_up(found)

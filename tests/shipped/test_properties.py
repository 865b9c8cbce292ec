"""What must hold of every shipped environment, attacked with calls of all its tools."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envscaler
from envscaler.assess import Call, FuzzSettings, fuzz
from envscaler.assess.facts import Facts
from envscaler.assess.strategies import calls
from envscaler.session.files import spec_files
from envscaler.session.specs import sound

ROOT = Path(__file__).resolve().parents[2]
SPECS = {path.stem: path for path in sorted(spec_files([ROOT / "specs"])[0])}
QUICK = ("tau2_mock",)
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SPECS]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_and_every_tool_gives_a_result(name: str) -> None:
    """All properties of docs/reference/assess.md; a few more seeds than the default one are run by hand now and then."""
    environment, checked = envscaler.load(SPECS[name]), sound(SPECS[name])
    report = fuzz(environment, checked, FuzzSettings(seed=11, calls=700))
    assert [(f.property, f.title, f.script) for f in report.findings] == []
    again = fuzz(environment, checked, FuzzSettings(seed=12, calls=500))
    assert [(f.property, f.title, f.script) for f in again.findings] == []
    reached = {(t.actor, t.name) for r in (report, again) for t in r.coverage.tools if t.ok}
    assert reached == {(t.actor, t.name) for t in Facts(environment).tools}


@pytest.mark.parametrize("name", NAMES)
def test_episodes_on_threads_equal_those_in_a_row(name: str) -> None:
    environment = envscaler.load(SPECS[name])

    @settings(max_examples=3, deadline=None)
    @given(st.lists(calls(environment), min_size=4, max_size=4))
    def holds(scripts: list[list[Call]]) -> None:
        episodes = [(seed, scripts[seed % len(scripts)]) for seed in range(64)]

        def run(episode: tuple[int, list[Call]]) -> str:
            env = environment.new(seed=episode[0])
            told = [env.call(c.tool, c.arguments, actor=c.actor).to_json() for c in episode[1]]
            return json.dumps([told, env.state, env.diff()])

        with ThreadPoolExecutor(16) as threads:
            assert list(threads.map(run, episodes)) == [run(e) for e in episodes]

    holds()

"""Examples name states and keys, whatever the JSON form of the state is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envscaler import session
from envscaler.assess import FuzzSettings, fuzz
from envscaler.compiler import compile_spec, load_class
from envscaler.errors import UsageError
from envscaler.play import Answer
from envscaler.spec.check import check_text

DESK = """\
envscaler: 1
name: desk
title: Desk
description: A bell and the calls it made.
states:
  bell:
    record: Bell
    single: true
    form: flat
    fields: {rung: {type: int, default: 0}, broken: {type: bool, default: false}}
  calls:
    record: Call
    key: {name: call_id, make: "C-{n}", in_record: true}
    form: list
    fields: {answered: bool}
tools:
  ring:
    kind: write
    description: Ring the bell.
    do: |
      require(not bell.broken, "It makes no sound.")
      bell.rung += 1
      return calls.add(answered=False).call_id
    examples:
      - {call: {}, returns: C-2, then: {bell: {rung: 4}, calls: {C-2: {answered: false}}}}
      - {call: {}, given: {bell: {broken: true}}, error: It makes no sound., then: {bell: {rung: 3}}}
      - {call: {}, given: {calls: {C-1: null}}, returns: C-1, then: {calls: {C-2: null}}}
initial_state:
  rung: 3
  calls:
    - {call_id: C-1, answered: true}
"""


def test_given_and_then_reach_flat_records_and_lists(tmp_path: Path) -> None:
    spec = tmp_path / "desk.yaml"
    spec.write_text(DESK)
    [compiled] = session.compile(spec, tmp_path / "build")
    assert (compiled.diagnostics, compiled.failures) == ([], [])


@pytest.mark.parametrize(("right", "wrong"), [("{rung: 4}", "{rung: 5}"), ("C-2: {answered: false}", "C-2: null")])
def test_what_differs_afterwards_is_told(tmp_path: Path, right: str, wrong: str) -> None:
    spec = tmp_path / "desk.yaml"
    spec.write_text(DESK.replace(right, wrong))
    [compiled] = session.compile(spec, tmp_path / "build")
    assert ["afterwards" in d.title for d in compiled.failures] == [True]


DOOR = """\
envscaler: 1
name: door
title: Door
description: A shop door that is locked at seven.
clock: 2030-01-01T12:00:00
states:
  door:
    record: Door
    single: true
    fields: {opened: {type: datetime, null: true, default: null}}
tools:
  open_door:
    kind: write
    description: Open the door.
    do: |
      require(now.time < time(19, 0), "It is locked until tomorrow.")
      door.opened = now
      return f"opened on {today}"
    examples:
      - {call: {}, returns: opened on 2030-01-01}
      - {call: {}, at: "2030-01-02T08:30:00", returns: opened on 2030-01-02, then: {door: {opened: "2030-01-02T08:30:00"}}}
      - {call: {}, at: "2030-01-01T19:00:00", error: It is locked until tomorrow.}
"""


def test_an_example_begins_at_its_time(tmp_path: Path) -> None:
    spec = tmp_path / "door.yaml"
    spec.write_text(DOOR)
    [compiled] = session.compile(spec, tmp_path / "build")
    assert (compiled.diagnostics, compiled.failures) == ([], [])
    spec.write_text(DOOR.replace('at: "2030-01-01T19:00:00"', 'at: "2030-01-01T18:59:59"'))
    [compiled] = session.compile(spec, tmp_path / "build")
    assert ["expected error" in failure.title for failure in compiled.failures] == [True]


def _shown(answer: Answer) -> str:
    return "\n".join(map(str, answer.lines))


def test_an_episode_that_is_played_at_a_time_is_replayed_at_it(tmp_path: Path) -> None:
    spec, kept = tmp_path / "door.yaml", tmp_path / "night.jsonl"
    spec.write_text(DOOR)
    result, _ = session.call(spec, "open_door", clock="2030-01-04T20:00:00")
    assert result.error is not None
    player = session.play(spec, clock="2030-01-04T07:00:00")
    assert "opened on 2030-01-04" in _shown(player.handle("open_door"))
    player.handle(f":save {kept}")
    assert json.loads(kept.read_text())["clock"] == "2030-01-04T07:00:00"
    assert session.replay(spec, [kept]).cases_right == 1
    assert "opened on 2030-01-04" in _shown(session.play(spec).handle(f":replay {kept}"))
    with pytest.raises(UsageError, match="a time like 2030-01-01T12:00:00, not 'noon'"):
        session.play(spec, clock="noon")


def test_the_fuzzer_begins_at_the_times_of_examples_and_says_so(tmp_path: Path) -> None:
    checked = check_text("door.yaml", DOOR)

    class Sunday(load_class(compile_spec(checked))):  # type: ignore[misc]
        def call(self, tool: str, arguments: Any = None, actor: str = "agent") -> Any:
            if self.settings["clock"].startswith("2030-01-02"):
                raise ValueError("not on this day")
            return super().call(tool, arguments, actor)

    report = fuzz(Sunday, checked, FuzzSettings(calls=60))
    assert "examples-hold" in {finding.property for finding in report.findings}
    made = [finding for finding in report.findings if finding.calls]
    assert {finding.clock for finding in made} == {"2030-01-02T08:30:00"}
    [begin] = {finding.test.splitlines()[0] for finding in made}
    assert begin == "env = Environment.new(seed=0, clock='2030-01-02T08:30:00')"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("2030-01-01T19:00:00Z", "no zone"),
        ("tomorrow", "expected a datetime"),
        ("2030-02-30T19:00:00", "day is out of range"),
    ],
)
def test_a_time_of_an_example_that_is_none_is_refused(tmp_path: Path, given: str, told: str) -> None:
    spec = tmp_path / "door.yaml"
    spec.write_text(DOOR.replace("2030-01-01T19:00:00", given))
    [problem] = session.check(spec).diagnostics
    assert problem.code == "bad-value"
    assert problem.title.startswith("example 3 of tool 'open_door': at: ")
    assert told in problem.detail

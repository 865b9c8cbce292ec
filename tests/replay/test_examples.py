"""Examples name states and keys, whatever the JSON form of the state is."""

from __future__ import annotations

from pathlib import Path

import pytest

from envscaler import session

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

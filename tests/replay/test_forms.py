"""Examples and recordings of states whose JSON does not hold records under their keys: nested trees, lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envscaler import session

ATTIC = """\
envscaler: 1
name: attic
title: Attic
description: Boxes within boxes, and a log of what was put where.
states:
  boxes:
    record: Box
    key: {name: box_id, make: "B{n}"}
    tree: {parent: inside, name: label, nested: holds}
    fields:
      label: str
      inside: {ref: boxes, null: true}
      weight: {type: int, default: 1}
  log:
    record: Entry
    key: {name: entry_id, make: "L{n}"}
    form: list
    fields: {label: str}
tools:
  put:
    kind: write
    description: Put a new box into a box at the top.
    params: {label: str, into: str}
    do: |
      box = child(boxes, None, into) or fail("no such box")
      boxes.add(label=label, inside=box.box_id)
      log.add(label=label)
      return sum(b.weight for b in walk(boxes, box.box_id))
    examples:
      - call: {label: hats, into: chest}
        returns: 6
        then: {boxes: {chest: {weight: 3, holds: {hats: {weight: 1}, gloves: {holds: {}}}}}, log: {L1: {label: hats}}}
      - call: {label: hats, into: chest}
        given: {boxes: {chest: {holds: {gloves: {weight: 5, holds: {ring: {}}}}}}}
        returns: 10
      - call: {label: gloves, into: chest}
        given: {boxes: {chest: {holds: {gloves: null}}}}
        returns: 4
        then: {boxes: {chest: {holds: {hats: null}}, trunk: null}}
initial_state:
  boxes:
    chest: {weight: 3, holds: {gloves: {weight: 2}}}
  log: []
"""


def problems(tmp_path: Path, text: str) -> list[str]:
    spec = tmp_path / "attic.yaml"
    spec.write_text(text)
    [compiled] = session.compile(spec, tmp_path / "build")
    return [d.title for d in (*compiled.diagnostics, *compiled.failures)]


def test_examples_reach_the_nodes_of_a_nested_tree(tmp_path: Path) -> None:
    assert problems(tmp_path, ATTIC) == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        (
            "hats: {weight: 1}",
            "hats: {weight: 2}",
            "afterwards boxes['chest'].holds['hats'] at /weight: expected 2, got 1",
        ),
        ("hats: null}}, trunk", "gloves: null}}, trunk", "afterwards boxes['chest'].holds['gloves']: expected"),
        ("hats: {weight: 1}", "hats: {wait: 1}", "then.boxes.chest.holds.hats: Box has no field 'wait'"),
        ("gloves: {holds: {}}", "gloves: {holds: 3}", "then.boxes.chest.holds.gloves.holds: expected a mapping"),
    ],
)
def test_what_is_wrong_about_a_node_is_told_with_its_way(tmp_path: Path, right: str, wrong: str, told: str) -> None:
    assert right in ATTIC
    [title] = problems(tmp_path, ATTIC.replace(right, wrong))
    assert told in title


@pytest.mark.parametrize(("weight", "ok"), [(1, True), (2, False)])
def test_final_states_of_nested_trees_and_lists_are_compared(tmp_path: Path, weight: int, ok: bool) -> None:
    (tmp_path / "attic.yaml").write_text(ATTIC)
    case = {
        "case_id": "hats",
        "initial_state": {
            "boxes": {"chest": {"weight": 3, "holds": {"gloves": {"weight": 2, "holds": {}}}}},
            "log": [{"entry_id": "L1", "label": "gloves"}],
        },
        "calls": [{"tool": "put", "arguments": {"label": "hats", "into": "chest"}, "result": 6, "error": None}],
        "final_state_diff": [
            {"op": "add", "path": "/boxes/chest/holds/hats", "value": {"weight": weight, "holds": {}}},
            {"op": "add", "path": "/log/1", "value": {"entry_id": "L2", "label": "hats"}},
        ],
    }
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    report = session.replay(tmp_path / "attic.yaml", tmp_path / "cases.jsonl")
    assert report.ok is ok
    assert [m.path for d in report.differences for m in d.mismatches] == (
        [] if ok else ["/boxes/chest/holds/hats/weight"]
    )
    assert all("last written by call 1" in d.got for d in report.differences)

"""A small sound environment, and ways to spoil it: its text with a change, or its class with a method replaced."""

from __future__ import annotations

import linecache
import sys
import types
import zlib
from functools import cache
from typing import Any

from envscaler.assess import FuzzFinding, FuzzReport, FuzzSettings, fuzz
from envscaler.compiler import CompiledModule, compile_spec, load_class
from envscaler.spec.check import check_text
from envscaler.spec.checked import Checked

SPEC = """\
envscaler: 1
name: shelf
clock: 2031-05-12T10:30:00Z
constants:
  MOST: 3
types:
  Level: {enum: [low, fine]}
states:
  boxes:
    record: Box
    key: {name: box_id, make: "B-{n}"}
    fields:
      name: {type: str, min_length: 1}
      items: {type: int, ge: 0, default: 0}
      state: {enum: [open, sealed, gone], default: open}
      marks: {list: str, default: []}
  depot:
    record: Depot
    single: true
    fields:
      total: {type: int, default: 0}
      level: {type: Level, default: low}
rules:
  few:
    text: A box holds at most {MOST} items.
    each: boxes
    holds: |
      it.items <= MOST
  life:
    text: A sealed box may be opened again or be gone; what is gone stays gone.
    field: boxes.state
    moves: {open: [sealed], sealed: [open, gone], gone: []}
helpers:
  watch:
    do: |
      depot.level = "fine" if depot.total > 1 else "low"
after_each: [watch]
tools:
  look:
    kind: read
    description: A box.
    params: {box_id: {ref: boxes, as: box}}
    do: |
      return {"box_id": box_id, "items": box.items, "state": box.state, "marks": box.marks}
  count_all:
    kind: read
    description: How many items there are.
    do: |
      return sum(b.items for b in boxes.values())
  put:
    kind: write
    description: Put items into a box.
    params: {box_id: {ref: boxes, as: box}, count: {type: int, ge: 1, le: 9}}
    do: |
      require(box.state == "open", f"Box {box_id} is {box.state}.")
      box.items += count
      depot.total += count
      require(box.items <= MOST, f"Box {box_id} would hold {box.items}.", rule="few")
      return box.items
    examples:
      - {call: {box_id: B-1, count: 2}, returns: 2}
  new_box:
    kind: write
    description: A new box.
    params: {name: {type: str, min_length: 1, max_length: 20}}
    do: |
      made = boxes.add(name=name)
      return {"box_id": made.box_id}
  seal:
    kind: write
    description: Seal a box, or open it.
    params: {box_id: {ref: boxes, as: box}, shut: bool}
    do: |
      box.state = "sealed" if shut else "open"
      return box.state
  mark:
    kind: write
    description: Mark a box.
    params: {box_id: {ref: boxes, as: box}, marks: {list: str, max_length: 4}}
    do: |
      box.marks = marks
      return len(box.marks)
  draw:
    kind: write
    description: A lucky number.
    do: |
      depot.total += 1
      return rand_int(1, 1000000)
initial_state:
  boxes:
    B-1: {name: first}
    B-2: {name: second, items: 1, state: sealed}
  depot: {total: 1}
"""


@cache
def checked(old: str = "", new: str = "") -> Checked:
    """The spec, checked, with a change."""
    assert old in SPEC
    made = check_text("shelf.yaml", SPEC.replace(old, new, 1) if old else SPEC)
    assert made.ok, [d.headline() for d in made.diagnostics]
    return made


def compiled(made: Checked) -> type[Any]:
    """The class of a checked spec."""
    return load_class(_unit() if made is checked() else compile_spec(made))


@cache
def _unit() -> CompiledModule:
    return compile_spec(checked())


def spoilt(old: str, new: str, *more: str) -> type[Any]:
    """The class whose generated module has a change, loaded by itself so that the sound one stays as it is."""
    unit = _unit()
    text = unit.text
    for before, after in ((old, new), *zip(more[::2], more[1::2], strict=True)):
        assert before in text, before
        text = text.replace(before, after, 1)
    name = f"spoilt_shelf_{zlib.crc32(text.encode())}"
    module = types.ModuleType(name)
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    sys.modules[name] = module
    exec(compile(text, filename, "exec", dont_inherit=True), module.__dict__)
    made: type[Any] = module.__dict__[unit.class_name]
    made.source = ("shelf.yaml", made.source[1])
    made._model.source = "shelf.yaml"
    return made


def line_of(text: str, spec: str = SPEC) -> int:
    """The line of the spec that holds the text."""
    return next(i for i, row in enumerate(spec.splitlines(), 1) if text in row)


def attacked(environment: type[Any], spec: Checked | None = None, **settings: Any) -> FuzzReport:
    """The report on a class, with few calls."""
    return fuzz(environment, spec, FuzzSettings(**{"calls": 1500, **settings}))


def only(report: FuzzReport) -> FuzzFinding:
    """The one finding."""
    assert [f.property for f in report.findings] == [report.findings[0].property], [f.title for f in report.findings]
    return report.findings[0]

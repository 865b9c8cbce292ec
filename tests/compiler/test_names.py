"""Whatever the reader lets a spec call its parts, the module's own names get out of the way."""

from __future__ import annotations

import pytest

from envscaler.compiler import compile_spec, load_class
from envscaler.spec.check import check_text

_SPEC = """\
envscaler: 1
name: {name}
constants: {{{const}: 3}}
types: {{{type}: {{fields: {{a: int}}}}}}
states:
  {state}:
    record: {record}
    key: {{name: kid, make: "T{{n}}"}}
    fields: {{label: {{type: str, default: x, max_length: 5}}, t: {{type: {type}, null: true}}}}
tools:
  {tool}:
    kind: write
    description: Look.
    params: {{{param}: int}}
    do: |
      {local} = {param} + {const}
      {state}.add(label="x")
      return {local}
"""
_PLAIN = {
    "name": "sample", "const": "N", "type": "Box", "state": "things", "record": "Thing", "tool": "look", "param": "x",
    "local": "y",
}  # fmt: skip
_HARD = {
    "tool": "names docs self call print match type look_call lookAt isThing",
    "param": "self problem value result key dict object isinstance old new same",
    "state": "mark values require_valid require_unreferred self every before",
    "const": "STATES BOX MISSING THING",
    "name": "state tools any environment rule",
    "type": "Any State Tools Environment States SampleState Sample",
    "record": "Any State Sample Tool",
    "local": "tool_look out_thing dict isinstance Sample match key helper_x STATES SampleState call_look check_things BOX",
}


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, names in _HARD.items() for name in names.split()])
def test_name_is_usable(part: str, name: str) -> None:
    checked = check_text("specs/sample.yaml", _SPEC.format(**_PLAIN | {part: name}))
    assert [d.headline() for d in checked.diagnostics if d.severity == "error"] == []
    assert checked.spec is not None
    tool = next(iter(checked.spec.tools.values()))
    env = load_class(compile_spec(checked)).new()
    assert env.call(tool.name, {tool.params[0].name: 4}).unwrap() == 7
    assert getattr(env.tools, tool.name)(4).unwrap() == 7


_UNIONS = """\
envscaler: 1
name: sample
types:
  A: {fields: {k: {const: a}, x: money}}
  B: {fields: {k: {const: b}, y: str}}
  C: {fields: {k: {const: c}, y: str}}
states:
  box:
    record: Box
    single: true
    fields: {last: {type: {union: [A, B], tag: k}, null: true, default: null}}
tools:
  keep:
    kind: read
    description: Keep it.
    params: {what: {type: {union: [A, B], tag: k}}, more: {type: {list: {type: {union: [B, C], tag: k}}}, default: []}}
    do: |
      return {"what": what, "more": more, "last": box.last}
initial_state: {box: {last: {k: b, y: z}}}
"""


def test_unions_without_a_name() -> None:
    checked = check_text("specs/sample.yaml", _UNIONS)
    assert [d.headline() for d in checked.diagnostics if d.severity == "error"] == []
    env = load_class(compile_spec(checked)).new()
    sent = {"what": {"k": "a", "x": 2.5}, "more": [{"k": "c", "y": "z"}]}
    assert env.call("keep", sent).unwrap() == {**sent, "last": {"k": "b", "y": "z"}}

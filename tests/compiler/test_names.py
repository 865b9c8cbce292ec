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
    "tool": "names docs self call print match type look_call",
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

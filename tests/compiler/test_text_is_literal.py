"""No text in a descriptive field changes the shape of the generated tree."""

from __future__ import annotations

import ast
import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler.compiler import compile_spec
from envscaler.spec.check import check_text

_NASTY = ['"', "'", '"""', "'''", "\\", "{", "}", "{{", "}}", "{x}", "{N}", "#", "\n", "\r", "\t", "%}", "{%", "{{ 1 }}", "\x00",
          "\ud800", "\u2028", "\x0c", "\u202e", "import os", "raise SystemExit", "it[", "_MAX", "every[", "é", "📦", " "]  # fmt: skip
TEXT = st.lists(st.one_of(st.sampled_from(_NASTY), st.text(max_size=3)), max_size=8).map("".join).filter(str.strip)

_HOLES = (
    "title", "description", "param description", "missing", "rule text", "tool description", "default", "enum value",
    "json name", "constant", "message",
)  # fmt: skip

_SPEC = """\
envscaler: 1
name: sample
title: {title}
description: {description}
constants: {{N: {constant}}}
states:
  things:
    record: Thing
    key: {{name: thing_id, make: "T{{n}}"}}
    description: {description}
    fields:
      label: {{type: str, default: {default}, json: {json_name}, like: name}}
      kind: {{type: {{enum: [plain, {enum_value}]}}, default: plain}}
      size: {{type: number, le: 9, default: 1}}
rules:
  cited: {{text: {rule_text}}}
  held:
    text: {rule_text}
    each: things
    holds: |
      len(it.label) < 100
  moved: {{text: {rule_text}, field: things.kind, moves: {{plain: [{enum_value}], {enum_value}: []}}}}
helpers:
  again:
    params: {{thing: Thing}}
    description: {description}
    do: |
      return thing.label
tools:
  look:
    kind: read
    description: {tool_description}
    params:
      x: {{ref: things, as: thing, missing: {missing}, description: {param_description}}}
      words: {{type: str, default: {default}}}
    errors: {{error: {message}}}
    do: |
      require(words != N, "no", rule="cited")
      return {{"again": again(thing), "kind": thing.kind, "thing": thing}}
  change:
    kind: write
    params: {{x: {{ref: things, as: thing, missing: {missing}}}, size: float, kind: {{enum: [plain, {enum_value}]}}}}
    do: |
      thing.size = size
      thing.kind = kind
      thing.label = thing.label + "x"
  look_again:
    kind: read
    description: {tool_description}
    params: {{x: {{ref: things, as: thing}}, words: str}}
    do: |
      require(words != N, "no", rule="cited")
      return {{"again": again(thing), "kind": thing.kind, "thing": thing}}
"""


def shape(source: str) -> str:
    """The tree with every constant blanked, f-strings as their expressions only, and places left out."""
    return ast.dump(_Blank().visit(ast.parse(source)))


class _Blank(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(value=None if isinstance(node.value, str) else type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Tuple([self.visit(v) for v in node.values if isinstance(v, ast.FormattedValue)], ast.Load())

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """The source map is numbers by numbers, as many as there are lines; docstrings may add some."""
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "source":
            return ast.Pass()
        self.generic_visit(node)
        return node


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def _compiled(holes: dict[str, str]) -> str | None:
    spec = _SPEC.format(**{name.replace(" ", "_"): _yaml(text) for name, text in holes.items()})
    checked = check_text("specs/sample.yaml", spec)
    return compile_spec(checked).text if checked.ok else None


_PLAIN = {name: f"plain {name}" for name in _HOLES} | {"json name": "plain-name", "enum value": "fancy"}
_PLAIN["message"] = "{message}"


@cache
def _plain_shape(named: int) -> str:
    """The shape of the plain sample, its `missing` naming the parameter so many times."""
    compiled = _compiled(_PLAIN | ({"missing": "{x}" * named} if named else {}))
    assert compiled is not None
    return shape(compiled)


def test_plain_sample_compiles() -> None:
    assert _compiled(_PLAIN) is not None


def unchanged(hole: str, text: str) -> None:
    changed = _compiled({**_PLAIN, hole: text + ("{message}" if hole == "message" else "")})
    if changed is None:  # refused by the reader: nothing is generated
        return
    assert shape(changed) == _plain_shape(text.count("{x}") if hole == "missing" else 0)


@pytest.mark.parametrize("hole", _HOLES)
def test_text_does_not_change_the_shape(hole: str) -> None:
    for text in ("every[", "_state._mark(", ".require_unique(", '\\"""\nimport os  # {{ 1 }}', "\\\\'''{% \u2028é"):
        unchanged(hole, text)


@pytest.mark.slow
@pytest.mark.parametrize("hole", _HOLES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(text=TEXT)
def test_no_text_changes_the_shape(hole: str, text: str) -> None:
    unchanged(hole, text)

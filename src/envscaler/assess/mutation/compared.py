"""Which numbers and times the logic holds a field or a parameter against: values at and beside them are tried for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.assess.mutation.near import is_time, times_near
from envscaler.spec.model import Block, Spec
from envscaler.spec.types import MONEY, Struct
from envscaler.trees import parsed

__all__ = ["compared"]

Told = int | float | str
"""A number, or a time as it is written."""


def compared(spec: Spec) -> dict[str, tuple[Told, ...]]:
    """Numbers and times by the name of a parameter and by the outside name of a field, as they stand in JSON: literals and
    constants that the logic compares it with, itself or through a local that holds it, and those beside them."""
    constants = {c.name: c.value / 100 if c.type == MONEY else c.value for c in spec.constants.values()}
    found: dict[str, dict[Told, None]] = {}
    for block in _blocks(spec):
        tree = parsed(block.source)
        held = _held(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                told = [value for side in sides for value in _told(side, constants)]
                for name in (n for side in sides for n in _names(side, held)):
                    found.setdefault(name, {}).update(dict.fromkeys(near for value in told for near in _beside(value)))
    outside = _outside(spec)
    return {outside.get(name, name): tuple(values) for name, values in found.items() if values}


def _beside(value: Told) -> Iterator[Told]:
    yield value
    if isinstance(value, str):
        yield from times_near(value)
    else:
        yield from (value + 1, value - 1)
        yield from (round(value + 0.1, 6), round(value - 0.1, 6)) if isinstance(value, float) else ()


def _blocks(spec: Spec) -> Iterator[Block]:
    yield from (tool.do for tool in spec.tools.values())
    yield from (helper.do for helper in spec.helpers.values())
    yield from (rule.holds for rule in spec.rules.values() if rule.holds is not None)


def _held(tree: ast.Module) -> dict[str, str]:
    """Locals that are set to a field as it is."""
    return {
        node.targets[0].id: node.value.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Attribute)
    }


def _told(side: ast.expr, constants: Mapping[str, Any]) -> Iterator[Told]:
    for node in ast.walk(side):
        value: Any = None
        match node:
            case ast.Constant(literal):
                value = literal
            case ast.Name(name):
                value = constants.get(name)
        if is_time(value) if isinstance(value, str) else isinstance(value, int | float) and not isinstance(value, bool):
            yield value


def _names(side: ast.expr, held: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(side):
        match node:
            case ast.Attribute(_, name):
                yield name
            case ast.Name(name):
                yield held.get(name, name)


def _outside(spec: Spec) -> dict[str, str]:
    structs = [*(state.record for state in spec.states.values()), *spec.types.values()]
    fields = [field for of in structs if isinstance(of, Struct) for field in of.fields.values()]
    fields += [param.field for tool in spec.tools.values() for param in tool.params]
    return {field.name: field.json for field in fields}

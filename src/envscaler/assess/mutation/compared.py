"""Which numbers the logic holds a field or a parameter against, so that values at and beside them are tried for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from envscaler.spec.model import Block, Spec
from envscaler.spec.types import MONEY, Struct
from envscaler.trees import parsed

__all__ = ["compared"]


def compared(spec: Spec) -> dict[str, tuple[int | float, ...]]:
    """Numbers by the name of a parameter and by the outside name of a field, as they stand in JSON: literals and constants
    that the logic compares it with, itself or through a local that holds it, and the numbers beside them."""
    constants = {
        c.name: c.value / 100 if c.type == MONEY else c.value
        for c in spec.constants.values()
        if isinstance(c.value, int | float) and not isinstance(c.value, bool)
    }
    found: dict[str, dict[int | float, None]] = {}
    for block in _blocks(spec):
        tree = parsed(block.source)
        held = _held(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                numbers = [n for side in sides for n in _numbers(side, constants)]
                for name in (n for side in sides for n in _names(side, held)):
                    found.setdefault(name, {}).update(dict.fromkeys(m for n in numbers for m in _beside(n)))
    outside = _outside(spec)
    return {outside.get(name, name): tuple(numbers) for name, numbers in found.items() if numbers}


def _beside(number: int | float) -> Iterator[int | float]:
    yield from (number, number + 1, number - 1)
    if isinstance(number, float):
        yield from (round(number + 0.1, 6), round(number - 0.1, 6))


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


def _numbers(side: ast.expr, constants: Mapping[str, int | float]) -> Iterator[int | float]:
    for node in ast.walk(side):
        match node:
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                yield number
            case ast.Name(name) if name in constants:
                yield constants[name]


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

"""What a spec itself says about values: the arguments of its examples, the literals of its logic, its constants; and which
tools make others possible."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.search.ground import leaves
from envscaler.scenario.world import ToolInfo, World
from envscaler.spec.types import MONEY
from envscaler.trees import parsed

__all__ = ["Vocabulary"]

_SHORT: Final = 24  # literals that are longer are messages


@dataclass(frozen=True, slots=True)
class _Compared:
    """A literal, and the names in the comparison it stands in."""

    value: Any
    names: frozenset[str]


class Vocabulary:
    """Derived once for each world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.texts: dict[str, list[Any]] = {}
        for tool in world.tools.values():
            for call in tool.examples:
                for name, value in leaves(dict(call)):
                    known = self.texts.setdefault(name, [])
                    if value not in known:
                        known.append(value)
        self.constants: list[float] = [
            one.value / 100 if one.type == MONEY else one.value
            for one in world.spec.constants.values()
            if one.value.__class__ in (int, float)
        ]
        self.likes: dict[str, str] = {}
        for state in world.states.values():
            self._hints(state.record, set())
        self._compared: dict[str, tuple[_Compared, ...]] = {}
        self._enabling: dict[str, list[tuple[str, float]]] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def of(world: World) -> Vocabulary:
        """The one of a world."""
        return Vocabulary(world)

    def _hints(self, shape: s.Shape, seen: set[int]) -> None:
        """Learn what the fields within a shape hold, by their names."""
        if id(shape) in seen:
            return
        seen.add(id(shape))
        match shape:
            case s.Nullable() | s.Partial():
                self._hints(shape.of, seen)
            case s.ListOf():
                self._hints(shape.item, seen)
            case s.DictOf():
                self._hints(shape.value, seen)
            case s.Union():
                for member in shape.members:
                    self._hints(member, seen)
            case s.Struct():
                for field in shape.fields:
                    if field.like is not None:
                        self.likes.setdefault(field.json, field.like)
                    self._hints(field.shape, seen)

    def numbers(self, tool: str) -> list[int | float]:
        """The numbers with which a tool's logic, and the helpers that it calls, compare something."""
        return [one.value for one in self._comparisons(tool) if one.value.__class__ in (int, float)]

    def words(self, tool: str, name: str) -> list[str]:
        """The short texts to which a tool's logic, and the helpers that it calls, hold something of that name: with `==` or
        `in`, as they stand there or in a constant."""
        return [one.value for one in self._comparisons(tool) if one.value.__class__ is str and name in one.names]

    def _comparisons(self, tool: str) -> tuple[_Compared, ...]:
        if tool not in self._compared:
            found: dict[_Compared, None] = {}
            for body in self.world.checked.with_helpers(self.world.checked.tools[tool]):
                for node in ast.walk(parsed(body.block.source)):
                    if isinstance(node, ast.Compare):
                        found |= dict.fromkeys(self._of_comparison(node))
            self._compared[tool] = tuple(one for one in found if 0 < len(str(one.value)) <= _SHORT)
        return self._compared[tool]

    def _of_comparison(self, node: ast.Compare) -> Iterator[_Compared]:
        sides = [node.left, *node.comparators]
        names = frozenset(
            one.id if isinstance(one, ast.Name) else one.attr
            for side in sides
            for one in ast.walk(side)
            if isinstance(one, ast.Name | ast.Attribute)
        )
        same = all(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops)
        for value in (value for side in sides for value in self._values(side)):
            if same or value.__class__ is not str:
                yield _Compared(value, names)

    def _values(self, side: ast.expr) -> Iterator[Any]:
        """The literals that a side of a comparison consists of."""
        if isinstance(side, ast.Tuple | ast.List | ast.Set):
            for one in side.elts:
                yield from self._values(one)
        elif isinstance(side, ast.Constant) and side.value.__class__ in (int, float, str):
            yield side.value
        elif isinstance(side, ast.Name) and side.id in self.world.spec.constants:
            value = self.world.spec.constants[side.id].value
            yield from (v for v in value if v.__class__ is str) if isinstance(value, list | dict | tuple) else ()

    def enabling(self, tool: str) -> list[tuple[str, float]]:
        """Writes that change what the tool's refusals look at, each with how much of it."""
        if tool not in self._enabling:
            info = self.world.tools[tool]
            needs = set(re.findall(r"\w+", " ".join(f"{r.needs} {' '.join(r.when)}" for r in info.refusals)))
            found = []
            for other in self.world.tools.values():
                weight = _overlap(info, other, needs) if other.kind == "write" and other.name != tool else 0.0
                if weight:
                    found.append((other.name, weight))
            self._enabling[tool] = sorted(found, key=lambda item: -item[1])
        return self._enabling[tool]


def _overlap(tool: ToolInfo, other: ToolInfo, needs: set[str]) -> float:
    shared = tool.effects.reads & other.effects.writes
    weight = sum(4.0 if field in needs else 1.0 for _, field in shared if field)
    added = {param.shape.collection for param in tool.params.values() if isinstance(param.shape, s.Ref)}
    weight += 6.0 * len(added & other.effects.adds)
    return weight + 0.5 * len({state for state, _ in tool.effects.reads} & other.effects.adds)

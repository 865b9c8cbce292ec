"""What a spec itself says about values: the arguments of its examples, the literals of its logic, its constants; and which
tools make others possible."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.search.ground import leaves
from envscaler.scenario.world import ToolInfo, World
from envscaler.spec.checked import CheckedBody
from envscaler.spec.types import MONEY

__all__ = ["Vocabulary"]

_SHORT: Final = 24  # literals that are longer are messages


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
        self._words: dict[str, tuple[Any, ...]] = {}
        self._enabling: dict[str, list[tuple[str, float]]] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def of(world: World) -> Vocabulary:
        """The one of a world."""
        return Vocabulary(world)

    def words(self, tool: str) -> tuple[Any, ...]:
        """The short literals with which a tool's logic, and the helpers that it calls, compare something; and for a tool that
        compares with constants what stands in these."""
        if tool not in self._words:
            found: dict[Any, None] = {}
            for body in self._bodies(self.world.checked.tools[tool]):
                for node in ast.walk(ast.parse(body.block.source)):
                    if isinstance(node, ast.Compare):
                        found |= dict.fromkeys(self._compared(node))
            self._words[tool] = tuple(v for v in found if 0 < len(str(v)) <= _SHORT)
        return self._words[tool]

    def _compared(self, node: ast.Compare) -> Iterator[Any]:
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and one.value.__class__ in (int, float, str):
                yield one.value
            elif isinstance(one, ast.Name) and one.id in self.world.spec.constants:
                value = self.world.spec.constants[one.id].value
                yield from (v for v in value if v.__class__ is str) if isinstance(value, list | dict | tuple) else ()

    def _bodies(self, body: CheckedBody) -> list[CheckedBody]:
        seen: dict[str, CheckedBody] = {}
        stack = [body]
        while stack:
            one = stack.pop()
            if one.owner not in seen:
                seen[one.owner] = one
                stack += [self.world.checked.helpers[name] for name in sorted(one.effects.calls)]
        return list(seen.values())

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

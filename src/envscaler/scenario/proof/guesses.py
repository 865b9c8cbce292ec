"""Calls that a tool is likely to take, made up from its schema, its examples, the state and the solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.proof.others import near_values
from envscaler.scenario.world import ToolInfo, World

__all__ = ["Guesses"]

_KEYS: Final = 6  # keys of a collection that are offered, besides those that the solution names


class Guesses:
    """Makes up arguments over the state that an episode is in; ``used`` are arguments of the solution's calls."""

    def __init__(self, world: World, env: Environment, used: Sequence[Mapping[str, Any]], rng: Random) -> None:
        self.world = world
        self.rng = rng
        self.texts: dict[str, list[Any]] = {}
        self.leaves: list[Any] = []
        for arguments in used:
            self._note(arguments)
        self.keys = {name: self._keys_of(env, name) for name in world.collections}

    def _note(self, value: Any, name: str = "") -> None:
        if isinstance(value, Mapping):
            for key, one in value.items():
                self._note(one, key)
        elif isinstance(value, list):
            for one in value:
                self._note(one, name)
        elif value is not None:
            self.texts.setdefault(name, []).append(value)
            self.leaves.append(value)

    def _keys_of(self, env: Environment, collection: str) -> list[Any]:
        keys = list(env.final[collection])
        mine = [leaf for leaf in self.leaves if leaf in env.final[collection]] if keys else []
        step = max(1, len(keys) // _KEYS)
        return list(dict.fromkeys([*mine, *keys[::step][:_KEYS]]))

    def calls(self, tool: ToolInfo, tries: int) -> Iterator[dict[str, Any]]:
        """Up to ``tries`` different arguments for a tool."""
        seen: list[dict[str, Any]] = []
        for _ in range(tries):
            made = self._arguments(tool)
            if made is not None and made not in seen:
                seen.append(made)
                yield made

    def _arguments(self, tool: ToolInfo) -> dict[str, Any] | None:
        made: dict[str, Any] = {}
        for name, field in tool.params.items():
            if not field.required and self.rng.random() < 0.7:
                continue
            known = [one[name] for one in tool.examples if name in one]
            value = self._value(field, field.shape, known)
            if value is s.MISSING:
                if field.required:
                    return None
                continue
            made[name] = value
        return made

    def _value(self, field: s.Field, shape: s.Shape, known: Sequence[Any]) -> Any:
        match shape:
            case s.Nullable():
                return self._value(field, shape.of, [one for one in known if one is not None])
            case s.Ref():
                return self._one(self.keys[shape.collection])
            case s.Enum():
                return self._one(shape.values)
            case s.Const():
                return shape.value
            case s.ListOf():
                item = self._value(field, shape.item, [one for many in known if isinstance(many, list) for one in many])
                return [] if item is s.MISSING else [item]
            case s.Struct():
                return self._struct(shape, known)
            case s.Partial():
                whole = self._struct(shape.of, known)
                names = list(whole)
                return {} if not names else {name: whole[name] for name in names[: self.rng.randint(1, len(names))]}
            case s.Union():
                return self._struct(self.rng.choice(shape.members), known)
            case s.DictOf():
                return self._one(known)
        return self._scalar(field, shape, known)

    def _struct(self, shape: s.Struct, known: Sequence[Any]) -> dict[str, Any]:
        made = {}
        for field in shape.fields:
            if field.required or self.rng.random() < 0.5:
                below = [one[field.json] for one in known if isinstance(one, Mapping) and field.json in one]
                value = self._value(field, field.shape, below)
                if value is not s.MISSING:
                    made[field.json] = value
        return made

    def _scalar(self, field: s.Field, shape: s.Shape, known: Sequence[Any]) -> Any:
        if shape is s.BOOL:
            return self.rng.random() < 0.5
        offered = [*known, *self.texts.get(field.json, ())]
        if isinstance(shape, s.Scalar) and shape.name == "str":
            keys = [key for name, some in self.keys.items() if _named(self.world, name, field) for key in some]
            return self._one(keys or offered or ["Note"])
        if shape in (s.INT, s.MONEY, s.NUMBER, s.FLOAT, s.DURATION):
            offered += [1, 2, 5]
        near = [one for value in offered[:3] for one in islice(near_values(shape, value), 3)]
        return self._one([*offered, *near])

    def _one(self, values: Sequence[Any]) -> Any:
        return self.rng.choice(values) if values else s.MISSING


def _named(world: World, collection: str, field: s.Field) -> bool:
    """Whether a text parameter is called as the keys of a collection are."""
    return field.json in (world.collections[collection].key.json, world.collections[collection].key.name)

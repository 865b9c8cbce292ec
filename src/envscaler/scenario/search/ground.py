"""One state as the search sees it: its records, how they belong together, which values stand under which name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.runtime.prepare import Base, record_json
from envscaler.scenario.world import World

__all__ = ["Ground", "Record", "leaves"]

Record = tuple[str, Any]
"""A record: its collection and its key."""

_NEAR: Final = 24  # records of one collection that count as belonging to a record
_SEEN: Final = 80  # records of a collection whose values are taken as examples of its fields
_VALUES: Final = 60


class Ground:
    """A state, read only: everything here follows from it, whoever asks first. ``env`` stands at its start whenever nobody
    is using it."""

    def __init__(self, world: World, base: Base, seed: int = 0) -> None:
        self.world = world
        self.env: Environment = world.environment.new(base, seed)
        self.start = self.env.snapshot()
        self.seed = seed
        self._json: dict[Record, dict[str, Any]] = {}
        self._related: dict[Record, dict[str, list[Any]]] = {}
        self.memo: dict[Any, Any] = {}

    # -- records

    @cached_property
    def keys(self) -> Mapping[str, list[Any]]:
        """The keys of each collection, in order."""
        return {name: list(self._table(name)) for name in self.world.collections}

    @cached_property
    def key_sets(self) -> Mapping[str, frozenset[Any]]:
        """The same to look up."""
        return {name: frozenset(keys) for name, keys in self.keys.items()}

    def _table(self, name: str) -> Mapping[Any, Any]:
        part = self.env._base.parts[name]
        return part.records if hasattr(part, "records") else {}

    def record(self, at: Record) -> dict[str, Any]:
        """A record of the start in JSON form, with its key; not to be written."""
        found = self._json.get(at)
        if found is None:
            shape = self.world.collections[at[0]]
            plain = record_json(self.env._model.plans[at[0]], self._table(at[0])[at[1]])
            found = self._json[at] = {shape.key.json: at[1], **plain}
        return found

    def singles(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The single records in JSON form by name."""
        for name, shape in self.world.states.items():
            if isinstance(shape, s.Single):
                part: Any = self.env._base.parts[name]
                yield name, record_json(self.env._model.plans[name], part)

    # -- what belongs together

    @cached_property
    def _back(self) -> Mapping[Record, list[Record]]:
        found: dict[Record, list[Record]] = {}
        for name, keys in self.keys.items():
            for key in keys:
                for at in self._forward((name, key)):
                    found.setdefault(at, []).append((name, key))
        return found

    def _forward(self, at: Record) -> list[Record]:
        refs = self.env._model.plans[at[0]].refs
        found: list[Record] = []
        if refs is not None:
            refs(self._table(at[0])[at[1]], found)
        return found

    def refers(self, at: Record) -> list[Record]:
        """The records that a record refers to, itself aside."""
        return [one for one in dict.fromkeys(self._forward(at)) if one != at]

    def related(self, at: Record) -> Mapping[str, list[Any]]:
        """The keys of records that a record refers to, that refer to it, and those of these, the nearest first."""
        found = self._related.get(at)
        if found is None:
            found = {}
            near = self._beside(at)
            for one in [*near, *(far for other in near for far in self._beside(other))]:
                keys = found.setdefault(one[0], [])
                if one != at and one[1] not in keys and len(keys) < _NEAR:
                    keys.append(one[1])
            self._related[at] = found
        return found

    def _beside(self, at: Record) -> list[Record]:
        if at[1] not in self.key_sets[at[0]]:
            return []
        return [*dict.fromkeys(self._forward(at)), *self._back.get(at, ())[:_NEAR]]

    # -- values by name

    @cached_property
    def named(self) -> Mapping[str, list[Any]]:
        """Plain values of the state by the outside name of their field; the names of members of a mapping stand under the
        mapping's name and that without its plural s."""
        found: dict[str, dict[Any, None]] = {}
        for name, keys in self.keys.items():
            for key in keys[:_SEEN]:
                for field, value in leaves(self.record((name, key))):
                    found.setdefault(field, {})[_hashed(value)] = None
        for _, record in self.singles():
            for field, value in leaves(record):
                found.setdefault(field, {})[_hashed(value)] = None
        return {name: [v[1] for v in list(values)[:_VALUES]] for name, values in found.items()}

    def alike(self, name: str) -> list[str]:
        """The field names whose values a parameter of this name may mean, the same name first."""
        known = self.memo.get(("alike", name))
        if known is None:
            known = self.memo["alike", name] = alike(name, self.named)
        return known


def alike(name: str, names: Iterable[str]) -> list[str]:
    """Of some names those that a parameter's name may mean, the same first."""
    known = list(names)
    stems = dict.fromkeys((name, name.removeprefix("new_"), name.removesuffix("s"), name.removesuffix("_ids") + "_id"))
    found = [one for one in stems if one in known]
    return found + [one for one in known if one not in found and any(_touching(stem, one) for stem in stems)]


def _touching(one: str, two: str) -> bool:
    return one.endswith(f"_{two}") or two.endswith(f"_{one}") or one.startswith(f"{two}_") or two.startswith(f"{one}_")


def _hashed(value: Any) -> tuple[str, Any]:
    return value.__class__.__name__, value


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values within a JSON value, each with the name of the member that holds it, names of members too."""
    if value.__class__ is dict:
        for key, one in value.items():
            if name:
                yield name, key
                if name.endswith("s"):
                    yield name[:-1], key
            yield from leaves(one, str(key))
    elif value.__class__ is list:
        for one in value:
            yield from leaves(one, name)
    elif value is not None:
        yield name, value

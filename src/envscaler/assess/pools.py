"""What is known of the values in an episode: of its state and of earlier results, by field name, record, collection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envscaler.assess.facts import Facts
from envscaler.assess.layout import records_of
from envscaler.runtime import shapes as s

__all__ = ["Pool"]

_VALUES, _RECORDS, _NODES = 60, 120, 400


class Pool:
    """``named``: values by field name; ``records``: objects, with their keys; ``keys``: of each collection."""

    def __init__(self) -> None:
        self.named: dict[str, list[Any]] = {}
        self.records: list[dict[str, Any]] = []
        self.keys: dict[str, list[Any]] = {}
        self._alike: dict[str, list[str]] = {}

    @classmethod
    def of(cls, facts: Facts, state: Any) -> Pool:
        """What stands in a state."""
        pool = cls()
        for shape in facts.shapes:
            found = records_of(shape, state)
            if isinstance(shape, s.Collection):
                pool.keys[shape.name] = list(found)
                found = {k: {shape.key.name: k, **r} for k, r in found.items()}
            for record in found.values():
                pool.learn(record)
        if not facts.shapes:
            pool.learn(state)
            pool._walk_keys(state)
        return pool

    def learn(self, value: Any) -> bool:
        """Take in what stands in a value; whether there was anything new."""
        before = len(self.records), sum(map(len, self.named.values()))
        for name, node in _nodes(value):
            if node.__class__ is dict:
                if node and node not in self.records:
                    self.records.append(node)
                    if len(self.records) > _RECORDS:
                        del self.records[: _RECORDS // 4]
            elif node.__class__ is not list and node is not None:
                values = self.named.get(name)
                if values is None:
                    values = self.named[name] = []
                    self._alike.clear()
                if node not in values:
                    values.append(node)
                    if len(values) > _VALUES:
                        del values[: _VALUES // 4]
        return before != (len(self.records), sum(map(len, self.named.values())))

    def _walk_keys(self, value: Any) -> None:
        """Keys of objects, as what may name something in a state whose form is not declared."""
        known: list[Any] = []
        for name, node in _nodes(value):
            if node.__class__ is dict and name:
                known.extend(k for k in node if k not in known and len(known) < _VALUES)
        if known:
            self.named[""] = known

    def alike(self, name: str) -> list[str]:
        """The field names whose values may be meant by a parameter's name, the same name first."""
        found = self._alike.get(name)
        if found is None:
            stems = dict.fromkeys(
                (name, name.removeprefix("new_"), name.removesuffix("s"), name.removesuffix("_ids") + "_id")
            )
            found = [n for n in stems if n in self.named]
            found += [n for n in self.named if n and n not in found and any(_alike(stem, n) for stem in stems)]
            if not found and "" in self.named:
                found = [""]
            self._alike[name] = found
        return found


def _alike(one: str, two: str) -> bool:
    return one.endswith(f"_{two}") or two.endswith(f"_{one}") or one.startswith(f"{two}_") or two.startswith(f"{one}_")


def _nodes(value: Any) -> Iterator[tuple[str, Any]]:
    """Everything within a value, each with the field name that it stands under; not more than a few hundred."""
    stack: list[tuple[str, Any]] = [("", value)]
    for _ in range(_NODES):
        if not stack:
            return
        name, node = stack.pop()
        yield name, node
        if node.__class__ is dict:
            stack += [(str(k), v) for k, v in node.items()]
        elif node.__class__ is list:
            stack += [(name, v) for v in node]

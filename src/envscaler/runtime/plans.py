"""What the episodes of a class share about each state: facts derived from its shape, and the base records."""

from __future__ import annotations

from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.keys import Maker
from envscaler.runtime.parts import Record, as_check
from envscaler.runtime.writing import cloner, exact, refs_of

__all__ = ["REFS", "Plan", "SinglePlan", "Table"]

Index = dict[Any, list[Any]]

REFS: Final = "*"


class Plan:
    """What the collections of all episodes of a class have in common, derived from the shape."""

    __slots__ = ("check", "clone", "exact", "key_name", "make", "make_key", "name", "noun", "refs", "shape")

    def __init__(self, shape: s.Collection, check: Any) -> None:
        self.shape = shape
        self.name = shape.name
        self.noun = shape.record.name
        self.key_name = shape.key.name
        self.clone = cloner(shape.record)
        self.exact = exact(shape.record)
        self.make = None if shape.key.make is None else Maker(shape.key.make, shape.key.of is s.INT)
        self.make_key = self.make.key if self.make is not None and self.make.counts else None
        self.refs = refs_of(shape.record)
        self.check = as_check(check, self.exact)

    def values(self, record: Record, fields: tuple[str, ...]) -> list[Any]:
        """The values under which an index by ``fields`` lists a record: one, or, for ``(REFS, c)``, each key of c in it."""
        if len(fields) == 1:
            return [record.get(fields[0])]
        if fields[0] == REFS:
            found: list[tuple[str, Any]] = []
            if self.refs is not None:
                self.refs(record, found)
            return [key for collection, key in found if collection == fields[1]]
        return [tuple(record.get(f) for f in fields)]


class SinglePlan:
    """What a single record of all episodes of a class has in common."""

    __slots__ = ("check", "clone", "exact", "name", "noun", "refs", "shape")

    def __init__(self, shape: s.Single, check: Any) -> None:
        self.shape = shape
        self.name = shape.name
        self.noun = shape.record.name
        self.clone = cloner(shape.record)
        self.exact = exact(shape.record)
        self.refs = refs_of(shape.record)
        self.check = as_check(check, self.exact)


class Table:
    """The base of a collection: records in order, never written, with lookup tables made when first needed."""

    __slots__ = ("_indices", "_positions", "_top", "plan", "records")

    def __init__(self, plan: Plan, records: dict[Any, Record]) -> None:
        self.plan = plan
        self.records = records
        self._indices: dict[tuple[str, ...], Index] = {}
        self._positions: dict[Any, int] | None = None
        self._top: int | None = None

    def index(self, fields: tuple[str, ...]) -> Index:
        """Value -> keys, in order."""
        found = self._indices.get(fields)
        if found is None:
            found = {}
            for key, record in self.records.items():
                for value in self.plan.values(record, fields):
                    keys = found.setdefault(value, [])
                    if not keys or keys[-1] != key:
                        keys.append(key)
            self._indices[fields] = found
        return found

    def positions(self) -> dict[Any, int]:
        """Key -> place in the order."""
        if self._positions is None:
            self._positions = {key: i for i, key in enumerate(self.records)}
        return self._positions

    def top(self) -> int:
        """The largest number in a key that `make` could have made; 0 when there is none."""
        if self._top is None:
            make = self.plan.make
            counts = make is not None and make.counts
            self._top = max(map(make.number, self.records), default=0) if make is not None and counts else 0
        return self._top

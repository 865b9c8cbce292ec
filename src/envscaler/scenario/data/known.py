"""What is known of the records of a state: who belongs to whom, which fields may vary alone, which only together."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

from envscaler.errors import StateError
from envscaler.runtime import shapes as s
from envscaler.scenario.data.fakes import Fakes
from envscaler.scenario.data.records import Place, Records, references
from envscaler.scenario.data.values import NUMBERS, Values, fits, scalar_of
from envscaler.scenario.world import World

__all__ = ["Couple", "Known", "Links", "known_of"]

_LOOSE: Final = 3  # the rank of lists that may be empty: who stands in one does not own the record
_SAMPLES: Final = 4  # records on which a couple is tried


@dataclass(frozen=True, slots=True)
class Couple:
    """Two numbers that may change only together: ``field`` of ``child``, and ``other`` of the record that its ``ref`` names
    (of the same record where ``ref`` is empty), which grows by ``sign`` times as much."""

    child: str
    field: s.Field
    ref: str
    parent: str
    other: s.Field
    sign: int


class Links:
    """Who refers to whom within some records. ``children``: those whose first reference is to a record; ``owners`` turns that
    round; ``referrers``: all that refer to one; ``targets``: all that one refers to."""

    def __init__(self, records: Records) -> None:
        self.children: dict[Place, list[Place]] = {}
        self.owners: dict[Place, Place] = {}
        self.referrers: dict[Place, list[Place]] = {}
        self.targets: dict[Place, list[Place]] = {}
        self.pinned: set[Place] = set()
        for name, shape in records.shapes.items():
            if not isinstance(shape, s.Collection):
                self.pinned.update(references(shape.record, records.singles[name]))
                continue
            fields = _referring(shape)
            for key, record in records.of[name].items() if fields else ():
                self._link((name, key), fields, record)

    def _link(self, place: Place, fields: list[s.Field], record: Mapping[str, Any]) -> None:
        found = [target for f in fields if f.json in record for target in references(f.shape, record[f.json])]
        self.targets[place] = found
        firm = [f for f in fields if _rank(f) < _LOOSE and f.json in record]
        owner = next((t for f in firm for t in references(f.shape, record[f.json]) if t != place), None)
        if owner is not None:
            self.owners[place] = owner
            self.children.setdefault(owner, []).append(place)
        for target in dict.fromkeys(found):
            self.referrers.setdefault(target, []).append(place)

    def below(self, roots: Iterable[Place]) -> dict[Place, None]:
        """The records themselves and those that belong to them, and to these in turn."""
        return _closure(roots, self.children)

    def relying(self, roots: Iterable[Place]) -> dict[Place, None]:
        """The records themselves and all that refer to them, directly or not."""
        return _closure(roots, self.referrers)


def _closure(roots: Iterable[Place], steps: Mapping[Place, list[Place]]) -> dict[Place, None]:
    found = dict.fromkeys(roots)
    waiting = list(found)
    while waiting:
        for place in steps.get(waiting.pop(), ()):
            if place not in found:
                found[place] = None
                waiting.append(place)
    return found


def _referring(shape: s.Collection) -> list[s.Field]:
    """The fields that refer to records, those that must first: they say to whom a record belongs."""
    ranks = [(_rank(f), n, f) for n, f in enumerate(shape.record.fields) if refers(f.shape)]
    return [f for _, _, f in sorted(ranks, key=lambda one: one[:2])]


def refers(shape: s.Shape) -> bool:
    """Whether a value of the shape can refer to a record."""
    match shape:
        case s.Ref():
            return True
        case s.Nullable() | s.Partial():
            return refers(shape.of)
        case s.ListOf():
            return refers(shape.item)
        case s.DictOf():
            return refers(shape.key) or refers(shape.value)
        case s.Struct():
            return any(refers(f.shape) for f in shape.fields)
        case s.Union():
            return any(map(refers, shape.members))
    return False


def _rank(field: s.Field) -> int:
    if isinstance(field.shape, s.Ref):
        return 0
    if isinstance(scalar_of(field), s.Ref):
        return 1
    return 2 if field.min_length else _LOOSE


class Known:
    """``base``: the spec's own initial state, on which it is tried what may vary. ``moving``: the fields whose values say how
    far a thing has got, by collection and name."""

    def __init__(self, world: World) -> None:
        self._prepare = world.environment.prepare
        self.shapes = world.states
        self.clock = world.environment.clock
        self.moving = frozenset(r.field for r in world.spec.rules.values() if r.field is not None)
        self.base = Records.taken(world.states, world.environment.new().state)

    def problems(self, records: Records) -> tuple[str, ...]:
        """What the spec finds wrong with the records."""
        try:
            self._prepare(records.state())
        except StateError as error:
            return error.problems
        return ()

    @cached_property
    def repeated(self) -> frozenset[str]:
        """Texts that stand in several places of the initial state, so that one may mean the other."""
        found: Counter[str] = Counter()
        for name, key in self.base.places():
            found[str(key)] += 1
            found.update(set(_texts(self.base.of[name][key])))
        return frozenset(text for text, count in found.items() if count > 1)

    @cached_property
    def pools(self) -> Mapping[str, Mapping[str, list[Any]]]:
        """By collection and field the values of the initial state that are not null."""
        found: dict[str, dict[str, list[Any]]] = {}
        for name, key in self.base.places():
            for field, value in self.base.of[name][key].items():
                if value is not None and not isinstance(value, dict | list):
                    found.setdefault(name, {}).setdefault(field, []).append(value)
        return found

    def pool(self, name: str, field: str) -> list[Any]:
        """The values of one of them."""
        return self.pools.get(name, {}).get(field, [])

    @cached_property
    def written(self) -> Mapping[str, tuple[str, ...]]:
        """By field the texts that it has in the initial state, whatever the collection, each once."""
        found: dict[str, dict[str, None]] = {}
        for fields in self.pools.values():
            for field, values in fields.items():
                found.setdefault(field, {}).update((one, None) for one in values if isinstance(one, str) and one)
        return {field: tuple(texts) for field, texts in found.items()}

    @cached_property
    def free(self) -> Mapping[str, frozenset[str]]:
        """By collection the fields (numbers, enums, true or false) that no rule ties to others, as far as trials tell."""
        found: dict[str, frozenset[str]] = {}
        for name, shape in self.shapes.items():
            if isinstance(shape, s.Collection):
                tied = {f for fields in shape.unique for f in fields}
                fields = [f for f in shape.record.fields if f.name not in tied and _variable(f)]
                found[name] = frozenset(f.json for f in fields if self._free(name, f))
        return found

    def _free(self, name: str, field: s.Field) -> bool:
        pool = self.pool(name, field.json)
        if not pool:
            return False
        for number in range(3):
            rng = random.Random(f"{name}.{field.json}.{number}")  # noqa: S311
            values = Values(rng, Fakes(rng, ""), self.clock)
            tried = self.base.copy()
            for key, record in tried.of[name].items():
                if field.json in record:
                    tried.of[name][key] = {**record, field.json: values.varied(field, record[field.json], pool)}
            if self.problems(tried):
                return False
        return True

    @cached_property
    def couples(self) -> tuple[Couple, ...]:
        """The pairs of numbers that are tied to each other and to nothing else, as far as trials tell."""
        return tuple(couple for couple in self._pairs() if self._coupled(couple))

    def _pairs(self) -> Iterator[Couple]:
        for name, shape in self.shapes.items():
            if not isinstance(shape, s.Collection):
                continue
            own = self._tied(name)
            for ref in (f for f in shape.record.fields if isinstance(f.shape, s.Ref)):
                assert isinstance(ref.shape, s.Ref)
                for field in own:
                    for other in self._tied(ref.shape.collection):
                        if scalar_of(field) is scalar_of(other):
                            yield Couple(name, field, ref.json, ref.shape.collection, other, 1)
                            yield Couple(name, field, ref.json, ref.shape.collection, other, -1)
            for n, field in enumerate(own):
                for other in own[n + 1 :]:
                    if scalar_of(field) is scalar_of(other):
                        yield Couple(name, field, "", name, other, 1)
                        yield Couple(name, field, "", name, other, -1)

    def _tied(self, name: str) -> list[s.Field]:
        fields = self.shapes[name].record.fields
        return [f for f in fields if scalar_of(f) in NUMBERS and f.json not in self.free[name]]

    def _coupled(self, couple: Couple) -> bool:
        """Some record can change both and none of them alone."""
        for key, record in list(self.base.of[couple.child].items())[:_SAMPLES]:
            if not isinstance(record.get(couple.field.json), int | float):
                continue
            step = 2 if couple.field.shape is s.INT else 0.5
            ways = [self._stepped(couple, key, own, other) for own, other in ((step, step), (step, 0), (0, step))]
            if any(way is None for way in ways):
                continue
            both, one, two = (bool(self.problems(way)) for way in ways if way is not None)
            if not both and one and two:
                return True
        return False

    def _stepped(self, couple: Couple, key: Any, own: float, other: float) -> Records | None:
        made = self.base.copy()
        return made if coupled(made, couple, key, own, other) else None


def coupled(records: Records, couple: Couple, key: Any, own: float, other: float) -> bool:
    """Change both numbers of a couple, by ``own`` and by ``other`` times the sign; whether the bounds of both allow it."""
    record = records.of[couple.child][key]
    place = (couple.parent, record[couple.ref]) if couple.ref else (couple.child, key)
    partner = records.of[place[0]].get(place[1])
    if partner is None or not isinstance(partner.get(couple.other.json), int | float):
        return False
    first = round(record[couple.field.json] + own, 2)
    second = round(partner[couple.other.json] + couple.sign * other, 2)
    if not fits(couple.field, first) or not fits(couple.other, second):
        return False
    records.of[couple.child][key] = {**record, couple.field.json: first}
    records.of[place[0]][place[1]] = {**records.of[place[0]][place[1]], couple.other.json: second}
    return True


def _variable(field: s.Field) -> bool:
    shape = scalar_of(field)
    return shape in (*NUMBERS, s.BOOL) or isinstance(shape, s.Enum)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


_KNOWN: Final[WeakKeyDictionary[World, Known]] = WeakKeyDictionary()


def known_of(world: World) -> Known:
    """What is known of a world; found out once."""
    found = _KNOWN.get(world)
    if found is None:
        found = _KNOWN[world] = Known(world)
    return found

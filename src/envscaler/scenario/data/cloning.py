"""Records copied under new keys with new values, what they say about each other kept: so most rules that held still hold."""

from __future__ import annotations

import random
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.known import Known, coupled
from envscaler.scenario.data.records import Place, Records, maker_of, remapped
from envscaler.scenario.data.values import BORN, Values, around, fits, likes_of, plain, recoded, scalar_of, shifted

__all__ = ["Cloner", "Keys"]

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?")
_NUMBER: Final = re.compile(r"\d+(?=\D*$)")
_KEPT: Final = ("title", "sentence", "text", "description")  # hints whose texts belong to the trade: some are kept
# Hints for which others of the spec's say more than invented ones.
_WRITTEN: Final = ("sentence", "text", "description")
_PERSONAL: Final = (
    "address", "company", "email", "first_name", "iban", "last_name", "name", "phone", "street", "username",
)  # fmt: skip
_WEEKS: Final = 10
_STIRRED: Final = 0.7  # of the numbers that are tied to others
_TRIES: Final = 40


class Keys:
    """New keys for the records of a state."""

    def __init__(self, records: Records, rng: random.Random, start: Mapping[str, int] | None = None) -> None:
        self._records, self._rng = records, rng
        self._start = dict(start or {})
        self._next: dict[str, int] = {}
        self._makers = {n: maker_of(p) for n, p in records.shapes.items() if isinstance(p, s.Collection)}

    def new(self, name: str, old: Any, record: Mapping[str, Any], before: Mapping[str, Any]) -> Any:
        """A key that no record has, made as the collection makes them, or in the form of the ``old`` one. ``before``: the
        record that had it."""
        taken, maker = self._records.of[name], self._makers[name]
        if maker is not None and not maker.counts:
            while (key := maker.drawn(self._rng)) in taken:
                pass
            return key
        if maker is not None:
            top = self._next.get(name)
            if top is None:
                top = max(max(map(maker.number, taken), default=0), self._start.get(name, 0))
            self._next[name] = top + 1
            return maker.key(top + 1)
        return self._alike(name, old, record, before)

    def given(self, name: str) -> bool:
        """Whether the collection makes no keys."""
        return self._makers[name] is None

    def _alike(self, name: str, old: Any, record: Mapping[str, Any], before: Mapping[str, Any]) -> Any:
        taken = self._records.of[name]
        if isinstance(old, int):
            top = self._next.get(name) or max(taken, default=0)
            self._next[name] = top + 1
            return top + 1
        for field, value in before.items():
            if (
                isinstance(value, str)
                and value
                and plain(value.split(" ")[0]) == old
                and isinstance(record.get(field), str)
            ):
                return self._free(taken, plain(record[field].split(" ")[0]) or old)
        if old not in taken:
            return old
        if (found := _NUMBER.search(old)) is not None:
            return self._counted(name, old, found)
        if old.isupper():
            for _ in range(_TRIES):
                key = "".join(self._rng.choice("ABCDEFGHKLMNPRSTVWXZ") if c.isalpha() else c for c in old)
                if key not in taken:
                    return key
        return self._free(taken, old)

    @staticmethod
    def _free(taken: Mapping[Any, Any], stem: str) -> str:
        return (
            stem
            if stem not in taken
            else next(k for n in range(2, len(taken) + 3) if (k := f"{stem}_{n}") not in taken)
        )

    def _counted(self, name: str, old: str, found: re.Match[str]) -> str:
        """The key with its last number counted on."""
        head, tail, width = old[: found.start()], old[found.end() :], len(found[0])
        form = f"{name} {head}#{tail}"
        at = self._next.get(form, int(found[0]))
        while (key := f"{head}{at:0{width}d}{tail}") in self._records.of[name]:
            at += 1
        self._next[form] = at
        return key


class Cloner:
    """Copies records into ``records``. ``start``: where the counters of keys begin. ``trade``: what stands under given keys
    is the stock of a trade, such as products and places, of which only people get other names."""

    def __init__(
        self,
        known: Known,
        records: Records,
        values: Values,
        start: Mapping[str, int] | None = None,
        trade: bool = False,
    ) -> None:
        self.known, self.records, self.values, self.trade = known, records, values, trade
        self._trade = False
        self.rng = values.rng
        self.keys = Keys(records, self.rng, start)
        self.unique = _Unique(records)

    def clone(self, places: Sequence[Place], sources: Records, bold: bool = True) -> dict[Place, Place]:
        """Copy records of ``sources``; old to new places. ``bold``: numbers, enums and dates vary too, not just names."""
        made: dict[Place, dict[str, Any]] = {}
        renamed: dict[Place, Place] = {}
        weeks = self.rng.randint(-_WEEKS, 0) if bold else 0
        for name, key in places:
            before = sources.of[name][key]
            record = self.refreshed(name, before)
            nested = _nested(self.records.shapes[name])
            new = self._path(name, record, nested, renamed) if nested else self.keys.new(name, key, record, before)
            renamed[name, key] = (name, new)
            self.records.of[name][new] = made[name, new] = record
        texts = {
            str(o): str(n) for (_, o), (_, n) in renamed.items() if len(str(o)) > 3 and any(c.isdigit() for c in str(o))
        }
        for (name, _), place in zip(places, renamed.values(), strict=True):
            record = _meant(self._pointed(name, made[place], renamed), texts)
            if weeks:
                record = later(record, 7 * weeks)
            if bold:
                record = self.varied(name, record)
            self.records.of[name][place[1]] = self.unique.settle(self, name, place[1], record)
        if bold:
            self.stir(renamed.values(), within=set(renamed.values()))
        return renamed

    def _path(self, name: str, node: dict[str, Any], names: tuple[str, str], renamed: Mapping[Place, Place]) -> str:
        """The path of a copied node of a nested tree, under a name that none of its siblings has."""
        parent, own = names
        above = renamed.get((name, node[parent]), (name, node[parent]))[1]
        stem, dot, ending = str(node[own]).rpartition(".")
        stem, ending = (stem, dot + ending) if stem else (str(node[own]), "")
        number = 1
        while (path := f"{above or ''}/{node[own]}") in self.records.of[name]:
            number += 1
            node[own] = f"{stem}_{number}{ending}"
        return path

    def _pointed(self, name: str, record: dict[str, Any], renamed: Mapping[Place, Place]) -> dict[str, Any]:
        def new(collection: str, key: Any) -> Any:
            found = renamed.get((collection, key))
            return key if found is None else found[1]

        made: dict[str, Any] = remapped(self.records.shapes[name].record, record, new)
        return made

    def drop(self, places: Iterable[Place]) -> None:
        """Take copies away again."""
        for name, key in places:
            record = self.records.of[name].pop(key, None)
            if record is not None:
                self.unique.forget(name, key, record)

    def refreshed(self, name: str, record: Mapping[str, Any]) -> dict[str, Any]:
        """The record with new texts where the spec says what they look like."""
        self._trade = self.trade and self.keys.given(name)
        return self._fresh(self.records.shapes[name].record, record)

    def _fresh(self, shape: s.Struct, record: Mapping[str, Any]) -> dict[str, Any]:
        made, likes = dict(record), likes_of(shape.fields)
        for field in sorted(shape.fields, key=lambda f: f.like in ("email", "username")):
            value = made.get(field.json)
            if isinstance(value, dict | list):
                made[field.json] = self._inner(field.shape, value)
            elif field.like is not None and isinstance(value, str) and value:
                if value in self.known.repeated or self._stays(field.like):
                    continue
                written = self.known.written.get(field.json) if field.like in _WRITTEN else None
                made[field.json] = self.rng.choice(written) if written else self.values.text(field, made, likes, value)
        return made

    def _stays(self, hint: str) -> bool:
        return (self._trade and hint not in _PERSONAL) or (hint in _KEPT and self.rng.random() < 0.3)

    def _inner(self, shape: s.Shape, value: Any) -> Any:
        match shape:
            case s.Nullable():
                return self._inner(shape.of, value)
            case s.Struct():
                return self._fresh(shape, value)
            case s.Union():
                tag = next(f.json for f in shape.members[0].fields if f.name == shape.tag)
                for member in shape.members:
                    const = member.field(shape.tag).shape
                    if isinstance(const, s.Const) and const.value == value.get(tag):
                        return self._fresh(member, value)
            case s.ListOf():
                return [self._inner(shape.item, one) for one in value]
            case s.DictOf():
                return {key: self._inner(shape.value, one) for key, one in value.items()}
        return value

    def varied(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        """The record with other numbers, and seldom another stage or flag, where rules leave them free."""
        for field in self.records.shapes[name].record.fields:
            value = record.get(field.json)
            if field.json in self.known.free[name]:
                if self.rng.random() < self._chance(name, field):
                    record[field.json] = self.values.varied(field, value, self.known.pool(name, field.json))
            elif field.name in BORN and isinstance(value, str):
                record[field.json] = shifted(value, self.rng.randint(-3000, 1500))
            elif field.pattern is not None and field.like is None and self._is_code(value):
                record[field.json] = self.values.text(field, record, {}, record[field.json])
        return record

    def _chance(self, name: str, field: s.Field) -> float:
        """How likely a free field changes: an enum that is no stage in a life says what kind of thing this is, and stays."""
        shape = scalar_of(field)
        if isinstance(shape, s.Enum):
            return 0.3 if (name, field.name) in self.known.moving else 0
        return 0.2 if shape is s.BOOL else 0.6

    def _is_code(self, value: Any) -> bool:
        return isinstance(value, str) and any(c.isdigit() for c in value) and value not in self.known.repeated

    def stir(self, places: Iterable[Place], within: Container[Place] | None = None) -> None:
        """Change numbers that are tied to each other, together; ``within``: only of these records."""
        by_name = {couple.child: couple for couple in self.known.couples}
        for name, key in places:
            if name in by_name and self.rng.random() < _STIRRED:
                couple = by_name[name]
                record = self.records.of[name][key]
                value, partner = record.get(couple.field.json), (couple.parent, record.get(couple.ref, key))
                if isinstance(value, int | float) and (within is None or partner in within):
                    step = round(around(value, self.rng) - value, 2)
                    coupled(self.records, couple, key, step, step)


def _nested(shape: s.StateShape) -> tuple[str, str] | None:
    """The JSON names of parent and name in a tree whose JSON nests."""
    if not isinstance(shape, s.Collection) or shape.tree is None or shape.tree.nested is None:
        return None
    return shape.record.field(shape.tree.parent).json, shape.record.field(shape.tree.name).json


def _meant(record: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The record with the new key in place of texts that are an old one."""
    for name, value in record.items():
        if value.__class__ is str:
            if value in texts:
                record[name] = texts[value]
        elif value.__class__ is list and any(one.__class__ is str and one in texts for one in value):
            record[name] = [texts.get(one, one) if one.__class__ is str else one for one in value]
    return record


def later(value: Any, days: int) -> Any:
    """The value with all its dates some days later."""
    if value.__class__ is str:
        return shifted(value, days) if len(value) >= 10 and _DATE.fullmatch(value) else value
    if value.__class__ is dict:
        return {key: later(one, days) for key, one in value.items()}
    return [later(one, days) for one in value] if value.__class__ is list else value


class _Unique:
    """Which values of unique fields are taken."""

    def __init__(self, records: Records) -> None:
        self._fields: dict[str, list[list[s.Field]]] = {}
        self._seen: dict[tuple[str, int], dict[Any, Any]] = {}
        for name, shape in records.shapes.items():
            if not isinstance(shape, s.Collection):
                continue
            sets = [list(fields) for fields in shape.unique]
            if shape.tree is not None:
                sets.append([shape.tree.parent, shape.tree.name])
            self._fields[name] = [[shape.record.field(f) for f in fields] for fields in sets]
            for key, record in records.of[name].items():
                self._add(name, key, record)

    def _add(self, name: str, key: Any, record: Mapping[str, Any]) -> None:
        for n, fields in enumerate(self._fields[name]):
            self._seen.setdefault((name, n), {})[_value(fields, record)] = key

    def forget(self, name: str, key: Any, record: Mapping[str, Any]) -> None:
        for n, fields in enumerate(self._fields[name]):
            seen = self._seen.get((name, n), {})
            value = _value(fields, record)
            if seen.get(value) == key:
                del seen[value]

    def settle(self, cloner: Cloner, name: str, key: Any, record: dict[str, Any]) -> dict[str, Any]:
        """The record with texts or numbers changed until it shares no unique value; as it is where that does not help."""
        for n, fields in enumerate(self._fields[name]):
            seen = self._seen.setdefault((name, n), {})
            texts = [f for f in fields if scalar_of(f) in (s.STR, s.INT)]
            for number in range(_TRIES if texts else 0):
                if seen.get(_value(fields, record), key) == key:
                    break
                record = {**record, texts[0].json: _other(cloner, texts[0], record, number)}
        self._add(name, key, record)
        return record


def _value(fields: Sequence[s.Field], record: Mapping[str, Any]) -> Any:
    return tuple(repr(record.get(f.json)) for f in fields)


def _other(cloner: Cloner, field: s.Field, record: Mapping[str, Any], number: int) -> Any:
    value = record.get(field.json)
    if isinstance(value, int):
        return value + 1
    if value is None:
        return value
    if field.like in ("email", "username") or (field.pattern is None and number > 10):
        head, at, tail = value.partition("@")
        made = f"{head}{cloner.rng.randint(2, 9999)}{at}{tail}"
        return made if fits(field, made) else value
    if field.like is not None:
        return cloner.values.text(field, record, {}, value)
    made = recoded(value, cloner.rng)
    return made if fits(field, made) else cloner.values.text(field, record, {}, value)

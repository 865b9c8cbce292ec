"""Changes to single records that keep the rules: mixes of enums, edge cases, the changes of a mutated copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.cloning import Cloner
from envscaler.scenario.data.known import Known, Links, coupled, refers
from envscaler.scenario.data.records import Place, Records, blamed
from envscaler.scenario.data.values import NUMBERS, scalar_of

__all__ = ["mixed", "odd", "stirred"]

_ROUNDS: Final = 8
_NAMES: Final = 0.6  # of the records with a name whose odd value is that


def edited(known: Known, records: Records, edit: Callable[[Records], None]) -> None:
    """Make changes, and take back those that break a rule."""
    before = records.copy()
    edit(records)
    for number in range(_ROUNDS):
        problems = known.problems(records)
        if not problems:
            return
        changed = {p for p in records.places() if records.of[p[0]][p[1]] is not before.of[p[0]].get(p[1])}
        wrong = {place for found in blamed(records, problems) for place in found}
        back = wrong & changed
        if not back or number > 2:
            links = Links(records)
            near = {p for place in wrong for p in (*links.referrers.get(place, ()), *links.targets.get(place, ()))}
            back |= near & changed
        if not back or number == _ROUNDS - 1:
            break
        links = Links(records)
        for name, key in back | {p for place in back for p in _partners(known, records, links, place)}:
            records.of[name][key] = before.of[name][key]
    records.of = before.of


def _partners(known: Known, records: Records, links: Links, place: Place) -> list[Place]:
    """The records whose numbers are tied to those of one, so that they are changed back with it."""
    found = []
    for couple in known.couples:
        if place[0] == couple.child and couple.ref:
            found.append((couple.parent, records.of[place[0]][place[1]].get(couple.ref)))
        elif place[0] == couple.parent:
            found += [p for p in links.referrers.get(place, ()) if p[0] == couple.child]
    parents = [p for p in found if p[0] != place[0]]
    more = [q for p in parents for q in links.referrers.get(p, ()) if q[0] == place[0]]
    return [p for p in (*found, *more) if p[1] in records.of[p[0]]]


def stirred(known: Known, cloner: Cloner, places: Sequence[Place]) -> None:
    """Give records other numbers, enums and some other texts; unique texts stay."""

    def edit(records: Records) -> None:
        for name, key in places:
            records.of[name][key] = cloner.varied(name, dict(records.of[name][key]))
        cloner.stir(places)

    edited(known, cloner.records, edit)


def mixed(known: Known, cloner: Cloner, shares: Mapping[str, Mapping[str, float]]) -> None:
    """Give enums the shares that were asked for, as far as the spec allows."""
    for place, mix in shares.items():
        name, _, inner = place.partition(".")
        field = next(f for f in cloner.records.shapes[name].record.fields if f.json == inner)
        for text, share in mix.items():
            _mix(known, cloner, name, field, _value(field, text), share, tuple(mix))


def _value(field: s.Field, text: str) -> Any:
    shape = scalar_of(field)
    return next(v for v in shape.values if str(v) == text) if isinstance(shape, s.Enum) else text == "true"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _mix(
    known: Known, cloner: Cloner, name: str, field: s.Field, value: Any, share: float, wanted: Sequence[str]
) -> None:
    part = cloner.records.of[name]
    count = round(share * len(part))
    donors = [r for r in known.base.of[name].values() if r.get(field.json) == value]
    others = Counter(v for v in known.pool(name, field.json) if _text(v) not in wanted)
    for number in range(6):
        having = [key for key, record in part.items() if record.get(field.json) == value]
        lack = count - len(having)
        if lack > 0:
            open_to = [
                k for k, r in part.items() if r.get(field.json) != value and _text(r.get(field.json)) not in wanted
            ]
            keys = cloner.rng.sample(open_to, min(len(open_to), lack))
            to = value
        elif lack < 0 and others:
            keys = cloner.rng.sample(having, -lack)
            to = others.most_common(1)[0][0]
            donors = [r for r in known.base.of[name].values() if r.get(field.json) == to]
        else:
            return
        _turn(known, cloner, name, field, keys, to, donors if number % 3 < 2 else ())
        part = cloner.records.of[name]


def _turn(
    known: Known,
    cloner: Cloner,
    name: str,
    field: s.Field,
    keys: Sequence[Any],
    value: Any,
    donors: Sequence[Mapping[str, Any]],
) -> None:
    """Set the field of some records; what goes with the value, such as a reason, is taken from a record that has it."""
    shape = cloner.records.shapes[name]
    along = [f.json for f in shape.record.fields if isinstance(f.shape, s.Nullable) and not refers(f.shape.of)]

    def edit(records: Records) -> None:
        for key in keys:
            record = {**records.of[name][key], field.json: value}
            if donors:
                donor = cloner.rng.choice(donors)
                record |= {f: donor[f] for f in along if f in donor}
            records.of[name][key] = record

    edited(known, cloner.records, edit)


def odd(known: Known, cloner: Cloner, share: float) -> None:
    """Give some records values at the edges of what is allowed."""
    rng = cloner.rng
    places = cloner.records.places()
    chosen = rng.sample(places, min(len(places), max(1, round(share * len(places))))) if places else []

    def edit(records: Records) -> None:
        for name, key in chosen:
            shape = records.shapes[name]
            assert isinstance(shape, s.Collection)
            unique = {f for fields in shape.unique for f in fields}
            record = records.of[name][key]
            tied = {f.json for f in shape.record.fields if scalar_of(f) in NUMBERS} - known.free[name]
            fields = [f for f in shape.record.fields if f.name not in unique and f.json not in tied]
            fields = [f for f in fields if record.get(f.json) is not None]
            rng.shuffle(fields)
            if rng.random() < _NAMES:
                fields.sort(key=lambda f: f.like != "name")
            for field in fields:
                pool = [r.get(field.json) for r in list(records.of[name].values())[:20]]
                value = cloner.values.odd(field, record[field.json], [v for v in pool if v is not None])
                if value != record[field.json]:
                    records.of[name][key] = {**record, field.json: value}
                    break

    edited(known, cloner.records, edit)
    _emptied(known, cloner, max(1, round(share * len(places)) // 3))


def _emptied(known: Known, cloner: Cloner, count: int) -> None:
    """Bring some sums to zero: numbers that others are tied to."""
    if not known.couples:
        return

    def edit(records: Records) -> None:
        for _ in range(count):
            couple = cloner.rng.choice(known.couples)
            keys = list(records.of[couple.child])
            if not couple.ref or not keys:
                continue
            key = cloner.rng.choice(keys)
            parent = records.of[couple.parent].get(records.of[couple.child][key].get(couple.ref))
            if parent is not None and isinstance(parent.get(couple.other.json), int | float):
                step = -couple.sign * parent[couple.other.json]
                coupled(records, couple, key, step, step)

    edited(known, cloner.records, edit)

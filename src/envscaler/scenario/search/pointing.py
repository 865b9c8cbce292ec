"""Where a value stands in a result, and what tells the record that holds it from the others of the same list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from envscaler.runtime.pointers import joined
from envscaler.spec import types as t

__all__ = ["MEMBER", "Hit", "Telling", "single_out"]

MEMBER: Final = "#"
"""Stands for the name of a member of a mapping, where a field's name stands otherwise."""

_MOST_TOLD: Final = 3
_FIELDS: Final = 7  # of a record, that are tried to tell it by

Parts = tuple[str | int, ...]
Telling = Callable[[str, Any], int | None]
"""How readily a person tells a field with its value; None for one that tells nothing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A value in a result: the JSON pointer to it, the fields around it that single it out there, and those that a person
    would tell anyhow. ``among``: how many others of its kind the result has."""

    path: str
    told: Mapping[str, Any]
    more: Mapping[str, Any]
    among: int


@dataclass(frozen=True, slots=True)
class _Place:
    """``open``: for each part whether others may stand in its place: indices of lists, members of mappings."""

    parts: Parts
    open: tuple[bool, ...]
    named: bool


def single_out(result: Any, of: t.Type, wanted: Any, telling: Telling) -> Hit | None:
    """The place of a value in a result of a type, when what stands around it tells it from all others of its kind there."""
    best: tuple[int, Hit] | None = None
    for place in _places(result, of, wanted):
        found = _hit(result, place, wanted, telling)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


# -- places


def _places(value: Any, of: t.Type, wanted: Any, parts: Parts = (), free: tuple[bool, ...] = ()) -> Iterator[_Place]:
    if value.__class__ is dict:
        for key, one in value.items():
            inner, fixed = _step(of, key)
            if key == wanted and not fixed:
                yield _Place((*parts, key), (*free, True), True)
            yield from _places(one, inner, wanted, (*parts, key), (*free, not fixed))
    elif value.__class__ is list:
        inner = _item(of)
        for i, one in enumerate(value):
            yield from _places(one, inner, wanted, (*parts, i), (*free, True))
    elif value.__class__ is wanted.__class__ and value == wanted:
        yield _Place(parts, free, False)


def _step(of: t.Type, name: str) -> tuple[t.Type, bool]:
    """The type of a member, and whether its name is declared."""
    match t.strip_null(of):
        case t.Obj(items=items):
            return next((one for key, one in items if key == name), t.ANY), True
        case t.Struct(fields=fields):
            return next((f.type for f in fields.values() if f.json == name), t.ANY), True
        case t.Union(members=members):
            found = [f.type for m in members for f in m.fields.values() if f.json == name]
            return found[0] if found else t.ANY, True
        case t.DictOf(value=value):
            return value, False
    return t.ANY, not name.isdigit()


def _item(of: t.Type) -> t.Type:
    inner = t.strip_null(of)
    return inner.item if isinstance(inner, t.ListOf | t.IterOf) else t.ANY


# -- telling apart


def _hit(result: Any, place: _Place, wanted: Any, telling: Telling) -> tuple[int, Hit] | None:
    path = joined(place.parts) + ("#" if place.named else "")
    own: list[Mapping[str, Any]] = []
    others: list[Mapping[str, Any]] = []
    for value, holder in _alike(result, place.parts, place.open, place.named, {}):
        (own if value == wanted else others).append(holder)
    best: tuple[int, Hit] | None = None
    for holder in own:
        fields = _fields({name: one for name, one in holder.items() if one != wanted}, telling)
        more = {name: holder[name] for _, name in fields[:1]}
        if not others:
            return 0, Hit(path, {}, more, 0)
        for rank, told in _telling(fields, holder, others):
            if best is None or rank < best[0]:
                best = rank, Hit(path, told, more, len(others))
    return best


def _alike(
    value: Any, parts: Parts, free: tuple[bool, ...], named: bool, holder: Mapping[str, Any]
) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """All values at places that differ from this one in open parts only, each with what stands around it."""
    if not parts:
        yield value, holder
    elif value.__class__ is list:
        for one in value:
            yield from _alike(one, parts[1:], free[1:], named, holder)
    elif value.__class__ is dict:
        if not free[0]:
            if parts[0] in value:
                yield from _alike(value[parts[0]], parts[1:], free[1:], named, {**holder, **_plain(value)})
        elif named and len(parts) == 1:
            for key, one in value.items():
                yield key, {**holder, **_plain(one)} if one.__class__ is dict else {**holder, "": one}
        else:
            for key, one in value.items():
                yield from _alike(one, parts[1:], free[1:], named, {**holder, MEMBER: key})


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if one.__class__ in (str, int, float, bool)}


def _fields(holder: Mapping[str, Any], telling: Telling) -> list[tuple[int, str]]:
    ranked = [(rank, name) for name, value in holder.items() if (rank := telling(name, value)) is not None]
    return sorted(ranked, key=lambda one: one[0])[:_FIELDS]


def _telling(
    fields: list[tuple[int, str]], holder: Mapping[str, Any], others: list[Mapping[str, Any]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for many in range(1, _MOST_TOLD + 1):
        for chosen in combinations(fields, many):
            if not any(all(_same(other.get(n), holder[n]) for _, n in chosen) for other in others):
                yield sum(rank for rank, _ in chosen) + 2 * many, {n: holder[n] for _, n in chosen}


def _same(one: Any, two: Any) -> bool:
    if one.__class__ is str and two.__class__ is str:
        return bool(one.casefold() == two.casefold())
    return one.__class__ is two.__class__ and bool(one == two)

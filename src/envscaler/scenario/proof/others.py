"""Other values in the place of one that a solution has: other records, amounts a little off, other choices and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import escaped
from envscaler.runtime.values import same
from envscaler.scenario.world import World

__all__ = ["Other", "OtherValues", "near_values"]

Kind = Literal["record", "amount", "choice"]

_KEYS: Final = 48  # keys of a collection that are looked at around one
_LIST: Final = 3  # members of a list that are varied


@dataclass(frozen=True, slots=True)
class Other:
    """Another value for the place at ``path``, a pointer below the parameter. ``alike``: for a record, how many of its
    fields are as those of the one in whose place it is."""

    kind: Kind
    path: str
    value: Any
    alike: int = 0


class OtherValues:
    """Looks for other values in the state that an episode is in; unless ``records``, none that names another record."""

    def __init__(self, world: World, env: Environment, *, records: bool = True) -> None:
        self.world = world
        self.state = env._state
        self.records = records
        self._known: dict[tuple[str, Any], list[Other]] = {}

    def of(self, field: s.Field, value: Any) -> Iterator[Other]:
        """Others for an argument, the most alike records first, then the nearest amounts."""
        return self._walk(field.shape, value, field.json)

    def _walk(self, shape: s.Shape, value: Any, path: str) -> Iterator[Other]:
        match shape:
            case s.Nullable() | s.Partial():
                if value is not None:
                    yield from self._walk(shape.of, value, path)
            case s.Ref():
                yield from self._records(shape.collection, value, path)
            case s.Enum():
                yield from (Other("choice", path, one) for one in shape.values if not same(one, value))
            case s.ListOf() if isinstance(value, list):
                yield from self._list(shape, value, path)
            case s.DictOf() if isinstance(value, Mapping):
                for name, one in list(value.items())[:_LIST]:
                    yield from self._walk(shape.value, one, f"{path}/{escaped(name)}")
            case s.Struct() | s.Union() if isinstance(value, Mapping):
                for field in _fields(shape, value):
                    if field.json in value:
                        yield from self._walk(field.shape, value[field.json], f"{path}/{escaped(field.json)}")
            case s.Scalar():
                yield from self._scalar(shape, value, path)

    def _list(self, shape: s.ListOf, value: list[Any], path: str) -> Iterator[Other]:
        for n, one in enumerate(value[:_LIST]):
            taken = [v for k, v in enumerate(value) if k != n]
            for other in self._walk(shape.item, one, f"{path}/{n}"):
                if not any(same(other.value, v) for v in taken):
                    yield other
        if len(value) > 1:
            yield Other("choice", path, value[:-1])

    def _scalar(self, shape: s.Scalar, value: Any, path: str) -> Iterator[Other]:
        if isinstance(value, str) and shape in (s.STR, s.ANY):
            collection = next((name for name in self.world.collections if self._has(name, value)), None)
            if collection is not None:
                yield from self._records(collection, value, path)
            else:
                yield from (Other("choice", path, text) for text in _texts(value))
        elif isinstance(value, bool):
            yield Other("choice", path, not value)
        else:
            yield from (Other("amount", path, one) for one in near_values(shape, value))

    def _has(self, collection: str, value: Any) -> bool:
        return getattr(self.state, collection).get(value) is not None

    def _records(self, collection: str, key: Any, path: str) -> list[Other]:
        if not self.records:
            return []
        found = self._known.get((collection, key))
        if found is None:
            found = self._known[collection, key] = self._alike(collection, key)
        return [Other("record", path, one.value, one.alike) for one in found]

    def _alike(self, collection: str, key: Any) -> list[Other]:
        part = getattr(self.state, collection)
        keys, mine = list(part.each()), part.get(key)
        if mine is None:
            return [Other("record", "", one) for one in keys[:_KEYS]]
        at = keys.index(key)
        near = [one for one in keys[max(0, at - _KEYS // 2) : at + _KEYS // 2 + 1] if one != key]
        found = [Other("record", "", one, _in_common(mine, part.get(one))) for one in near]
        return sorted(found, key=lambda other: -other.alike)


def _in_common(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """How many fields of two records are equal."""
    return sum(name in other and other[name] == value for name, value in one.items())


def _fields(shape: s.Struct | s.Union, value: Mapping[str, Any]) -> tuple[s.Field, ...]:
    if isinstance(shape, s.Struct):
        return shape.fields
    for member in shape.members:
        tag = next(f for f in member.fields if f.name == shape.tag)
        if isinstance(tag.shape, s.Const) and same(tag.shape.value, value.get(tag.json)):
            return member.fields
    return ()


def _texts(text: str) -> Iterator[str]:
    """Texts that differ in a letter or a digit, and one that goes on; which of them a pattern allows is seen by trying."""
    if text and text[-1].isdigit():
        yield text[:-1] + str((int(text[-1]) + 1) % 10)
        yield text[:-1] + str((int(text[-1]) + 5) % 10)
    yield text + "s"
    yield text + " 2"
    if len(text) > 1:
        yield text[:-1]
        yield text[0] + text
    at = next((n for n, letter in enumerate(text) if letter.isascii() and letter.isalpha()), -1)
    if at >= 0:
        letter = "b" if text[at].lower() == "a" else "a"
        yield text[:at] + (letter.upper() if text[at].isupper() else letter) + text[at + 1 :]


def near_values(shape: s.Shape, value: Any) -> Iterator[Any]:
    """Values of a scalar type near one: a unit off, ten times it, the next day."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield from _numbers(value, 0.01 if shape is s.MONEY else 1)
    elif isinstance(value, str):
        yield from _moments(shape, value)


def _numbers(value: int | float, unit: float) -> Iterator[int | float]:
    whole = isinstance(value, int) and unit == 1
    found = [value + unit, value - unit, value + 1, value - 1, value * 10, value * 2]
    if not whole:
        found += [value + 0.5, value / 2]
    seen = {float(value)}
    for one in found:
        near = round(one, 2)
        if near not in seen and abs(near) < s.MAX and (near >= 0) == (value >= 0) and (near != 0 or value == 0):
            seen.add(near)
            yield int(near) if near == int(near) else near


def _moments(shape: s.Shape, text: str) -> Iterator[str]:
    try:
        if shape is s.DATE:
            day = date.fromisoformat(text)
            yield from ((day + timedelta(days=n)).isoformat() for n in (1, -1, 7, -7, 30))
        elif shape is s.TIME:
            at = datetime.fromisoformat(f"2000-01-01T{text}")
            yield from ((at + timedelta(minutes=n)).time().isoformat() for n in (15, -15, 60))
        elif shape in (s.DATETIME, s.LOCAL_DATETIME):
            when = datetime.fromisoformat(text)
            for hours in (1, -1, 24, -24):
                yield (when + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")
        elif shape is s.ZONE:
            yield from (zone for zone in ("Europe/Paris", "Asia/Tokyo", "America/New_York", "UTC") if zone != text)
    except (ValueError, OverflowError):
        return

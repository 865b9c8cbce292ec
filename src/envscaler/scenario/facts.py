"""Facts of an end state as expressions of the goal language: what a field is now, where it was something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.literals import key_literal, literal
from envscaler.scenario.places import Place
from envscaler.scenario.wording.english import words_of

__all__ = ["Facts", "Loose", "conjunction"]

_TELLING: Final = 3  # fields by which a new record is told where another one refers to it
_BRACKETED: Final = 12  # conditions side by side
_CLOSE: Final = "0.000001"
_ORDERED: Final = ("str", "int", "number", "float", "money", "date", "time", "datetime", "local_datetime")


@dataclass(frozen=True, slots=True)
class Loose:
    """What a task leaves open. ``values``: plain values, in internal form, that nobody told. ``texts``: texts that nobody
    told; one that holds such a text is open too. ``fields``: (state, field) pairs that depend on more than the calls."""

    values: frozenset[Any] = frozenset()
    texts: frozenset[str] = frozenset()
    fields: frozenset[tuple[str, str]] = frozenset()

    def holds(self, value: Any, anew: bool = True) -> bool:
        """Whether a value is left open; ``anew``: in something that is new."""
        if value.__class__ is str and any(one in value for one in self.texts):
            return True
        return anew and value.__class__ is not bool and value in self.values


def conjunction(parts: Sequence[str]) -> str:
    """The parts joined by `and`, many of them in brackets: the language bounds how deep conditions stand in each other."""
    if len(parts) <= _BRACKETED:
        return " and ".join(parts)
    groups = [parts[n : n + _BRACKETED] for n in range(0, len(parts), _BRACKETED)]
    return conjunction([f"({conjunction(group)})" for group in groups])


class Facts:
    """The facts between the start of an episode and where ``env`` stands."""

    def __init__(self, env: Environment, loose: Loose) -> None:
        self.env = env
        self.loose = loose
        self.start, self.end = env.start_state(), env._state
        self.fresh: dict[str, set[Any]] = {}
        made: set[str] = set()
        for shape in env.states:
            if isinstance(shape, s.Collection):
                old, new = getattr(self.start, shape.name), getattr(self.end, shape.name)
                keys = {key for key in new.own if key not in old}
                self.fresh[shape.name] = keys
                if shape.key.make is not None:
                    made |= {key for key in keys if isinstance(key, str)}
        self.made = made

    def before(self, place: Place) -> Mapping[str, Any]:
        """The record at the start, in internal form; empty when there was none."""
        return self._record(self.start, place)

    def now(self, place: Place) -> Mapping[str, Any]:
        """The record at the end."""
        return self._record(self.end, place)

    @staticmethod
    def _record(state: Any, place: Place) -> Mapping[str, Any]:
        part = getattr(state, place.state)
        found = part.value if place.key is None else part.get(place.key)
        return {} if found is None else found

    # -- what changed

    def changed(
        self, owner: str, one: s.Field, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> Iterator[tuple[str, str]]:
        """For each fact of a field that is not what it was: the expression, and its words."""
        name, where = words_of(one.name), f"{owner}.{one.name}"
        if one.name not in new:
            yield f'"{one.name}" not in {owner}', f"there is no more {name}"
            return
        before = old.get(one.name, s.MISSING)
        guard = [f'"{one.name}" in {owner}'] if one.absent else []
        for parts, text in self._differing(where, one.shape, before, new[one.name]):
            yield conjunction([*guard, *parts]), f"{name}{text}"

    def _differing(self, where: str, shape: s.Shape, old: Any, new: Any) -> Iterator[tuple[list[str], str]]:
        if old is not s.MISSING and old.__class__ is new.__class__ and old == new:
            return
        match shape:
            case s.Nullable() if new is not None and old is not None and old is not s.MISSING:
                for parts, text in self._differing(where, shape.of, old, new):
                    yield ([f"{where} is not None", *parts] if _parted(shape.of) else parts), text
            case s.Struct() if isinstance(old, dict):
                for one in shape.fields:
                    if one.incidental or isinstance(one.shape, s.Const):
                        continue
                    for expression, text in self.changed(where, one, old, new):
                        yield [expression], f"'s {text}"
            case s.Union() if isinstance(old, dict) and old.get(shape.tag) == new.get(shape.tag):
                member = _member(shape, new)
                for parts, text in self._differing(where, member, old, new):
                    yield [f"{where}.{shape.tag} == {literal(s.STR, new[shape.tag])}", *parts], text
            case s.DictOf() if isinstance(old, dict):
                yield from self._entries(where, shape, old, new)
                if len(old) != len(new):
                    yield [f"len({where}) == {len(new)}"], f" has {len(new)} entries"
            case s.ListOf() if isinstance(old, list):
                yield from self._items(where, shape, old, new)
            case _ if shape is s.ANY and isinstance(old, dict) and isinstance(new, dict):
                yield from self._entries(where, s.DictOf(s.ANY), old, new)
            case _:
                parts = self.equal(where, shape, new, anew=old is s.MISSING)
                if parts:
                    yield parts, f" is {_shown(shape, new)}"

    def _entries(
        self, where: str, shape: s.DictOf, old: Mapping[Any, Any], new: Mapping[Any, Any]
    ) -> Iterator[tuple[list[str], str]]:
        for key in old:
            if key not in new:
                yield [f"{key_literal(key)} not in {where}"], f" has no {key} any more"
        for key, value in new.items():
            inner = f"{where}[{key_literal(key)}]"
            if self._made(shape.key, key):
                continue
            for parts, text in self._differing(inner, shape.value, old.get(key, s.MISSING), value):
                yield [f"{key_literal(key)} in {where}", *parts], f" for {key}{text}"
            if key not in old and not self.equal(inner, shape.value, value):
                yield [f"{key_literal(key)} in {where}"], f" has {key}"

    def _items(self, where: str, shape: s.ListOf, old: list[Any], new: list[Any]) -> Iterator[tuple[list[str], str]]:
        item = shape.item
        plain = (isinstance(item, s.Scalar) and item.name in _ORDERED) or isinstance(item, s.Enum | s.Ref)
        if plain:
            if any(self._open(item, value) for value in new):
                yield [f"len({where}) == {len(new)}"], f" has {len(new)} entries"
            elif len(old) != len(new) and len(new) > 1:
                listed = ", ".join(literal(item, value) for value in sorted(new))
                yield [f"sorted({where}) == [{listed}]"], f" is {_listed(item, new)}"
            else:
                listed = ", ".join(literal(item, value) for value in new)
                fact = f"{where} == [{listed}]" if new else f"len({where}) == 0"
                yield [fact], f" is {_listed(item, new)}"
            return
        if len(old) == len(new):
            for i, (one, two) in enumerate(zip(old, new, strict=True)):
                for parts, text in self._differing(f"{where}[{i}]", item, one, two):
                    yield [f"len({where}) > {i}", *parts], f", entry {i + 1}{text}"
            return
        if item is s.ANY:
            yield [f"len({where}) == {len(new)}"], f" has {len(new)} entries"
            return
        yield from self._counted(where, item, old, new)

    def _counted(self, where: str, item: s.Shape, old: list[Any], new: list[Any]) -> Iterator[tuple[list[str], str]]:
        """A list of structs that grew or shrank: how long it is, and how often that is in it of which there is more, or less,
        now."""
        before = [frozenset(self.equal("e", item, value)) for value in old]
        after = [frozenset(self.equal("e", item, value)) for value in new]
        told: set[frozenset[str]] = set()
        for value in (*new, *old):
            parts = self.equal("e", item, value)
            each = frozenset(parts)
            was, now = (sum(each <= one for one in found) for found in (before, after))
            if parts and was != now and each not in told:
                told.add(each)
                fact = f"count(1 for e in {where} if {conjunction(parts)}) == {now}"
                yield [fact], f" has {now or 'no'} such: {_shown(item, value)}"
        yield [f"len({where}) == {len(new)}"], f" has {len(new)} entries"

    # -- what stays

    def kept(self, owner: str, one: s.Field, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Of a field with parts, some of which changed: conditions that the others are as they were, true at the start too."""
        if one.name not in old or one.name not in new or one.absent:
            return []
        where = f"{owner}.{one.name}"
        return list(
            self._kept(where, where.replace("final.", "initial.", 1), one.shape, old[one.name], new[one.name], ())
        )

    def _kept(self, now: str, then: str, shape: s.Shape, old: Any, new: Any, needs: tuple[str, ...]) -> Iterator[str]:
        if old.__class__ is not new.__class__:
            return
        if old == new:
            yield conjunction([*needs, f"{now} == {then}"])
            return
        match shape:
            case s.Struct() if isinstance(old, dict):
                for one in shape.fields:
                    if not (one.incidental or one.absent or isinstance(one.shape, s.Const)):
                        parts = (f"{now}.{one.name}", f"{then}.{one.name}", one.shape, old[one.name], new[one.name])
                        yield from self._kept(*parts, needs)
            case s.ListOf() if isinstance(old, list) and len(old) == len(new):
                for i, (one_old, one_new) in enumerate(zip(old, new, strict=True)):
                    there = (*needs, f"len({now}) > {i}")
                    yield from self._kept(f"{now}[{i}]", f"{then}[{i}]", shape.item, one_old, one_new, there)
            case s.DictOf() if isinstance(old, dict):
                yield from self._kept_entries(now, then, shape.value, old, new, needs)
            case _ if shape is s.ANY and isinstance(old, dict):
                yield from self._kept_entries(now, then, s.ANY, old, new, needs)

    def _kept_entries(
        self,
        now: str,
        then: str,
        shape: s.Shape,
        old: Mapping[Any, Any],
        new: Mapping[Any, Any],
        needs: tuple[str, ...],
    ) -> Iterator[str]:
        for key in old:
            if key in new:
                at = key_literal(key)
                there = (*needs, f"{at} in {now}")
                yield from self._kept(f"{now}[{at}]", f"{then}[{at}]", shape, old[key], new[key], there)

    # -- what is

    def all_of(self, owner: str, record: s.Struct, values: Mapping[str, Any], state: str = "") -> list[str]:
        """Everything of a struct, or of a new record of ``state``, that is not left open."""
        found: list[str] = []
        for one in record.fields:
            if one.incidental or one.name not in values or (state, one.name) in self.loose.fields:
                continue
            parts = self.equal(f"{owner}.{one.name}", one.shape, values[one.name])
            if parts and one.absent:
                found.append(f'"{one.name}" in {owner}')
            found += parts
        return found

    def described(self, record: s.Struct, values: Mapping[str, Any], state: str = "") -> str:
        """The same in words, plain fields only."""
        return ", ".join(
            f"{words_of(one.name)} {_shown(one.shape, values[one.name])}"
            for one in record.fields
            if one.name in values
            and values[one.name] is not None
            and not one.incidental
            and (state, one.name) not in self.loose.fields
            and values[one.name].__class__ in (str, int, float)
            and not self._open(one.shape, values[one.name])
        )

    def equal(self, where: str, shape: s.Shape, value: Any, anew: bool = True) -> list[str]:
        """That a place holds a value: conditions for all of it, none when it is left open. ``anew``: nothing was there
        before; where something else was, a value that nobody told is a fact too."""
        if self._open(shape, value, anew):
            return []
        match shape:
            case s.Nullable():
                if value is None:
                    return [f"{where} is None"]
                parts = self.equal(where, shape.of, value, anew)
                needs = _parted(shape.of) or shape.of is s.BOOL or isinstance(shape.of, s.Ref)
                return [f"{where} is not None", *parts] if needs else parts
            case s.Ref() if value in self.fresh.get(shape.collection, ()):
                return self._fresh(where, shape, value)
            case s.Const():
                return []
            case s.Struct():
                return self.all_of(where, shape, value)
            case s.Union():
                tag = f"{where}.{shape.tag} == {literal(s.STR, value[shape.tag])}"
                return [tag, *self.all_of(where, _member(shape, value), value)]
            case s.DictOf():
                return self._all_entries(where, shape, value)
            case s.ListOf():
                return self._all_items(where, shape, value)
        if shape is s.ANY:
            return self._any(where, value)
        if value.__class__ is bool:
            return [where if value else f"not {where}"]
        if value.__class__ is float and value != int(value):
            return [f"abs({where} - {literal(shape, value)}) < {_CLOSE}".replace("- -", "+ ")]
        if shape is s.ZONE:
            return [f"str({where}) == {literal(shape, value)}"]
        return [f"{where} == {literal(shape, value)}"]

    def _all_entries(self, where: str, shape: s.DictOf, value: Mapping[Any, Any]) -> list[str]:
        found = [f"len({where}) == {len(value)}"]
        for key, one in value.items():
            if not self._made(shape.key, key):
                found += [
                    f"{key_literal(key)} in {where}",
                    *self.equal(f"{where}[{key_literal(key)}]", shape.value, one),
                ]
        return found

    def _all_items(self, where: str, shape: s.ListOf, value: list[Any]) -> list[str]:
        item = shape.item
        plain = isinstance(item, s.Scalar) and item.name in _ORDERED
        if (plain or isinstance(item, s.Enum | s.Ref)) and not any(self._open(item, one) for one in value):
            listed = ", ".join(literal(item, one) for one in value)
            return [f"{where} == [{listed}]" if value else f"len({where}) == 0"]
        found = [f"len({where}) == {len(value)}"]
        for i, one in enumerate(value):
            found += self.equal(f"{where}[{i}]", item, one)
        return found

    def _any(self, where: str, value: Any) -> list[str]:
        if value is None:
            return [f"{where} is None"]
        if value.__class__ is dict and all(key.__class__ is str for key in value):
            return [f"is_type({where}, dict)", *self._all_entries(where, s.DictOf(s.ANY), value)]
        named = {str: "str", bool: "bool", int: "number", float: "number"}.get(value.__class__)
        if named is None:
            return []
        shape = s.STR if named == "str" else s.FLOAT
        return [f"is_type({where}, {named})", *self.equal(where, shape, value)]

    def _fresh(self, where: str, shape: s.Ref, key: Any) -> list[str]:
        """A reference to a new record: that it is new, and what tells it from other ones."""
        plan = self.env._model.plans[shape.collection].shape
        assert isinstance(plan, s.Collection)
        if plan.key.make is None:
            return [f"{where} == {key_literal(key)}"]
        record = getattr(self.end, shape.collection).get(key)
        found = [f"{where} not in initial.{shape.collection}"]
        plain = [
            one
            for one in plan.record.fields
            if record.get(one.name).__class__ in (str, int) and isinstance(one.shape, s.Scalar | s.Enum)
        ]
        for one in sorted(plain, key=lambda f: f.shape is not s.STR)[:_TELLING]:
            if not one.incidental and not one.absent:
                found += self.equal(f"final.{shape.collection}[{where}].{one.name}", one.shape, record[one.name])
        return found

    def _made(self, shape: s.Shape, key: Any) -> bool:
        return isinstance(shape, s.Ref) and key in self.fresh.get(shape.collection, ())

    def _open(self, shape: s.Shape, value: Any, anew: bool = True) -> bool:
        if isinstance(shape, s.Enum | s.Const) or value is None:
            return False
        if isinstance(shape, s.Ref):
            return False
        if value.__class__ is str and self.made and any(key in value for key in self.made):
            return True
        return value.__class__ in (str, int, float) and self.loose.holds(value, anew)


def _parted(shape: s.Shape) -> bool:
    return isinstance(shape, s.Struct | s.Union | s.ListOf | s.DictOf)


def _member(shape: s.Union, value: Mapping[str, Any]) -> s.Struct:
    return next(
        m
        for m in shape.members
        if any(
            f.name == shape.tag and isinstance(f.shape, s.Const) and f.shape.value == value[shape.tag] for f in m.fields
        )
    )


def _shown(shape: s.Shape, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(shape, s.Nullable):
        return _shown(shape.of, value)
    if isinstance(shape, s.Union) and isinstance(value, dict):
        return _shown(_member(shape, value), value)
    if isinstance(shape, s.Struct) and isinstance(value, dict):
        return ", ".join(
            f"{words_of(f.name)} {_shown(f.shape, value[f.name])}" for f in shape.fields if f.name in value
        )
    if isinstance(shape, s.ListOf) and isinstance(value, list):
        return _listed(shape.item, value)
    if isinstance(shape, s.DictOf) and isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(shape.value, one)}" for key, one in value.items()) or "nothing"
    return value if isinstance(value, str) else literal(shape, value)


def _listed(item: s.Shape, values: list[Any]) -> str:
    return ", ".join(_shown(item, value) for value in values) or "nothing"

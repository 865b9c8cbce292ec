"""What two ends of an episode have in common: their changes without incidental fields and the names of new records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from envscaler.runtime import Environment, pointers
from envscaler.runtime import shapes as s
from envscaler.runtime.diff import state_diff
from envscaler.runtime.environment import Snapshot
from envscaler.runtime.shapes import MISSING
from envscaler.runtime.state import State
from envscaler.runtime.store import Collection, Single
from envscaler.scenario.guards import Alike, fields_alike
from envscaler.scenario.world import World

__all__ = ["Ending", "essence"]


_write: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def essence(world: World, operations: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The operations of `Environment.diff` as texts that are equal for ends that are equal but for incidental fields and
    for the keys that were made for new records."""
    kept = [change for operation in operations if not (change := _Change(world, operation)).incidental]
    texts = [change.text() for change in kept]
    made = {change.key: f"+{change.state}" for change in kept if change.makes_key}
    if made:
        texts = _unnamed("\0".join(texts), made).split("\0")
    return tuple(sorted(texts))


class Ending:
    """An end of an episode, to which others over the same base are held.

    Nearly all ends can be told apart, or are found to be equal, by the records that either changed. Only where the keys of
    new records may be all that differs are both written down and compared as texts.
    """

    def __init__(self, world: World, env: Environment, moment: Snapshot) -> None:
        self.world = world
        self.state = env.start_state()
        for name, saved in moment.parts.items():
            getattr(self.state, name).load(saved)

    def like(self, env: Environment) -> bool:
        """Whether an episode stands at an end with the same `essence`."""
        alike = self._by_records(env._state)
        return self._essence == essence(self.world, env.diff()) if alike is None else alike

    @cached_property
    def _essence(self) -> tuple[str, ...]:
        return essence(self.world, state_diff(self.state))

    def _by_records(self, other: State) -> bool | None:
        """None where the records do not decide it."""
        found: bool | None = True
        for name, shape in self.world.states.items():
            alike = _alike(shape, getattr(self.state, name), getattr(other, name))
            if alike is False:
                return False
            found = found and alike
        if found is None and not (self._named or _names(self.world, other)):
            return False
        return found

    @cached_property
    def _named(self) -> bool:
        return _names(self.world, self.state)


def _names(world: World, state: State) -> bool:
    """Whether there are new records for which a key was made."""
    made = (getattr(state, name) for name, shape in world.collections.items() if shape.key.make is not None)
    return any(key not in part.base for part in made for key in part.own)


def _alike(shape: s.StateShape, one: Collection | Single, two: Collection | Single) -> bool | None:
    """Whether a state is alike at two ends; None where it depends on how the keys of new records are called."""
    fields = fields_alike(shape.record)
    if isinstance(one, Single) and isinstance(two, Single):
        return one.value is two.value or _record_alike(fields, one.value, two.value)
    assert isinstance(shape, s.Collection)
    assert isinstance(one, Collection)
    assert isinstance(two, Collection)
    if shape.form == "list" and (one.gone or two.gone):
        return None  # what went and came back has another place now
    found: bool | None = True
    more = 0  # records under made keys that are in the second only
    for key in {*one.own, *two.own, *one.gone, *two.gone}:
        here, there = one.get(key), two.get(key)
        if here is there:
            continue
        alike = False if here is None or there is None else _record_alike(fields, here, there)
        if not alike and shape.key.make is not None and key not in one.base:
            more += (here is None) - (there is None)
            alike = None
        if alike is False:
            return False
        found = found and alike
    return False if more else found


_TEXTS: Final = (str, list, dict)  # in which the key of a record may stand


def _record_alike(fields: Mapping[str, Alike], one: Mapping[str, Any], two: Mapping[str, Any]) -> bool | None:
    """Whether two versions of a record are alike; None where they differ in texts only."""
    found: bool | None = True
    for name, alike in fields.items():
        here, there = one.get(name, MISSING), two.get(name, MISSING)
        if not alike(here, there):
            if here.__class__ not in _TEXTS or there.__class__ not in _TEXTS:
                return False
            found = None
    return found


class _Change:
    def __init__(self, world: World, operation: Mapping[str, Any]) -> None:
        self.operation = operation
        parts = pointers.parts(operation["path"])
        shape = world.states.get(parts[0])
        if shape is None:  # the fields of a flat record stand at the top
            shape = next(one for one in world.states.values() if one.name not in world.collections and _has(one, parts))
            self.state, rest = shape.name, parts
        else:
            self.state, rest = parts[0], parts[1:]
        self.key = rest[0] if isinstance(shape, s.Collection) else ""
        self.whole = isinstance(shape, s.Collection) and len(rest) == 1
        self.makes_key = (
            self.whole and operation["op"] == "add" and isinstance(shape, s.Collection) and shape.key.make is not None
        )
        inner = rest[1:] if isinstance(shape, s.Collection) else rest
        self.incidental, self.shape = _follow(shape.record, inner)

    def text(self) -> str:
        value = self.operation.get("value")
        if value.__class__ in (dict, list) and _has_incidental(self.shape):
            value = _bare(self.shape, value)
        return _write([self.operation["op"], self.operation["path"], value])


def _has(shape: s.StateShape, parts: Sequence[str]) -> bool:
    return isinstance(shape, s.Single) and any(f.json == parts[0] for f in shape.record.fields)


def _follow(shape: s.Shape | None, parts: Sequence[str]) -> tuple[bool, s.Shape | None]:
    """Whether a path into a shape leads through an incidental field, and the shape it leads to, None where it is open."""
    for part in parts:
        shape = _plain(shape)
        match shape:
            case s.Struct() | s.Union():
                field = next((f for f in _fields(shape) if f.json == part), None)
                if field is None:
                    return False, None
                if field.incidental:
                    return True, None
                shape = field.shape
            case s.ListOf():
                shape = shape.item
            case s.DictOf():
                shape = shape.value
            case _:
                return False, None
    return False, shape


def _plain(shape: s.Shape | None) -> s.Shape | None:
    while isinstance(shape, s.Nullable | s.Partial):
        shape = shape.of
    return shape


def _fields(shape: s.Struct | s.Union) -> Iterable[s.Field]:
    return shape.fields if isinstance(shape, s.Struct) else (f for member in shape.members for f in member.fields)


def _bare(shape: s.Shape | None, value: Any) -> Any:
    """A value without its incidental fields."""
    shape = _plain(shape)
    match shape:
        case s.Struct() | s.Union() if isinstance(value, dict):
            known = {f.json: f for f in _fields(shape)}
            return {
                name: _bare(known[name].shape, one) if name in known else one
                for name, one in value.items()
                if name not in known or not known[name].incidental
            }
        case s.ListOf() if isinstance(value, list):
            return [_bare(shape.item, one) for one in value]
        case s.DictOf() if isinstance(value, dict):
            return {name: _bare(shape.value, one) for name, one in value.items()}
    return value


def _has_incidental(shape: s.Shape | None) -> bool:
    """Whether a value of the shape can have an incidental field in it; found out once."""
    shape = _plain(shape)
    if shape is None:
        return False
    known = shape.memo.get("incidental")
    if known is None:
        shape.memo["incidental"] = False  # within itself it is no news
        match shape:
            case s.Struct() | s.Union():
                found = any(f.incidental or _has_incidental(f.shape) for f in _fields(shape))
            case s.ListOf():
                found = _has_incidental(shape.item)
            case s.DictOf():
                found = _has_incidental(shape.value)
            case _:
                found = False
        known = shape.memo["incidental"] = found
    return bool(known)


def _unnamed(text: str, made: Mapping[str, str]) -> str:
    """A text with other words for keys that were made, wherever they stand as words of their own."""
    words = [rf"(?<![\w-]){re.escape(k)}(?![\w-])" for k in sorted(made, key=len, reverse=True) if not k.isdigit()]
    numbers = [rf"(?<=/){k}(?=[/\"])" for k in made if k.isdigit()]
    return re.sub("|".join(words + numbers), lambda match: made[match[0]], text)

"""The closed world: what may differ between the first and the last state of an episode, checked on what was changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.diagnostics import Span, printable
from envscaler.runtime import shapes as s
from envscaler.runtime.shapes import MISSING
from envscaler.runtime.state import State
from envscaler.runtime.store import Collection
from envscaler.runtime.values import same
from envscaler.scenario.model import Only
from envscaler.scenario.world import World
from envscaler.spec.report import Report

__all__ = ["Alike", "ClosedWorld", "Spans", "fields_alike"]

Spans = Callable[..., Span]
"""The place of a part of an `only`, by the way to it: ``("fields", "accounts", "A-1", "balance")``."""

Alike = Callable[[Any, Any], bool]
"""Whether two values are alike, incidental fields aside."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A state, and what may change of it. ``fields``: by key in internal form (None: the one record of a single state)."""

    shape: s.StateShape
    alike: Mapping[str, Alike]
    fields: Mapping[Any, frozenset[str]] = field(default_factory=dict)
    added: int = 0
    removed: frozenset[Any] = frozenset()


class ClosedWorld:
    """An `only` of a scenario, made ready: nothing may differ but what it allows, and what is incidental.

    Its cost is that of what the episode changed, whatever the size of the state.
    """

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        self._parts = tuple(parts.items())

    @classmethod
    def of(cls, world: World, only: Only, spans: Spans, report: Report) -> ClosedWorld:
        """Make one ready; names of no state, field or kind of state go to ``report``."""
        reader = _Reader(world, spans, report)
        reader.read(only)
        return cls({name: reader.part(shape) for name, shape in world.states.items()})

    def broken(self, state: State) -> str:
        """The first thing that changed although it may not, in words; "" when there is none."""
        for name, part in self._parts:
            now = getattr(state, name)
            if now.__class__ is Collection:
                if now.own or now.gone:
                    problem = _collection(part, now)
                    if problem:
                        return problem
            elif now.value is not now.base:
                problem = _record(part, None, now.base, now.value)
                if problem:
                    return problem
        return ""


def _collection(part: _Part, now: Collection) -> str:
    """A record that went and came back counts as one that stayed, but in a list, where it has another place then."""
    base, own, gone = now.base, now.own, now.gone
    moved = gone if part.shape.form == "list" else ()
    added = 0
    for key, record in own.items():
        if key not in base or key in moved:
            added += 1
        elif problem := _record(part, key, base[key], record):
            return problem
    if added > part.added:
        some = f"only {part.added} may be" if part.added else "none may be"
        return f"{part.shape.name}: {added} {'record is' if added == 1 else 'records are'} new, {some}"
    for key in gone:
        if key not in part.removed and (key not in own or key in moved):
            return f"{part.shape.name} {printable(str(key))} is gone"
    return ""


def _record(part: _Part, key: Any, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    allowed = part.fields.get(key, _NOTHING)
    for name, alike in part.alike.items():
        if name not in allowed and not alike(old.get(name, MISSING), new.get(name, MISSING)):
            which = part.shape.name if key is None else f"{part.shape.name} {printable(str(key))}"
            return f"{which}: {part.shape.record.field(name).json} changed"
    return ""


_NOTHING: frozenset[str] = frozenset()


# -- equality, incidental fields aside


def fields_alike(record: s.Struct) -> dict[str, Alike]:
    """For each field that counts what tells whether two values of it are alike."""
    if "alike" not in record.memo:
        record.memo["alike"] = {f.name: _alike(f.shape) or same for f in record.fields if not f.incidental}
    found: dict[str, Alike] = record.memo["alike"]
    return found


def _alike(shape: s.Shape) -> Alike | None:
    """What tells whether two values are alike where a part of them is incidental; None where none is."""
    match shape:
        case s.Nullable() | s.Partial():
            return _alike(shape.of)
        case s.ListOf():
            item = _alike(shape.item)
            return None if item is None else lambda a, b: _lists(item, a, b)
        case s.DictOf():
            value = _alike(shape.value)
            return None if value is None else lambda a, b: _dicts(value, a, b)
        case s.Struct():
            return _struct(shape)
        case s.Union():
            return _union(shape)
    return None


def _struct(shape: s.Struct) -> Alike | None:
    fields = fields_alike(shape)
    if len(fields) == len(shape.fields) and all(alike is same for alike in fields.values()):
        return None

    def alike(a: Any, b: Any) -> bool:
        if not (isinstance(a, dict) and isinstance(b, dict)):
            return same(a, b)
        return all(is_alike(a.get(name, MISSING), b.get(name, MISSING)) for name, is_alike in fields.items())

    return alike


def _union(shape: s.Union) -> Alike | None:
    members = {m.field(shape.tag).shape.value: _struct(m) for m in shape.members}  # type: ignore[attr-defined]
    if not any(members.values()):
        return None

    def alike(a: Any, b: Any) -> bool:
        if not (isinstance(a, dict) and isinstance(b, dict)) or a[shape.tag] != b[shape.tag]:
            return same(a, b)
        return (members[a[shape.tag]] or same)(a, b)

    return alike


def _lists(item: Alike, a: Any, b: Any) -> bool:
    if not (isinstance(a, list) and isinstance(b, list)):
        return same(a, b)
    return len(a) == len(b) and all(map(item, a, b))


def _dicts(value: Alike, a: Any, b: Any) -> bool:
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return same(a, b)
    return a.keys() == b.keys() and all(value(v, b[k]) for k, v in a.items())


# -- from the scenario's form


class _Reader:
    """Turns the names and keys of an `only` into internal ones."""

    def __init__(self, world: World, spans: Spans, report: Report) -> None:
        self.states, self.spans, self.report = world.states, spans, report
        self.fields: dict[str, dict[Any, frozenset[str]]] = {}
        self.added: dict[str, int] = {}
        self.removed: dict[str, frozenset[Any]] = {}

    def read(self, only: Only) -> None:
        for name, keys in only.fields.items():
            shape = self._state(name, "fields")
            if shape is not None:
                self.fields[name] = {self._key(shape, k): self._names(shape, k, names) for k, names in keys.items()}
        for name, number in only.added.items():
            if self._collection(name, "added"):
                self.added[name] = number
        for name, gone in only.removed.items():
            collection = self._collection(name, "removed")
            if collection is not None:
                self.removed[name] = frozenset(self._key(collection, key) for key in gone)

    def part(self, shape: s.StateShape) -> _Part:
        name = shape.name
        return _Part(
            shape,
            fields_alike(shape.record),
            self.fields.get(name, {}),
            self.added.get(name, 0),
            self.removed.get(name, frozenset()),
        )

    def _state(self, name: str, kind: str) -> s.StateShape | None:
        found = self.states.get(name)
        if found is None:
            self.report.unknown(
                "scenario-unknown-state",
                self.spans(kind, name),
                f"only: there is no state '{printable(name)}'",
                name,
                list(self.states),
                "states",
            )
        return found

    def _collection(self, name: str, kind: str) -> s.Collection | None:
        found = self._state(name, kind)
        if isinstance(found, s.Single):
            self.report.error(
                "scenario-unknown-state",
                self.spans(kind, name),
                f"only: {name} is a single record, none can be {kind}",
                help=f'what may change of it stands under fields: {name}: {{"": [FIELD]}}',
            )
            return None
        return found

    def _key(self, shape: s.StateShape, key: str) -> Any:
        if isinstance(shape, s.Single):
            if key:
                self.report.error(
                    "scenario-unknown-state",
                    self.spans("fields", shape.name, key),
                    f"only: {shape.name} is a single record and has no keys",
                    help=f'write {shape.name}: {{"": [FIELD]}}',
                )
            return None
        if shape.key.of is s.INT:
            return int(key) if key.lstrip("-").isdigit() else key
        return key

    def _names(self, shape: s.StateShape, key: str, names: tuple[str, ...]) -> frozenset[str]:
        found = set()
        outside = {f.json: f.name for f in shape.record.fields}
        known = outside | {f.name: f.name for f in shape.record.fields if f.name not in outside}
        for name in names:
            if name in known:
                found.add(known[name])
                continue
            self.report.unknown(
                "scenario-unknown-field",
                self.spans("fields", shape.name, key, name),
                f"only: {shape.record.name} has no field '{printable(name)}'",
                name,
                list(outside),
                "fields",
            )
        return frozenset(found)

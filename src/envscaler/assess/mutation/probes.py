"""States at the border of what a spec allows: known ones with a value changed, or with a record several times."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from envscaler.assess.mutation.bounds import Bounds
from envscaler.assess.mutation.near import is_time, times_near
from envscaler.errors import EnvscalerError
from envscaler.runtime import Environment

__all__ = ["Probe", "Probes", "difference_of_states", "in_turn", "inside", "probes"]

_MOST: Final = 3000
_PLACES: Final = 3  # of each shape, so of each field of a collection
_DONORS: Final = 8  # other values of a field
_TWICE: Final = 2  # records of a collection that are there again
_COPIES: Final = (1, 2, 3, 5)  # as often
_NUMBERS: Final = (0, 1, -1, 2)
_FINE: Final = 0.004  # is lost where cents are rounded to

_T = TypeVar("_T")
_THROUGH: Final[Any] = object()

Place = tuple[Any, ...]
"""Where in a state: keys and indices."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One changed state: ``start`` counts the known states, ``new`` stands at ``place`` of it; ``problem`` is what the
    original has against it, None when it allows it."""

    start: int
    place: Place
    new: Any
    problem: str | None


@dataclass(frozen=True, slots=True)
class Probes:
    """``states``: known ones of the original, with all defaults; ``tried``: changes of one value in one of them."""

    states: tuple[Mapping[str, Any], ...]
    tried: tuple[Probe, ...]

    def state(self, probe: Probe) -> Any:
        """The changed state."""
        return _changed(self.states[probe.start], probe.place, probe.new)


@dataclass(slots=True)
class _Shape:
    """A field of a collection, or a part of one: where it stands with a value of its own, where with one that was there
    before, and which values it has."""

    places: list[tuple[int, Place, Any]] = field(default_factory=list)
    alike: list[tuple[int, Place, Any]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def enter(self, start: int, place: Place, value: Any) -> None:
        name = json.dumps(value, sort_keys=True, default=str)
        fresh = name not in self.values
        if len(self.values) < _DONORS:
            self.values.setdefault(name, value)
        mine = self.places if fresh else self.alike
        if len(mine) < _PLACES:
            mine.append((start, place, value))


def probes(environment: type[Environment], states: Iterable[Mapping[str, Any]], bounds: Bounds) -> Probes:
    """Changes of the initial state and of ``states``, with what the original says to each. Every field of a collection has
    its turn, wherever a record has a value of it; and records are there again, alike and with one field changed."""
    known = (environment.new().state, *states)
    shapes: dict[Place, _Shape] = {}
    for start, state in enumerate(known):
        for place, value in _values(state, ()):
            shapes.setdefault(_shape(state, place), _Shape()).enter(start, place, value)
    found: list[Probe] = []
    turns = [_entered(known, names, own, values) for names, own, values in bounds.absent]
    turns += [_changes(shape, name, bounds) for name, shape in shapes.items()]
    turns += [_again(name, held, shapes, bounds) for name, held in known[0].items() if isinstance(held, Mapping)]
    for start, place, new in in_turn(turns):
        found.append(Probe(start, place, new, _problem(environment, _changed(known[start], place, new))))
        if len(found) == _MOST:
            break
    return Probes(known, tuple(found))


def difference_of_states(environment: type[Environment], given: Probes) -> str:
    """The first changed state that one class allows and the other does not, or refuses in other words, in words; "" when
    there is none."""
    for probe in given.tried:
        got, was = _problem(environment, given.state(probe)), probe.problem
        if got != was:
            words = f"{_verdict(was)}, now {_verdict(got)}"
            return f"a state with {'.'.join(map(str, probe.place))} = {str(probe.new)[:40]} is {words}"
    return ""


def _verdict(problem: str | None) -> str:
    if problem is None:
        return "allowed"
    first, *more = problem.splitlines()
    return f"refused ({first[:100]}{f' and {len(more)} more' if more else ''})"


# -- which changes


def _changes(shape: _Shape, name: Place, bounds: Bounds) -> Iterator[tuple[int, Place, Any]]:
    """Other values of a field, in the records that are chosen for it."""
    outside = next((p for p in reversed(name) if isinstance(p, str) and p != "*"), "")
    places = (*shape.places, *shape.alike)
    values = [list(_others(old, outside, shape, bounds)) for _, _, old in places]
    for shift in range(len(places)):  # each value once, here or there, before any is tried twice
        for number in range(max(map(len, values), default=0)):
            chosen = (number + shift) % len(places)
            if number < len(values[chosen]):
                start, place, _ = places[chosen]
                yield start, place, values[chosen][number]


def _entered(
    known: Sequence[Mapping[str, Any]], names: Set[str], own: str, values: Sequence[Any]
) -> Iterator[tuple[int, Place, Any]]:
    """A field that objects may be without, in the first that are."""
    without = (
        (start, place)
        for start, state in enumerate(known)
        for place, held in _objects(state, ())
        if held and own not in held and held.keys() <= names
    )
    for start, place in itertools.islice(without, _PLACES):
        for value in values:
            yield start, (*place, own), value


def _again(
    name: str, held: Mapping[str, Any], shapes: Mapping[Place, _Shape], bounds: Bounds
) -> Iterator[tuple[int, Place, Any]]:
    """Records of a collection of the initial state again, under keys of their own: alike, and with one field changed."""
    for key in [key for key, record in held.items() if isinstance(record, Mapping)][:_TWICE]:
        for number in _COPIES:
            yield 0, (name,), _with_copies(held, key, number)
        for own, old in held[key].items():
            shape = shapes.get((name, "*", own), _Shape())
            for new in itertools.islice(_others(old, own, shape, bounds, donors_first=True), _DONORS):
                yield 0, (name, _fresh(key, held)), {**held[key], own: new}


def _with_copies(held: Mapping[str, Any], key: str, number: int) -> Mapping[str, Any]:
    """A collection with as many more of a record."""
    made = dict(held)
    for _ in range(number):
        made[_fresh(key, made)] = held[key]
    return made


def _others(old: Any, name: str, shape: _Shape, bounds: Bounds, *, donors_first: bool = False) -> Iterator[Any]:
    """Values to put in the place of one."""
    told = bounds.fields.get(name, ())
    made = list(_made(old, told, bounds.constants))
    donors = [v for v in shape.values.values() if _kind(v) == _kind(old) or old is None]
    every = [*donors, *made] if donors_first else [*made, *donors]
    every += ["nobody"] if old is None or isinstance(old, str) else []
    every += [None] if old is not None else []
    seen = {json.dumps(old, sort_keys=True, default=str)}
    for value in every:
        text = json.dumps(value, sort_keys=True, default=str)
        if text not in seen:
            seen.add(text)
            yield value


def _made(old: Any, told: Sequence[Any], constants: Sequence[Any]) -> Iterator[Any]:
    if isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (old + 1, old - 1)
        yield from (n for n in told if _kind(n) == "number")
        yield from (-old, *_NUMBERS)
        yield old + _FINE
        for n in constants:
            if _kind(n) == "number":
                yield from (n, n + 1, n - 1)
    elif isinstance(old, str):
        yield from (b for b in told if isinstance(b, str))
        yield from times_near(old)
        for text in constants:
            if _kind(text) == _kind(old) != "text":
                yield from (text, *times_near(text))
    elif isinstance(old, list):
        yield from ([], old[:-1], [*old, *old[-1:]], old[::-1])
    elif old is None:
        yield from told


def _kind(value: Any) -> str:
    """What can stand for what: numbers for numbers, times for times as they are written."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    if isinstance(value, str):
        return re.sub(r"\d", "0", value) if is_time(value) else "text"
    return type(value).__name__


# -- states


def _values(node: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """What a state holds, and where. A list stands before what is in it."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _values(value, (*place, key))
    else:
        if place:
            yield place, node
        if isinstance(node, list):
            for number, value in enumerate(node):
                yield from _values(value, (*place, number))


def _objects(node: Any, place: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The objects in a state, and where they are; the state itself is one, where its only record is laid out flat."""
    if isinstance(node, Mapping):
        yield place, node
        for key, value in node.items():
            yield from _objects(value, (*place, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _objects(value, (*place, number))


def _shape(state: Mapping[str, Any], place: Place) -> Place:
    """A place with the key of its record and all indices left open."""
    open_ = len(place) > 1 and isinstance(inside(state, place[:2]), Mapping)
    return tuple("*" if isinstance(p, int) or (open_ and i == 1) else p for i, p in enumerate(place))


def inside(state: Any, place: Place) -> Any:
    """What stands at a place of a state."""
    for part in place:
        state = state.get(part) if isinstance(state, Mapping) else state[part]
    return state


def _changed(state: Any, place: Place, new: Any) -> Any:
    made = dict(state) if isinstance(state, Mapping) else copy.copy(state)
    made[place[0]] = new if len(place) == 1 else _changed(state[place[0]], place[1:], new)
    return made


def _fresh(key: str, held: Mapping[str, Any]) -> str:
    """A key beside another that no record has: with another number, where it has one."""
    found = re.search(r"\d+(?=\D*$)", key)
    if found is None:
        names = (key + "x" * n for n in itertools.count(1))
    else:
        head, digits, tail = key[: found.start()], found[0], key[found.end() :]
        names = (f"{head}{n:0{len(digits)}d}{tail}" for n in itertools.count(int(digits) + 1))
    return next(name for name in names if name not in held)


def in_turn(turns: Iterable[Iterator[_T]]) -> Iterator[_T]:
    """One of each, then another of each, until all are through."""
    rows = itertools.zip_longest(*turns, fillvalue=_THROUGH)
    return (item for row in rows for item in row if item is not _THROUGH)


def _problem(environment: type[Environment], state: Any) -> str | None:
    try:
        environment.prepare(state)
    except EnvscalerError as error:
        return str(error)
    return None

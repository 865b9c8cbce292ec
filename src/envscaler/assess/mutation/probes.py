"""States at the border of what a spec allows: the initial one with a field changed, accepted or refused by the original."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from envscaler.errors import EnvscalerError
from envscaler.runtime import Environment

__all__ = ["Probe", "Probes", "difference_of_states", "probes"]

_RECORDS: Final = 3  # of a collection
_MOST: Final = 600
_NUMBERS: Final = (0, 1, -1, 2)

Probe = tuple[tuple[Any, ...], Any, str | None]
"""Where in the state (keys and indices), the value put there, and the first problem that the original has with it."""


@dataclass(frozen=True, slots=True)
class Probes:
    """``state``: the original's initial one, with all defaults; ``tried``: changes of one value of it."""

    state: Mapping[str, Any]
    tried: tuple[Probe, ...]


def probes(environment: type[Environment], bounds: Mapping[str, tuple[Any, ...]]) -> Probes:
    """Changes of the initial state, with what the original says to each: of the first record of each collection, then of
    others. ``bounds``: values at and beside the declared bounds, by the outside name of a field."""
    state = environment.new().state
    found: list[Probe] = []
    for _, place, old in sorted(_values(state, ()), key=lambda value: value[0]):
        name = next((p for p in reversed(place) if isinstance(p, str)), "")
        for new in dict.fromkeys(_others(old, bounds.get(name, ()))):
            if len(found) < _MOST:
                found.append((place, new, _problem(environment, _changed(state, place, new))))
    return Probes(state, tuple(found))


def difference_of_states(environment: type[Environment], given: Probes) -> str:
    """The first changed state that one class allows and the other does not, in words; "" when there is none."""
    for place, new, problem in given.tried:
        got = _problem(environment, _changed(given.state, place, new))
        if (got is None) is not (problem is None):
            words = f"allowed, now refused: {got}" if problem is None else f"refused ({problem}), now allowed"
            return f"the initial state with {'.'.join(map(str, place))} = {new!r} is {words}"[:200]
    return ""


def _values(node: Any, place: tuple[Any, ...], rank: int = 0) -> Iterator[tuple[int, tuple[Any, ...], Any]]:
    """Values with the number of the record that they are of, and where they are."""
    if isinstance(node, Mapping):
        for number, (key, value) in enumerate(node.items()):
            is_record = len(place) == 1 and isinstance(value, Mapping)
            if not is_record or number < _RECORDS:
                yield from _values(value, (*place, key), number if is_record else rank)
    elif isinstance(node, list):
        for number, value in enumerate(node[:_RECORDS]):
            yield from _values(value, (*place, number), max(rank, number))
    else:
        yield rank, place, node


def _others(old: Any, bounds: tuple[Any, ...]) -> Iterator[Any]:
    if isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (n for n in (old + 1, old - 1, -old, *_NUMBERS, *bounds) if n != old)
    elif isinstance(old, str):
        yield from (b for b in bounds if isinstance(b, str) and b != old)
        yield "nobody"
    elif old is None:
        yield from (*bounds, "nobody")
    if old is not None:
        yield None


def _changed(state: Any, place: tuple[Any, ...], new: Any) -> Any:
    made = copy.copy(state)
    if isinstance(made, Mapping):
        made = dict(made)
    made[place[0]] = new if len(place) == 1 else _changed(state[place[0]], place[1:], new)
    return made


def _problem(environment: type[Environment], state: Any) -> str | None:
    try:
        environment.prepare(state)
    except EnvscalerError as error:
        return str(error).splitlines()[0][:120]
    return None

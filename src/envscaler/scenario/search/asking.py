"""Questions that a state answers: reads whose results hold one typed value that somebody may want to know."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from envscaler.runtime.pointers import joined
from envscaler.runtime.prepare import Base
from envscaler.scenario.plan import Plan
from envscaler.scenario.pointers import lookup
from envscaler.scenario.search.assembling import Assembly
from envscaler.scenario.search.finding import grounded
from envscaler.scenario.search.lookups import Lookups
from envscaler.scenario.search.settings import SearchSettings
from envscaler.scenario.search.walk import Walk, rarest
from envscaler.scenario.world import ToolInfo, World
from envscaler.spec import types as t

__all__ = ["Question", "changed_values", "questions"]

_FAILURES: Final = 60
_TRIES: Final = 12
_PLAIN: Final[Mapping[str, str]] = {
    "int": "int", "float": "number", "number": "number", "money": "money", "bool": "bool", "date": "date",
    "datetime": "datetime", "time": "time", "str": "str",
}  # fmt: skip
_LONG: Final = 60


@dataclass(frozen=True, slots=True)
class _Spot:
    """What of a read's data is asked for: the ``value`` at the JSON pointer ``path``, or how many entries (``count``) the list
    there has. ``name``: the field (of the list, for a count). ``type``: of the answer, as YAML holds types. ``row``: for a
    value in a list, the fields that tell its entry."""

    path: str
    way: Literal["value", "count"]
    name: str
    value: Any
    type: Any
    row: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(_Spot):
    """``plan``: reads, the last of which gives what is asked for."""

    plan: Plan


def questions(
    world: World, base: Base, settings: SearchSettings | None = None, rng: random.Random | None = None, seed: int = 0
) -> Iterator[Question]:
    """Questions in a state, as `finding.plans` gives plans."""
    chosen, draws = settings or SearchSettings(), rng or random.Random(0)  # noqa: S311 - no secret is made
    lookups = grounded(world, base, seed)
    counts = dict(chosen.counts)
    tools = [t for t in world.reads if not t.effects.draws and (not chosen.tools or t.name in chosen.tools)]
    failed = 0
    while tools and failed < _FAILURES:
        tool = rarest(tools, counts, draws)
        counts[tool.name] = counts.get(tool.name, 0) + 1
        found = _question(lookups, chosen, draws, tool)
        failed = failed + 1 if found is None else 0
        if found is not None:
            yield found


def changed_values(after: Any, before: Any, of: t.Type) -> Iterator[tuple[str, str, Any, Any]]:
    """The plain values outside lists of a result of a type that are another than in ``before``, None where that is missing:
    JSON pointer, name, value, and the type as YAML holds it."""
    for spot in _spots(after, of):
        outside = spot.way == "value" and not any(part.isdigit() for part in spot.path.split("/"))
        if outside and (before is None or lookup(before, spot.path) != spot.value):
            yield spot.path, spot.name, spot.value, spot.type


def _question(lookups: Lookups, settings: SearchSettings, rng: random.Random, tool: ToolInfo) -> Question | None:
    walk = Walk(lookups.ground, settings, rng)
    for _ in range(_TRIES):
        move, error, _ = walk.probe(tool)
        required = {
            name: value for name, value in move.arguments.items() if name in tool.params and tool.params[name].required
        }
        if error is not None:
            continue
        move = type(move)(move.tool, required, move.actor)
        plan = Assembly(lookups, settings, rng).single(move)
        if plan is None:
            continue
        known = {v for fields in plan.described.values() for v in fields.values()} | {
            v for v in required.values() if v.__class__ in (str, int, float)
        }
        limits = {p.default for p in tool.params.values() if p.default.__class__ is int}
        spots = [
            one for one in _spots(plan.calls[-1].result["data"], tool.returns) if _is_news(one, known, limits, lookups)
        ]
        if spots:
            one = rng.choice(spots)
            return Question(one.path, one.way, one.name, one.value, one.type, one.row, plan=plan)
    return None


def _is_news(spot: _Spot, known: set[Any], limits: set[int], lookups: Lookups) -> bool:
    value = spot.value
    if spot.way == "count" and value in limits:  # the list may have been cut off there
        return False
    if value.__class__ is str and (value in lookups.keys or len(value) > _LONG or "\n" in value or not value):
        return False
    return value not in known and value not in spot.row.values()


def _spots(value: Any, of: t.Type, parts: tuple[str | int, ...] = (), name: str = "") -> Iterator[_Spot]:
    """What can be asked for: plain values outside lists, how long lists are, values of entries that one field tells."""
    inner = t.strip_null(of)
    match inner:
        case t.Obj() | t.Struct() if value.__class__ is dict:
            for key, one in _members(inner):
                if key in value:
                    yield from _spots(value[key], one, (*parts, key), key)
        case t.ListOf(item=item) if value.__class__ is list and value:
            yield _Spot(joined(parts), "count", name, len(value), "int")
            yield from _entries(value, t.strip_null(item), parts)
        case _ if (kind := _type(inner)) is not None and value is not None and value.__class__ not in (dict, list):
            if name:
                yield _Spot(joined(parts), "value", name, value, kind)


def _entries(value: list[Any], item: t.Type, parts: tuple[str | int, ...]) -> Iterator[_Spot]:
    if not isinstance(item, t.Obj | t.Struct) or not all(one.__class__ is dict for one in value):
        return
    for i, entry in enumerate(value):
        telling = next((n for n, of in _members(item) if t.strip_null(of) == t.STR and _tells(n, entry, value)), None)
        for name, of in _members(item) if telling is not None else ():
            kind = _type(t.strip_null(of))
            if name != telling and kind is not None and entry.get(name) is not None:
                row = {telling: entry[telling]} if telling is not None else {}
                yield _Spot(joined((*parts, i, name)), "value", name, entry[name], kind, row)


def _tells(name: str, entry: Mapping[str, Any], entries: list[Any]) -> bool:
    value = entry.get(name)
    short = value.__class__ is str and 0 < len(value) <= _LONG and "\n" not in value
    return short and sum(one.get(name) == value for one in entries) == 1


def _members(of: t.Obj | t.Struct) -> Iterator[tuple[str, t.Type]]:
    if isinstance(of, t.Obj):
        yield from of.items
    else:
        yield from ((f.json, f.type) for f in of.fields.values())


def _type(of: t.Type) -> Any:
    match of:
        case t.Scalar(name=name):
            return _PLAIN.get(name)
        case t.Enum(values=values) if all(v.__class__ is str for v in values):
            return {"enum": list(values)}
    return None

"""Wishes about a record that does not exist: what it is told by belongs to none, and the reads that would find it show so."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.kinds.common import Found, found_plans
from envscaler.scenario.model import Source, Step
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.pointers import lookup
from envscaler.scenario.search import SearchSettings
from envscaler.scenario.search.ground import leaves
from envscaler.scenario.wording.leaves import TOLD
from envscaler.scenario.wording.values import strip_null
from envscaler.scenario.world import World

__all__ = ["Absent", "absences", "steps_to"]

_SEARCH: Final = SearchSettings(writes=(1.0,), quoted=0.0, free=0.0, user_steps=False)
_MISSES: Final = 25  # plans in a row of which nothing comes
_TRIES: Final = 4
_PEERS: Final = 60
_SHORTEST: Final = 4
_DOMAINS: Final = ("example.com", "example.net", "example.org")


@dataclass(frozen=True, slots=True)
class Absent:
    """``plan``: a wish for one write, told of a record that is not there, with the reads as they would be made to find it.
    ``reads``: those of them, by index, that show that it is not there; ``collection``: in which; ``value``: told of it."""

    plan: Plan
    reads: tuple[int, ...]
    collection: str
    value: str


def absences(world: World, state: Mapping[str, Any], kind: str, seed: int) -> Iterator[tuple[Found, Absent]]:
    """Such wishes in a state, as long as there are some."""
    env = world.environment.new(world.base(state))
    start = env.snapshot()
    text = json.dumps(state, ensure_ascii=False)
    missed = 0
    for found in found_plans(world, state, f"{kind}:absent", seed, settings=_SEARCH):
        made = next(_absent(world, env, state, text, found), None) if len(found.plan.writes) == 1 else None
        env.restore(start)
        missed = missed + 1 if made is None else 0
        if made is not None:
            yield replace(found, plan=made.plan), made
        elif missed == _MISSES:
            return


def steps_to(absent: Absent, sources: Mapping[int, Mapping[str, Source]]) -> tuple[Step, ...]:
    """The reads that show it, as the steps of a solution."""
    place = {index: n for n, index in enumerate(absent.reads)}
    steps = []
    for index in absent.reads:
        call = absent.plan.calls[index]
        moved = {
            name: replace(one, step=place[one.step]) if one.kind == "found" else one
            for name, one in sources.get(index, call.sources).items()
        }
        steps.append(Step(call.tool, call.arguments, moved, call.refused))
    return tuple(steps)


def _absent(world: World, env: Environment, state: Mapping[str, Any], text: str, found: Found) -> Iterator[Absent]:
    plan, rng = found.plan, found.rng
    for record, fields in plan.described.items():
        finder = _finder(plan, record[1])
        for name in fields if finder is not None else ():
            for value in _unheard(world, state, text, rng, record[0], name, fields[name]):
                told = _retold(plan, record, name, value)
                reads = _shown(env, told, finder, value) if told is not None and finder is not None else None
                if told is not None and reads is not None:
                    yield Absent(_with(told, reads), tuple(reads), record[0], value)


def _finder(plan: Plan, key: str) -> int | None:
    """The read in whose result the key is found."""
    for call in plan.calls:
        for source in call.sources.values():
            if source.kind == "found" and plan.calls[source.step].kind == "read":
                result = plan.calls[source.step].result
                if str(lookup(result.get("data"), source.path)) == key:
                    return source.step
    return None


def _unheard(
    world: World, state: Mapping[str, Any], text: str, rng: random.Random, collection: str, name: str, value: Any
) -> list[str]:
    """Values like one of a record's, that nothing in the state has."""
    shape = world.collections[collection]
    field = next((f for f in shape.record.fields if f.json == name), None)
    plain = field is not None and strip_null(field.shape) is s.STR and isinstance(value, str)
    if not plain or len(value) < _SHORTEST:
        return []
    held = state[collection]
    records = list(held.values() if isinstance(held, Mapping) else held)
    peers = [one[name] for one in rng.sample(records, min(_PEERS, len(records))) if isinstance(one.get(name), str)]
    made = [one for one in dict.fromkeys(_variants(rng, value, peers)) if one not in text]
    return made[:_TRIES]


def _variants(rng: random.Random, value: str, peers: list[str]) -> Iterator[str]:
    """An address elsewhere, other digits, or a name that ends as another does."""
    before, at, _ = value.partition("@")
    if at:
        yield from (f"{before}@{domain}" for domain in rng.sample(_DOMAINS, len(_DOMAINS)))
    elif value.isdigit():
        yield from ("".join(rng.choice("0123456789") for _ in value) for _ in range(_TRIES))
    elif " " in value:
        yield from (f"{value.rpartition(' ')[0]} {peer.rpartition(' ')[2]}" for peer in peers if " " in peer)


def _retold(plan: Plan, record: tuple[str, str], name: str, value: str) -> Plan | None:
    """The plan with another value told of a record; None where the old one is told of another record too."""
    old = plan.described[record][name]
    if any(old in fields.values() for other, fields in plan.described.items() if other != record):
        return None
    calls = tuple(
        replace(call, arguments={n: value if _is_told(call, n, old) else one for n, one in call.arguments.items()})
        if call.kind == "read"
        else call
        for call in plan.calls
    )
    described = {n: value if one == old else one for n, one in plan.described[record].items()}
    return replace(plan, calls=calls, described={**plan.described, record: described})


def _is_told(call: PlannedCall, name: str, value: Any) -> bool:
    return call.arguments[name] == value and call.sources.get(name, TOLD).kind == "task"


def _shown(env: Environment, plan: Plan, finder: int, value: str) -> dict[int, str] | None:
    """The reads up to the one that would find the record, each with the error that it is refused with; None unless that one
    has nothing of the value. No other of them fails."""
    needed = {finder}
    for index in range(finder, -1, -1):
        if index in needed:
            needed |= {one.step for one in plan.calls[index].sources.values() if one.kind == "found"}
    refused: dict[int, str] = {}
    for index in sorted(needed):
        call = plan.calls[index]
        result = env.call(call.tool, dict(call.arguments))
        if not result.ok and (index != finder or result.error is None or result.error.code == "invalid_argument"):
            return None
        if call.kind != "read" or (result.ok and any(one == value for _, one in leaves({"": result.value}))):
            return None
        if index != finder and result.value != call.result.get("data"):
            return None
        refused[index] = "" if result.error is None else result.error.rule or result.error.message
    return refused


def _with(plan: Plan, refused: Mapping[int, str]) -> Plan:
    calls = tuple(replace(call, refused=refused.get(n, call.refused)) for n, call in enumerate(plan.calls))
    return replace(plan, calls=calls)

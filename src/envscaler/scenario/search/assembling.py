"""A plan from the writes of a walk: the reads that find their arguments, where each argument comes from, the goals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import joined
from envscaler.scenario.goals import Loose, derive
from envscaler.scenario.model import Source
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.search.arguments import is_text
from envscaler.scenario.search.ground import Ground, Record, leaves
from envscaler.scenario.search.lookups import Lookup, Lookups, Read
from envscaler.scenario.search.pointing import single_out
from envscaler.scenario.search.settings import SearchSettings
from envscaler.scenario.search.walk import Move

__all__ = ["Assembly", "key_parts"]

_SHORTEST: Final = 5  # a shorter text may stand in others by chance
_MADE: Final = ("id", "token", "number", "code")  # ends of the names of values that a system makes


class _Unfound(Exception):
    """A value that only the system knows and that no read shows, or a call that is refused now."""


class _Late(Exception):
    """A read that gives something else once a write was made: it has to come first."""


class Assembly:
    """One plan in the making. Draws from ``rng`` only."""

    def __init__(self, lookups: Lookups, settings: SearchSettings, rng: random.Random) -> None:
        self.ground: Ground = lookups.ground
        self.lookups, self.settings, self.rng = lookups, settings, rng
        self.env = self.ground.env

    def plan(self, moves: Sequence[Move]) -> Plan | None:
        """The plan, or None where an argument can neither be told nor found."""
        seed = self.rng.getrandbits(32)
        for early in (False, True):
            try:
                return _Draft(self, random.Random(seed), early).plan(moves)  # noqa: S311 - no secret is made
            except _Late:
                continue
            except _Unfound:
                return None
        return None

    def single(self, move: Move, refused: str = "") -> Plan | None:
        """A plan of one call, a read or one that is meant to be refused, with the reads before it; no goals follow from it.
        None where an argument can neither be told nor found."""
        draft = _Draft(self, random.Random(self.rng.getrandbits(32)), False)  # noqa: S311 - no secret is made
        try:
            return draft.single(move, refused)
        except (_Late, _Unfound):
            return None


class _Draft:
    def __init__(self, assembly: Assembly, rng: random.Random, early: bool) -> None:
        self.ground, self.lookups, self.env = assembly.ground, assembly.lookups, assembly.env
        self.settings, self.rng, self.early = assembly.settings, rng, early
        self.calls: list[PlannedCall] = []
        self.values: list[Any] = []
        self.where: dict[tuple[str, str], int] = {}
        self.about: dict[int, tuple[tuple[str, str], ...]] = {}
        self.described: dict[tuple[str, str], dict[str, Any]] = {}
        self.within: dict[tuple[str, str], tuple[str, str]] = {}
        self.free: set[str] = set()
        self.told: set[Any] = set()
        self.sources: dict[Record, Source] = {}

    def plan(self, moves: Sequence[Move]) -> Plan | None:
        self.env.restore(self.ground.start)
        if self.early:
            for move in moves:
                for _, collection, key in self._keys(move):
                    if key in self.ground.key_sets[collection]:
                        self._of_key((collection, key))
        for move in moves:
            self._write(move)
        changes = tuple(self.env.diff())
        clocks = {self.env._state._now, self.env._state._today} - self.told
        loose = Loose(frozenset(clocks), frozenset(self.free - self.told), _drawn(self.ground, moves))
        steps = [(n, call.changes) for n, call in enumerate(self.calls) if call.changes]
        self.env.restore(self.ground.start)
        for move in moves:
            self.env.call(move.tool, dict(move.arguments), move.actor)
        derived = derive(self.env, steps, loose)
        if not derived.goals:
            return None
        calls = self._with_purposes()
        return Plan(
            calls, changes, derived.goals, derived.guards, self.about, self.described, self.within, _tags(moves, calls)
        )

    def single(self, move: Move, refused: str) -> Plan | None:
        self.env.restore(self.ground.start)
        sources = self._sources(move)
        result = self.env.call(move.tool, dict(move.arguments))
        if result.ok == bool(refused) or result.changed:
            return None
        kind = self.ground.world.tools[move.tool].kind
        about = tuple(dict.fromkeys((collection, str(key)) for _, collection, key in self._keys(move)))
        self.about[len(self.calls)] = about
        call = PlannedCall(move.tool, dict(move.arguments), kind, result.to_json(), (), sources, refused)
        self._add(call, result.value)
        calls = self._with_purposes()
        tags = {"reads": len(calls) - (kind == "write"), "tools": sorted({one.tool for one in calls})}
        return Plan(calls, (), (), (), self.about, self.described, self.within, tags)

    # -- calls

    def _write(self, move: Move) -> None:
        sources = self._sources(move)
        about = tuple(dict.fromkeys((collection, str(key)) for _, collection, key in self._keys(move)))
        before = self.env.snapshot()
        result = self.env.call(move.tool, dict(move.arguments), move.actor)
        if not result.ok:
            raise _Unfound
        self.about[len(self.calls)] = about
        call = PlannedCall(
            move.tool,
            dict(move.arguments),
            "write",
            result.to_json(),
            tuple(self.env.diff(before)),
            sources,
            actor="user" if move.actor == "user" else "agent",
        )
        self._add(call, result.value)

    def _add(self, call: PlannedCall, value: Any) -> int:
        self.calls.append(call)
        self.values.append(value)
        return len(self.calls) - 1

    def _keys(self, move: Move) -> Iterator[tuple[str, str, Any]]:
        tool = self.ground.world.tools[move.tool]
        for name, value in move.arguments.items():
            if name in tool.params:
                yield from key_parts(self.lookups, name, tool.params[name].shape, value, self._is_key)

    def _is_key(self, collection: str, key: Any) -> bool:
        try:
            return key in self.ground.key_sets[collection] or getattr(self.env._state, collection).get(key) is not None
        except TypeError:
            return False

    def _with_purposes(self) -> tuple[PlannedCall, ...]:
        serves: dict[int, list[tuple[int, str]]] = {}
        for n, call in enumerate(self.calls):
            for name, source in call.sources.items():
                if source.kind == "found":
                    serves.setdefault(source.step, []).append((n, name))
        return tuple(
            replace(call, purpose=tuple(serves.get(n, ()))) if call.kind == "read" else call
            for n, call in enumerate(self.calls)
        )

    # -- where arguments come from

    def _sources(self, move: Move) -> dict[str, Source]:
        found: dict[str, Source] = {}
        keys = {path: (collection, key) for path, collection, key in self._keys(move)}
        for name, value in move.arguments.items():
            if name in keys:
                found[name] = self._of_key(keys[name])
                continue
            parts = {path: at for path, at in keys.items() if path.startswith(f"{name}/")}
            for path, at in parts.items():
                found[path] = self._of_key(at)
            if not (parts and value.__class__ is list and len(parts) == len(value)):
                found[name] = self._of_plain(move, name, value, {at[1] for at in parts.values()})
        return found

    def _of_plain(self, move: Move, name: str, value: Any, keys: set[Any]) -> Source:
        param = self.ground.world.tools[move.tool].params.get(name)
        if value.__class__ in (str, int) and name.lower().endswith(_MADE) and value not in self.told:
            made = self._earlier(value)
            if made is not None:
                return made
        free = param is not None and value.__class__ is str and param.shape is s.STR and is_text(name)
        if free and len(value) >= _SHORTEST and value not in self.told and self.rng.random() < self.settings.free:
            self.free.add(value)
            return Source("free")
        self.told.update(
            one for _, one in leaves({"": value}) if one.__class__ in (str, int, float) and one not in keys
        )
        return Source("task")

    def _of_key(self, at: Record) -> Source:
        if at not in self.sources:
            found = self._found(at)
            if found is None:
                if at[1] not in self.ground.key_sets[at[0]]:
                    raise _Unfound
                shape = self.ground.world.collections[at[0]]
                self.described.setdefault(_name(at), {})[shape.key.json] = at[1]
                self.told.add(at[1])
                found = Source("task")
            self.sources[at] = found
        return self.sources[at]

    def _found(self, at: Record) -> Source | None:
        if at[1] not in self.ground.key_sets[at[0]]:
            return self._earlier(at[1])
        quoted = self.rng.random() < self.settings.quoted
        lookup = self.lookups.find(at)
        if lookup is None or (quoted and not all(_known(read) in self.where for read in lookup.reads)):
            return None
        for record, fields in lookup.told.items():
            self.described.setdefault(_name(record), {}).update(fields)
            self.told.update(fields.values())
        for record, other in lookup.within.items():
            self.within.setdefault(_name(record), _name(other))
        return Source("found", step=self._made(lookup), path=lookup.path)

    def _made(self, lookup: Lookup) -> int:
        """The index of the last read of a chain, whose reads are made now where they were not before."""
        for read in lookup.reads:
            if _known(read) not in self.where:
                result = self.env.call(read.tool, dict(read.arguments))
                if not result.ok or result.value != read.value:
                    raise _Unfound if self.early else _Late
        indices: list[int] = []
        for read in lookup.reads:
            known = _known(read)
            if known not in self.where:
                sources = {
                    name: Source("found", step=indices[one.read], path=one.path)
                    if one.read >= 0
                    else Source("task" if one.read == -1 else "free")
                    for name, one in read.sources.items()
                }
                done = {"success": True, "data": read.value}
                self.where[known] = self._add(
                    PlannedCall(read.tool, dict(read.arguments), "read", done, (), sources), read.value
                )
            indices.append(self.where[known])
        return indices[-1]

    def _earlier(self, value: Any) -> Source | None:
        """A result of an earlier write that holds the value, and nothing else of its kind."""
        for n, call in enumerate(self.calls):
            if call.kind == "write":
                returns = self.ground.world.tools[call.tool].returns
                hit = single_out(self.values[n], returns, value, lambda *_: None)
                if hit is not None:
                    return Source("found", step=n, path=hit.path)
        return None


def key_parts(
    lookups: Lookups, path: str, shape: s.Shape, value: Any, is_key: Callable[[str, Any], bool]
) -> Iterator[tuple[str, str, Any]]:
    """The keys of records within an argument: the parameter's name with a pointer below it, the collection, the key."""
    match shape:
        case s.Nullable() if value is not None:
            yield from key_parts(lookups, path, shape.of, value, is_key)
        case s.Ref():
            if is_key(shape.collection, value):
                yield path, shape.collection, value
        case s.ListOf() if value.__class__ is list:
            for i, one in enumerate(value):
                yield from key_parts(lookups, f"{path}/{i}", shape.item, one, is_key)
        case s.Struct() | s.Union() | s.Partial() if value.__class__ is dict:
            members = (
                shape.members
                if isinstance(shape, s.Union)
                else (shape.of,)
                if isinstance(shape, s.Partial)
                else (shape,)
            )
            for field in (f for member in members for f in member.fields):
                if field.json in value:
                    below = f"{path}{joined([field.json])}"
                    yield from key_parts(lookups, below, field.shape, value[field.json], is_key)
        case s.Scalar() if value.__class__ in (str, int):
            collection = lookups.keyed(path.split("/")[0], shape)
            if collection is not None and is_key(collection, value):
                yield path, collection, value


def _drawn(ground: Ground, moves: Sequence[Move]) -> frozenset[tuple[str, str]]:
    """The fields whose values depend on the episode's random numbers: those that differ under another seed."""
    tools = ground.world.tools
    if not any(tools[move.tool].effects.draws for move in moves):
        return frozenset()
    ends = []
    for seed in (ground.seed, ground.seed + 1):
        env = ground.world.environment.new(ground.env._base, seed)
        if not all(env.call(move.tool, dict(move.arguments), move.actor).ok for move in moves):
            return frozenset()
        ends.append(env)
    found: set[tuple[str, str]] = set()
    for name in ground.world.collections:
        one, two = (getattr(env._state, name).own for env in ends)
        for old, new in zip(one.values(), two.values(), strict=False):
            found |= {(name, field) for field in old if old[field] != new.get(field)}
    return frozenset(found)


def _tags(moves: Sequence[Move], calls: Sequence[PlannedCall]) -> Mapping[str, Any]:
    writes = [call for call in calls if call.kind == "write"]
    refused = [move.refusal for move in moves if move.refusal is not None]
    tags: dict[str, Any] = {
        "writes": len(writes),
        "reads": len(calls) - len(writes),
        "tools": sorted({call.tool for call in calls}),
        "dependent": sum(move.needs > 0 for move in moves),
    }
    if refused:
        tags["refused_first"] = [error.rule or error.message for error in refused]
    return tags


def _name(at: Record) -> tuple[str, str]:
    return at[0], str(at[1])


def _known(read: Read) -> tuple[str, str]:
    return read.tool, repr(sorted(read.arguments.items()))

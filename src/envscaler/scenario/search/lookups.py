"""How an agent finds a record by reads, from what a person would tell: chains of read calls, each tried on the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.search.ground import Ground, Record
from envscaler.scenario.search.pointing import MEMBER, single_out
from envscaler.scenario.world import ToolInfo, World
from envscaler.spec import types as t

__all__ = ["Lookup", "Lookups", "Read", "Told"]

_DEPTH: Final = 3
_COMBINATIONS: Final = 16
_TEXTS: Final = 4
_KEYS: Final = 4
_LONG: Final = 60
_CHAINS: Final = 6  # chains among which the best is taken
_GOOD: Final = 5  # what a record's description costs that needs no better one
_NAMES: Final = ("name", "title", "last_four", "email", "subject", "address")


@dataclass(frozen=True, slots=True)
class Told:
    """Where an argument of a read comes from. ``read`` is the index of an earlier read of the chain, -1 for a value that is
    told, -2 for one that is of no account; ``path`` points into that read's result."""

    read: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """A read that was made. ``value`` is what it gave."""

    tool: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, Told]
    value: Any


@dataclass(frozen=True, slots=True)
class Lookup:
    """Reads in order, the last of which gives the key at ``path``. ``told``: by record what must be known of it; ``within``:
    the record through which another is found."""

    reads: tuple[Read, ...]
    path: str
    told: Mapping[Record, Mapping[str, Any]]
    within: Mapping[Record, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A value for a parameter of a read: told of a record, found by a lookup, or of no account."""

    value: Any
    told: tuple[Record, str] | None = None
    lookup: Lookup | None = None
    at: Record | None = None


class _Result:
    """What a read gave, and the plain values and names of members in it."""

    __slots__ = ("value", "values")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.values: set[Any] = set()
        stack = [value]
        while stack:
            one = stack.pop()
            if one.__class__ is dict:
                self.values.update(one)
                stack.extend(one.values())
            elif one.__class__ is list:
                stack.extend(one)
            else:
                self.values.add(one)


class _Said:
    """What a person can say of a record so that it is true: values of its own fields, and names of what it refers to."""

    def __init__(self, lookups: Lookups, at: Record) -> None:
        ground = lookups.ground
        self._keys = lookups.keys
        self._own = ground.record(at)
        self._names: set[str] = set()
        for record in ground.refers(at):
            for value in ground.record(record).values():
                if value.__class__ is str and value not in lookups.keys and _said(value):
                    self._names.add(value)

    def rank(self, name: str, value: Any) -> int | None:
        """How readily a field of a result is told: names, then other texts, dates, numbers, yes or no; None for never."""
        if value.__class__ is str and (value in self._keys or not _said(value, dates=True)):
            return None
        own = self._own.get(name, s.MISSING)
        if own is s.MISSING or own.__class__ is not value.__class__ or own != value:
            if value.__class__ is not str:
                return None
            if not any(one == value for one in self._own.values()):
                return 1 if value in self._names else None
        if value.__class__ is str:
            if any(word in name for word in _NAMES) or name == MEMBER:
                return 0
            return 2 if value[:4].isdigit() else 1
        return 4 if value.__class__ is bool else 3

    def name(self, name: str, value: Any) -> str:
        """What a field of a result is called: as it is there, or as the record's own field where it has no name there."""
        if name != MEMBER:
            return name
        return next((other for other, one in self._own.items() if one.__class__ is str and one == value), "name")


class Lookups:
    """Of one state; what it finds does not depend on who asked before."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.world = ground.world
        self.keys = frozenset(key for keys in ground.keys.values() for key in keys)
        self._env = ground.world.environment.new(ground.env._base, ground.seed)
        self._found: dict[tuple[Record, int], Lookup | None] = {}
        self._results: dict[tuple[str, str], _Result | None] = {}
        self._said: dict[Record, _Said] = {}

    def find(self, at: Record) -> Lookup | None:
        """The best chain that finds a record of the start among the shortest, None when there is none."""
        for depth in range(1, _DEPTH + 1):
            found = self._find(at, depth)
            if found is not None:
                return found
        return None

    def _find(self, at: Record, depth: int) -> Lookup | None:
        known = (at, depth)
        if known not in self._found:
            self._found[known] = None
            best: tuple[int, Lookup] | None = None
            for found in islice(self._chains(at, depth), _CHAINS):
                cost = self._cost(found)
                if best is None or cost < best[0]:
                    best = cost, found
                if cost <= _GOOD * len(found.told):
                    break
            self._found[known] = None if best is None else best[1]
        return self._found[known]

    def _cost(self, lookup: Lookup) -> int:
        told = [
            self.said(at).rank(name, value) or 0 for at, fields in lookup.told.items() for name, value in fields.items()
        ]
        return sum(told) + 2 * len(told) + 2 * len(lookup.reads)

    def _chains(self, at: Record, depth: int) -> Iterator[Lookup]:
        for tool in _finders(self.world).get(at[0], ()):
            for choices in self._choices(tool, at, depth):
                found = self._made(tool, choices, at)
                if found is not None:
                    yield found

    def _made(self, tool: ToolInfo, choices: Mapping[str, _Choice], at: Record) -> Lookup | None:
        """The lookup that a read with these arguments makes, when it singles the record out."""
        given = {name: one.value for name, one in choices.items()}
        result = self.call(tool.name, given)
        if result is None or at[1] not in result.values:
            return None
        said = self.said(at)
        hit = single_out(result.value, tool.returns, at[1], said.rank)
        if hit is None:
            return None
        reads: list[Read] = []
        told: dict[Record, dict[str, Any]] = {}
        within: dict[Record, Record] = {}
        sources: dict[str, Told] = {}
        for name, one in choices.items():
            if one.lookup is not None and one.at is not None:
                offset = _appended(reads, one.lookup.reads)
                sources[name] = Told(offset[-1], one.lookup.path)
                for record, fields in one.lookup.told.items():
                    told.setdefault(record, {}).update(fields)
                within |= one.lookup.within
                within.setdefault(at, one.at)
            elif one.told is not None:
                told.setdefault(one.told[0], {})[one.told[1]] = one.value
                sources[name] = Told(-1)
                if one.told[0] != at:
                    within.setdefault(at, one.told[0])
            else:
                sources[name] = Told(-2)
        told.setdefault(at, {})
        for name, value in (hit.told if hit.told or told[at] or at in within else hit.more).items():
            told[at][said.name(name, value)] = value
        if not told[at] and at not in within:
            return None
        reads.append(Read(tool.name, given, sources, result.value))
        return Lookup(tuple(reads), hit.path, told, within)

    def said(self, at: Record) -> _Said:
        """How a record is spoken of."""
        if at not in self._said:
            self._said[at] = _Said(self, at)
        return self._said[at]

    def call(self, tool: str, given: Mapping[str, Any]) -> _Result | None:
        """What a read gives at the start, None when it is refused."""
        known = (tool, repr(sorted(given.items())))
        if known not in self._results:
            result = self._env.call(tool, dict(given))
            self._results[known] = _Result(result.value) if result.ok else None
        return self._results[known]

    # -- arguments of reads

    def _choices(self, tool: ToolInfo, at: Record, depth: int) -> Iterator[Mapping[str, _Choice]]:
        required = [name for name, param in tool.params.items() if param.required]
        yield from self._combined(tool, required, at, depth)
        for name, param in tool.params.items():
            if not param.required and _telling(param.shape):
                yield from self._combined(tool, [*required, name], at, depth)

    def _combined(self, tool: ToolInfo, names: list[str], at: Record, depth: int) -> Iterator[Mapping[str, _Choice]]:
        options = [list(self._options(tool, name, tool.params[name], at, depth)) for name in names]
        for found in islice(product(*options), _COMBINATIONS):
            yield dict(zip(names, found, strict=True))

    def _options(self, tool: ToolInfo, name: str, param: s.Field, at: Record, depth: int) -> Iterator[_Choice]:
        shape = param.shape.of if isinstance(param.shape, s.Nullable) else param.shape
        target = shape.collection if isinstance(shape, s.Ref) else self.keyed(name, shape)
        if target is not None:
            if depth > 1 and target != at[0]:
                for key in self.ground.related(at).get(target, ())[:_KEYS]:
                    lookup = self._find((target, key), depth - 1)
                    if lookup is not None:
                        yield _Choice(key, lookup=lookup, at=(target, key))
            return
        record = self.ground.record(at)
        if shape is s.STR:
            yield from islice(self._texts(param, at), _TEXTS)
            return
        if name in record and _plain(record[name]):
            yield _Choice(record[name], told=(at, name))
        for other, value in record.items():
            if other != name and _fits(shape, value):
                yield _Choice(value[:10] if shape is s.DATE else value, told=(at, other))
        if isinstance(shape, s.Enum) and name not in record:
            for value in shape.values[:_KEYS]:
                yield _Choice(value, told=(at, name))
        elif isinstance(shape, s.Scalar):
            for call in tool.examples[:1]:
                if name in call:
                    yield _Choice(call[name])

    def _texts(self, param: s.Field, at: Record) -> Iterator[_Choice]:
        """Texts of the record, and then those of records that it refers to."""
        near = self.ground.related(at)
        others = [(name, key) for name, keys in near.items() for key in keys[:1]]
        for record in [at, *others]:
            fields = self.ground.record(record)
            named = sorted(fields, key=lambda n: (n != param.json, "name" not in n and "title" not in n))
            for name in named:
                value = fields[name]
                if value.__class__ is str and value and value not in self.keys and _said(value):
                    yield _Choice(value, told=(record, name))

    def keyed(self, name: str, shape: s.Shape) -> str | None:
        """The collection whose keys a parameter takes that is no declared reference: it has the key's name."""
        if shape not in (s.STR, s.INT, s.ANY):
            return None
        for collection in self.world.collections.values():
            if name in (collection.key.json, f"{collection.name.removesuffix('s')}_{collection.key.json}"):
                return collection.name
        return None


def _appended(reads: list[Read], more: tuple[Read, ...]) -> list[int]:
    """Put a chain behind others, sharing equal reads; the places at which its reads stand then."""
    where: list[int] = []
    for one in more:
        sources = {n: Told(where[x.read], x.path) if x.read >= 0 else x for n, x in one.sources.items()}
        moved = Read(one.tool, one.arguments, sources, one.value)
        same = [i for i, r in enumerate(reads) if r.tool == moved.tool and r.arguments == moved.arguments]
        where.append(same[0] if same else len(reads))
        if not same:
            reads.append(moved)
    return where


def _telling(shape: s.Shape) -> bool:
    inner = shape.of if isinstance(shape, s.Nullable) else shape
    return isinstance(inner, s.Ref | s.Enum) or inner in (s.STR, s.DATE)


def _plain(value: Any) -> bool:
    return value.__class__ in (str, int, float, bool)


def _said(value: str, dates: bool = False) -> bool:
    """Whether people say a text; dates stand for times only."""
    dated = len(value) >= 10 and value[4:5] == value[7:8] == "-"
    return 0 < len(value) <= _LONG and "\n" not in value and (dates or not dated)


def _fits(shape: s.Shape, value: Any) -> bool:
    if shape is s.DATE:
        return isinstance(value, str) and len(value) in (10, 19, 20) and value[4:5] == value[7:8] == "-"
    if isinstance(shape, s.Enum):
        return value.__class__ in (str, int) and value in shape.values
    return False


# -- which reads can give which keys


@lru_cache(maxsize=64)
def _finders(world: World) -> Mapping[str, tuple[ToolInfo, ...]]:
    """For each collection the reads whose results may hold its keys, those with the fewest needs first."""
    exact: dict[str, list[tuple[tuple[int, bool, int], ToolInfo]]] = {}
    loose: dict[str, list[tuple[tuple[int, bool, int], ToolInfo]]] = {}
    for tool in world.reads:
        if tool.effects.draws:
            continue
        given, open_ = _collections(tool.returns, set()), _loose(tool.returns)
        needs = [p for p in tool.params.values() if p.required]
        refs = sum(isinstance(p.shape, s.Ref | s.ListOf) for p in needs)
        order = (refs, not any(p.shape is s.STR for p in needs), len(needs))
        for name in world.collections:
            if name in given:
                exact.setdefault(name, []).append((order, tool))
            elif open_:
                loose.setdefault(name, []).append((order, tool))
    return {
        name: tuple(tool for _, tool in sorted(tools, key=lambda one: one[0]))
        for name, tools in (loose | exact).items()
    }


def _collections(of: t.Type, seen: set[int]) -> set[str]:
    """The collections whose keys a result of the type holds."""
    if id(of) in seen:
        return set()
    seen = seen | {id(of)}
    match of:
        case t.Key():
            return {of.collection}
        case t.Nullable():
            return _collections(of.of, seen)
        case t.Partial():
            return _collections(of.of, seen)
        case t.ListOf() | t.IterOf():
            return _collections(of.item, seen)
        case t.DictOf():
            return _collections(of.key, seen) | _collections(of.value, seen)
        case t.Obj():
            return set().union(*(_collections(one, seen) for _, one in of.items)) if of.items else set()
        case t.TupleOf():
            return set().union(*(_collections(one, seen) for one in of.items)) if of.items else set()
        case t.Struct():
            own = {of.collection} if of.collection else set()
            return own.union(*(_collections(f.type, seen) for f in of.fields.values()))
        case t.Union():
            return set().union(*(_collections(m, seen) for m in of.members))
    return set()


def _loose(of: t.Type) -> bool:
    """Whether a result of the type may hold keys that the type does not show."""
    match of:
        case t.Nullable() | t.Partial():
            return _loose(of.of)
        case t.ListOf() | t.IterOf():
            return _loose(of.item)
        case t.DictOf():
            return _loose(of.value)
        case t.Obj():
            return any(_loose(one) for _, one in of.items)
    return of in (t.STR, t.ANY, t.INT)

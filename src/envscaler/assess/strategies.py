"""Hypothesis strategies from what a class declares: values of fields, arguments of tools, calls, states."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from envscaler.assess.facts import Facts, ToolFacts
from envscaler.assess.findings import Call
from envscaler.assess.layout import keys_of, laid_out, records_of, without
from envscaler.assess.odd import JUNK, ODD, edges
from envscaler.runtime import shapes as s

__all__ = ["arguments", "calls", "samples", "settled", "states", "steady", "values"]

Keys = Mapping[str, Sequence[Any]]
"""The keys of records by collection."""

_ZONES: Final = ("UTC", "Europe/Lisbon", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "email": ("ada@example.com", "b.ode@example.org", "zoe+1@example.net"),
    "name": ("Ada Lovelace", "Bo Kim", "Chloé Ångström", "O'Neill"),
    "phone": ("+44 20 7946 0958", "+1 555 0100", "+49 30 5550103"),
    "iban": ("DE02120300000000202051", "FR1420041010050500013M02606"),
    "url": ("https://example.com/a", "http://example.org"),
    "city": ("Lisbon", "Graz", "Åarhus"),
    "postcode": ("10435", "SW1A 1AA"),
    "street": ("Main Street 1", "Kastanienallee 7"),
}
_TEXT: Final = st.one_of(
    st.sampled_from(("ok", "note", "Ann", "two words", "Ünïcode", "x" * 60)),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12),
)
_JSON: Final = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), st.text("abcé", max_size=4)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    max_leaves=4,
)


def values(field: s.Field, keys: Keys, clock: str = "2030-01-01T00:00:00Z") -> st.SearchStrategy[Any]:
    """Values in JSON form that the field takes: of its type and within its bounds. ``keys``: what references can name."""
    return _values(field.shape, field, keys, clock)


def _values(shape: s.Shape, field: s.Field, keys: Keys, clock: str) -> st.SearchStrategy[Any]:
    match shape:
        case s.Nullable():
            return st.one_of(_values(shape.of, field, keys, clock), st.none())
        case s.ListOf():
            least, most = field.min_length or 0, field.max_length
            inner = _values(shape.item, s.Field(field.name, shape.item, like=field.like), keys, clock)
            return st.lists(inner, min_size=least, max_size=max(least, min(3, 3 if most is None else most)))
        case s.DictOf():
            inner = _values(shape.value, s.Field(field.name, shape.value), keys, clock)
            key = _values(shape.key, s.Field(field.name, shape.key), keys, clock).map(str)
            return st.dictionaries(key, inner, min_size=field.min_length or 0, max_size=max(field.min_length or 0, 2))
        case s.Enum():
            return st.sampled_from(shape.values)
        case s.Const():
            return st.just(shape.value)
        case s.Ref():
            known = keys.get(shape.collection) or (["nobody"] if shape.of is s.STR else [0])
            return st.sampled_from(list(known))
        case s.Struct():
            return _struct(shape, keys, clock)
        case s.Partial():
            fields = {f.json: values(f, keys, clock) for f in shape.of.fields}
            return st.fixed_dictionaries({}, optional=fields)
        case s.Union():
            return st.one_of([_struct(member, keys, clock) for member in shape.members])
        case s.Scalar():
            return _scalar(shape, field, clock)
    return _JSON


def _struct(shape: s.Struct, keys: Keys, clock: str) -> st.SearchStrategy[Any]:
    fields = {f.json: values(f, keys, clock) for f in shape.fields}
    needed = {f.json: fields[f.json] for f in shape.fields if f.required or isinstance(f.shape, s.Const)}
    return st.fixed_dictionaries(needed, optional={k: v for k, v in fields.items() if k not in needed})


def _scalar(shape: s.Scalar, field: s.Field, clock: str) -> st.SearchStrategy[Any]:
    match shape.name:
        case "str":
            return _text(field)
        case "int":
            least, most = _whole(field)
            return st.integers(least, most)
        case "number":
            least, most = _whole(field)
            return st.one_of(st.integers(least, most), _floats(field))
        case "float":
            return _floats(field)
        case "money":
            least, most = _whole(field, -100_000, 100_000)
            return st.integers(least, most).map(lambda cents: cents / 100 if cents % 100 else cents // 100)
        case "bool":
            return st.booleans()
        case "date":
            return _dates(field, clock)
        case "time":
            return st.times().map(lambda at: at.replace(microsecond=0).isoformat())
        case "datetime" | "local_datetime":
            zone = "Z" if clock.endswith("Z") and shape.name == "datetime" else ""
            about = datetime.datetime.fromisoformat(clock[:19])
            return st.integers(-1_000_000, 1_000_000).map(
                lambda n: (about + datetime.timedelta(minutes=n)).isoformat() + zone
            )
        case "zone":
            return st.sampled_from(_ZONES)
        case "duration":
            return st.integers(0, 10**6)
    return _JSON


def _whole(field: s.Field, least: int = -1000, most: int = 1000) -> tuple[int, int]:
    """The bounds of whole numbers."""
    low = next((int(v) + d for v, d in ((field.ge, 0), (field.gt, 1)) if v is not None), None)
    high = next((int(v) - d for v, d in ((field.le, 0), (field.lt, 1)) if v is not None), None)
    if low is None:
        low = least if high is None else min(least, high)
    if high is None:
        high = max(most, low + most)
    return low, max(low, high)


def _floats(field: s.Field) -> st.SearchStrategy[float]:
    low, high = _whole(field)
    return st.integers(low * 100, high * 100).map(lambda n: n / 100).filter(lambda x: _within(field, x))


def _within(field: s.Field, value: float) -> bool:
    return (field.gt is None or value > field.gt) and (field.lt is None or value < field.lt)


def _text(field: s.Field) -> st.SearchStrategy[str]:
    least, most = field.min_length or 0, field.max_length
    if field.pattern is not None:
        found = st.from_regex(field.pattern, fullmatch=True)
    elif field.like is not None and field.like in _WORDS:
        found = st.sampled_from(_WORDS[field.like])
    elif least > 12:
        found = st.text("abc xyz", min_size=least, max_size=most)
    else:
        found = _TEXT
    return found.filter(lambda text: least <= len(text) and (most is None or len(text) <= most))


def _dates(field: s.Field, clock: str) -> st.SearchStrategy[str]:
    about = datetime.date.fromisoformat(clock[:10])
    low, high = about - datetime.timedelta(900), about + datetime.timedelta(900)
    if isinstance(field.ge, str):
        low = max(low, datetime.date.fromisoformat(field.ge[:10]))
    if isinstance(field.le, str):
        high = min(high, datetime.date.fromisoformat(field.le[:10]))
    return st.dates(min(low, high), max(low, high)).map(datetime.date.isoformat)


# -- arguments and calls


def arguments(tool: ToolFacts, keys: Keys, clock: str = "2030-01-01T00:00:00Z") -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that a tool takes by type and bounds; references are among ``keys``."""
    fields = {name: values(param, keys, clock) for name, param in tool.params.items()}
    needed = {name: fields[name] for name, param in tool.params.items() if param.required}
    return st.fixed_dictionaries(needed, optional={k: v for k, v in fields.items() if k not in needed})


@st.composite
def _any_arguments(draw: st.DrawFn, tool: ToolFacts, keys: Keys, clock: str) -> Any:
    """Mostly fitting; sometimes one at an edge, of the wrong type, missing or unknown; seldom junk as a whole."""
    given_ = draw(arguments(tool, keys, clock))
    way = draw(st.integers(0, 15))
    if way < 8 or not tool.params:
        return given_ if way < 15 else draw(st.sampled_from(JUNK))
    name = draw(st.sampled_from(sorted(tool.params)))
    if way < 11 and (found := edges(tool.params[name])):
        return {**given_, name: draw(st.sampled_from(found))}
    if way < 13:
        return {**given_, name: draw(st.sampled_from(ODD))}
    if way == 13:
        return {k: v for k, v in given_.items() if k != name}
    return {**given_, "unknown": 1} if way == 14 else draw(st.sampled_from(JUNK))


def calls(environment: type[Any], most: int = 15, facts: Facts | None = None) -> st.SearchStrategy[list[Call]]:
    """Calls of all the tools of a class, over the keys of its initial state: for tests of one's own."""
    known = facts or Facts(environment)
    keys, clock = keys_of(known.shapes, environment.new().state), getattr(environment, "clock", "2030-01-01T00:00:00Z")
    one = [st.builds(Call, st.just(t.name), _any_arguments(t, keys, clock), st.just(t.actor)) for t in known.tools]
    return st.lists(st.one_of(one), min_size=1, max_size=most)


# -- states


@st.composite
def _raw_state(draw: st.DrawFn, facts: Facts, size: int, initial: Mapping[str, Any]) -> dict[str, Any]:
    """The initial state with some records taken away, some changed, and up to ``size`` new ones in each collection, all of
    the right types and with references that exist."""
    made, clock = dict(initial), facts.environment.clock
    shapes = [p for p in facts.shapes if isinstance(p, s.Collection) and p.tree is None]
    keys = keys_of(facts.shapes, initial)
    kept: dict[str, list[Any]] = {}
    for shape in shapes:
        kept[shape.name] = [k for k in keys[shape.name] if draw(st.integers(0, 9)) < 9]
        keys[shape.name] = kept[shape.name] + _new_keys(shape, keys[shape.name], draw(st.integers(0, size)))
    for shape in shapes:
        before = records_of(shape, initial)
        models = list(before.values())
        records = {k: before[k] for k in kept[shape.name]}
        for key in keys[shape.name]:
            if key not in records:
                records[key] = _record(draw, shape, models, keys, clock)
            elif draw(st.integers(0, 9)) == 9:
                records[key] = {**records[key], **_changes(draw, shape, keys, clock, 1)}
        made[shape.name] = laid_out(shape, records)
    return made


def _new_keys(shape: s.Collection, known: Sequence[Any], count: int) -> list[Any]:
    from envscaler.runtime.keys import Maker

    maker = Maker(shape.key.make, shape.key.of is s.INT) if shape.key.make is not None else None
    if maker is not None and maker.counts:
        top = max(map(maker.number, known), default=0)
        return [maker.key(top + n + 1) for n in range(count)]
    fill = [f"k{n}" if shape.key.of is s.STR else 900 + n for n in range(count)]
    return [key for key in fill if key not in known]


def _record(draw: st.DrawFn, shape: s.Collection, models: list[Any], keys: Keys, clock: str) -> dict[str, Any]:
    """A record like one that there is, but for two fields, or, more seldom, one of its own."""
    names = [f.json for f in shape.record.fields]
    if models and draw(st.integers(0, 3)) < 3:
        model = draw(st.sampled_from(models))
        return {**{k: v for k, v in model.items() if k in names}, **_changes(draw, shape, keys, clock, 2)}
    made: dict[str, Any] = draw(_struct(shape.record, keys, clock))
    plain = [f.json for f in shape.record.fields if not f.required]
    return {k: v for k, v in made.items() if k not in plain or draw(st.booleans())}


def _changes(draw: st.DrawFn, shape: s.Collection, keys: Keys, clock: str, most: int) -> dict[str, Any]:
    fields = list(shape.record.fields)
    if not fields:
        return {}
    taken = draw(st.lists(st.sampled_from(fields), max_size=most, unique_by=lambda f: f.json))
    return {f.json: draw(values(f, keys, clock)) for f in taken}


def states(facts: Facts, size: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """States in JSON form that a class allows, by types, references, uniqueness and rules. ``size``: most records that a
    collection has beyond those of the initial state. Records that the class complains of are put back or taken away."""
    initial = facts.environment.new().state
    made: st.SearchStrategy[Any] = _raw_state(facts, size, initial).map(lambda raw: settled(facts, raw, initial))
    return made.filter(lambda state: state is not None)


def settled(facts: Facts, raw: dict[str, Any], initial: Mapping[str, Any], rounds: int = 12) -> dict[str, Any] | None:
    """The state repaired until the class allows it; None when that does not succeed."""
    from envscaler.errors import StateError

    state = raw
    for _ in range(rounds):
        try:
            facts.environment.prepare(state)
        except StateError as error:
            left = without(facts.shapes, state, error.problems, initial)
            if left is None:
                return None
            state = left
        else:
            return state
    return None


# -- drawing without a test


def samples(strategy: st.SearchStrategy[Any], count: int, number: int) -> list[Any]:
    """``count`` values of a strategy at most, the same ones for the same number."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(number)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    with steady():
        collect()
    return found[:count]


@contextmanager
def steady() -> Iterator[None]:
    """Hypothesis mixes in constants of the modules that happen to be loaded; not within this, or a seed would not decide."""
    from hypothesis.internal.conjecture import providers

    if not hasattr(providers, "_get_local_constants"):
        yield
        return
    before, empty = providers._get_local_constants, type(providers.GLOBAL_CONSTANTS)()
    providers._get_local_constants = lambda: empty
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        providers._get_local_constants = before
        providers.CONSTANTS_CACHE.cache.clear()

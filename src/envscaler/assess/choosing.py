"""Chooses the next call of an episode: a tool that has something left to reach, and arguments that mean something there."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from envscaler.assess.facts import Facts, ToolFacts
from envscaler.assess.findings import Call
from envscaler.assess.odd import JUNK, ODD, edges
from envscaler.assess.pools import Pool
from envscaler.runtime import shapes as s

__all__ = ["Chooser"]

_SAMPLES: Final = 20  # generated arguments of a tool
_KEPT: Final = 4000
_memo: dict[tuple[Any, ...], list[Any]] = {}


class Chooser:
    """Draws from ``rng``. ``begin`` is told the pool of the state that an episode begins in, ``learn`` every result."""

    def __init__(self, facts: Facts, rng: random.Random) -> None:
        self.facts = facts
        self.rng = rng
        self._made: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._edges: dict[tuple[str, str, str], list[Any]] = {}
        self._told: dict[tuple[str, str, str], list[Any]] = {}
        self._words: dict[tuple[str, str, str], list[Any]] = {}
        self._tools: Sequence[ToolFacts] = facts.tools
        self._weights: list[float] = []
        self.base = self.now = Pool()
        self.last: Call | None = None

    def begin(self, pool: Pool) -> None:
        """A new episode."""
        self.base, self.now, self.last = pool, Pool(), None

    def learn(self, result: Any) -> None:
        """A result of this episode, whose values may be used from now on."""
        if result.__class__ is dict or result.__class__ is list:
            self.now.learn(result)

    def weigh(self, weights: Mapping[tuple[str, str], float]) -> None:
        """How likely each tool is chosen from now on."""
        total, self._weights = 0.0, []
        for tool in self._tools:
            total += weights.get((tool.actor, tool.name), 1.0)
            self._weights.append(total)

    # -- a call

    def call(self) -> Call:
        """The next call."""
        rng, way = self.rng, self.rng.random()
        if way < 0.05 and self.last is not None:
            return self.last
        if way < 0.06:
            names = ("no_such_tool", "", "__init__", "_state", "reset", "state", "call", "\ud800")
            return Call(rng.choice(names), rng.choice(({}, None, {"x": 1})))
        tool = rng.choices(self._tools, cum_weights=self._weights or None)[0]
        self.last = made = Call(tool.name, self._arguments(tool), tool.actor)
        return made

    def _arguments(self, tool: ToolFacts) -> Any:
        rng, way = self.rng, self.rng.random()
        if way > 0.985:
            return rng.choice(JUNK)
        given = self._fitting(tool)
        if way < 0.8 or not tool.params:
            return given
        name = rng.choice(list(tool.params))
        if way < 0.86 and (found := self._edges_of(tool, name)):
            return {**given, name: rng.choice(found)}
        if way < 0.92:
            return {**given, name: rng.choice(ODD)}
        if way < 0.94:
            return {key: value for key, value in given.items() if key != name}
        if way < 0.96:
            return {**given, rng.choice(("unknown", "self", "_state", name + "_")): rng.choice(ODD)}
        try:
            return json.dumps(given)
        except (TypeError, ValueError):
            return given

    def _fitting(self, tool: ToolFacts) -> dict[str, Any]:
        rng = self.rng
        focus = self._focus()
        if tool.examples and rng.random() < 0.3:
            example = rng.choice(tool.examples)
            return {
                name: self._value(tool, name, tool.params[name], focus)
                if rng.random() < 0.3 and name in tool.params
                else value
                for name, value in example.items()
            }
        return {
            name: self._value(tool, name, param, focus)
            for name, param in tool.params.items()
            if param.required or rng.random() < 0.5
        }

    def _focus(self) -> Mapping[str, Any]:
        """A record that the arguments are about, so that those of one call belong together."""
        rng = self.rng
        pool = self.now if self.now.records and rng.random() < 0.4 else self.base
        return rng.choice(pool.records) if pool.records else {}

    # -- a value

    def _value(self, tool: ToolFacts, name: str, field: s.Field, focus: Mapping[str, Any]) -> Any:
        return self._shaped(tool, name, name, field.shape, field, focus)

    def _shaped(
        self, tool: ToolFacts, param: str, name: str, shape: s.Shape, field: s.Field, focus: Mapping[str, Any]
    ) -> Any:
        rng = self.rng
        match shape:
            case s.Nullable():
                return None if rng.random() < 0.15 else self._shaped(tool, param, name, shape.of, field, focus)
            case s.ListOf() if not isinstance(shape.item, s.Enum | s.Const):
                count = rng.choice((1, 1, 1, 2, 2, 3, 0))
                one = name.removesuffix("s")
                inner = s.Field(one, shape.item)
                found = [
                    self._shaped(tool, param, one, shape.item, inner, focus if i == 0 else {}) for i in range(count)
                ]
                return found if rng.random() < 0.9 or not found else [*found, found[0]]
            case s.Struct() if rng.random() < 0.6:
                return self._struct(tool, param, shape, focus)
            case s.Union() if rng.random() < 0.6:
                return self._struct(tool, param, rng.choice(shape.members), focus)
            case s.Partial() if rng.random() < 0.6:
                whole = self._struct(tool, param, shape.of, focus)
                return {key: value for key, value in whole.items() if rng.random() < 0.5}
            case s.Struct() | s.Union() | s.Partial() | s.DictOf() | s.Const() | s.ListOf():
                return self._generated(tool, param, focus)
        return self._scalar(tool, param, name, shape, field, focus)

    def _struct(self, tool: ToolFacts, param: str, shape: s.Struct, focus: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for part in shape.fields:
            if isinstance(part.shape, s.Const):
                made[part.json] = part.shape.value
            elif part.required or self.rng.random() < 0.6:
                made[part.json] = self._shaped(tool, param, part.json, part.shape, part, focus)
        return made

    def _scalar(
        self, tool: ToolFacts, param: str, name: str, shape: s.Shape, field: s.Field, focus: Mapping[str, Any]
    ) -> Any:
        rng, way = self.rng, self.rng.random()
        if isinstance(shape, s.Enum):
            return rng.choice(shape.values) if way < 0.95 else self._generated(tool, param, focus)
        if shape is s.BOOL:
            return way < 0.5
        if name in focus and way < 0.45:
            return self._near(shape, focus[name])
        if isinstance(shape, s.Ref):
            return self._key(shape, way)
        if way < 0.75 and (found := self._known(name)) is not None:
            return self._near(shape, found)
        if way < 0.8 and shape in (s.MONEY, s.INT, s.NUMBER, s.FLOAT) and (found := self._number(focus)) is not None:
            return self._near(shape, found)
        if way < 0.88 and param == name and (found := self._edges_of(tool, name)):
            return rng.choice(found)
        if way > 0.97 and (words := self._words_of(tool, shape)):
            return rng.choice(words)
        if 0.9 < way < 0.93 and param != name and (found := edges(field)):
            return rng.choice(found)
        if way > 0.94 and (told := self._told_of(tool, param, name)):
            return rng.choice(told)
        return self._generated(tool, param, focus) if param == name else self._made_for(field, focus)

    def _near(self, shape: s.Shape, value: Any) -> Any:
        """The value, or for a number sometimes one beside it."""
        if value.__class__ in (int, float) and shape in (s.MONEY, s.INT, s.NUMBER, s.FLOAT) and self.rng.random() < 0.4:
            step = 0.01 if shape is s.MONEY else 1
            return self.rng.choice((round(value + step, 2), round(value - step, 2), -value, value * 2))
        return value

    def _key(self, shape: s.Ref, way: float) -> Any:
        if way > 0.97:
            return "nobody" if shape.of is s.STR else 10**6
        known = self.base.keys.get(shape.collection, ())
        made = self.facts.key_names.get(shape.collection)
        fresh = self.now.named.get(made, ()) if made else ()
        if fresh and (way > 0.75 or not known):
            return self.rng.choice(fresh)
        return self.rng.choice(known) if known else "nobody" if shape.of is s.STR else 10**6

    def _known(self, name: str) -> Any:
        """A value that stands under such a name in the state or in results."""
        rng = self.rng
        for pool in (self.now, self.base) if rng.random() < 0.4 else (self.base, self.now):
            names = pool.alike(name)
            if names:
                which = names[0] if rng.random() < 0.7 else rng.choice(names)
                return rng.choice(pool.named[which])
        return None

    def _number(self, focus: Mapping[str, Any]) -> Any:
        found = [v for v in focus.values() if v.__class__ in (int, float)]
        return self.rng.choice(found) if found else None

    def _edges_of(self, tool: ToolFacts, name: str) -> list[Any]:
        key = (tool.actor, tool.name, name)
        if key not in self._edges:
            self._edges[key] = edges(tool.params[name]) if name in tool.params else []
        return self._edges[key]

    def _words_of(self, tool: ToolFacts, shape: s.Shape) -> list[Any]:
        """Literals of the tool's logic that are of the type."""
        key = (tool.actor, tool.name, "text" if shape is s.STR else "number")
        if key not in self._words:
            wanted = (str,) if shape is s.STR else (int, float)
            self._words[key] = [w for w in tool.words if w.__class__ in wanted]
        return self._words[key] if shape in (s.STR, s.INT, s.NUMBER, s.FLOAT, s.MONEY) else []

    def _told_of(self, tool: ToolFacts, param: str, name: str) -> list[Any]:
        """What examples of the spec give for the parameter."""
        key = (tool.actor, tool.name, param)
        if key not in self._told:
            self._told[key] = [e[param] for e in tool.examples if param == name and param in e]
        return self._told[key]

    def _generated(self, tool: ToolFacts, param: str, focus: Mapping[str, Any]) -> Any:
        """A value that Hypothesis made for the parameter."""
        rng = self.rng
        made = self._samples(tool)
        for _ in range(4):
            given = rng.choice(made) if made else {}
            if param in given:
                return given[param]
        field = tool.params.get(param)
        return None if field is None else self._made_for(field, focus)

    def _made_for(self, field: s.Field, focus: Mapping[str, Any]) -> Any:
        made = _sampled(("field", repr(field)), lambda st: st.values(field, self.base.keys, self._clock))
        return self.rng.choice(made) if made else None

    def _samples(self, tool: ToolFacts) -> list[dict[str, Any]]:
        key = (tool.actor, tool.name)
        if key not in self._made:
            keys = self.base.keys
            signature = ("tool", repr(tool.params), repr([keys.get(c) for c in _refs(tool)]), self._clock)
            self._made[key] = _sampled(signature, lambda st: st.arguments(tool, keys, self._clock))
        return self._made[key]

    @property
    def _clock(self) -> str:
        return str(getattr(self.facts.environment, "clock", "2030-01-01T00:00:00Z"))


def _sampled(signature: tuple[Any, ...], strategy: Any) -> list[Any]:
    """Values of a strategy; the same for the same signature, whoever asks and whenever."""
    if signature not in _memo:
        from envscaler.assess import strategies

        if len(_memo) > _KEPT:
            _memo.clear()
        number = zlib.crc32(repr(signature).encode("utf-8", "backslashreplace"))
        _memo[signature] = strategies.samples(strategy(strategies), _SAMPLES, number)
    return _memo[signature]


def _refs(tool: ToolFacts) -> list[str]:
    from envscaler.runtime.model import _targets

    found: dict[str, None] = {}
    for param in tool.params.values():
        found |= dict.fromkeys(_targets(param.shape, set()))
    return list(found)

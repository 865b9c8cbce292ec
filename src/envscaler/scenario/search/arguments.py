"""Arguments that mean something in a state: keys that belong together, values that stand there, amounts and texts like those
of the spec's examples."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.fakes import Fakes
from envscaler.scenario.data.patterns import drawn
from envscaler.scenario.search.ground import Ground, Record, alike, leaves
from envscaler.scenario.search.vocabulary import Vocabulary
from envscaler.scenario.world import ToolInfo

__all__ = ["Arguments", "Known", "is_text"]

_AMOUNTS: Final = (5, 10, 12.5, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 750, 1000)
_WHOLE: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 45, 60, 90, 100)
_HINTS: Final = (
    "name", "email", "phone", "street", "city", "postcode", "iban", "company", "country", "username", "title", "job",
    "first_name", "last_name",
)  # fmt: skip
_CALLED: Final[Mapping[str, str]] = {
    "address1": "street", "mail": "email", "mobile": "phone", "postal_code": "postcode", "telephone": "phone",
    "zip": "postcode", "zip_code": "postcode",
}  # fmt: skip
_TEXTS: Final = (
    "answer", "comment", "concern", "content", "description", "finding", "message", "note", "purpose", "reason", "text",
)  # fmt: skip
_WORDY: Final = ("description", "sentence", "text")  # hints for which Faker has nothing that makes sense
_SENTENCES: Final = (
    "As agreed on the phone.", "As asked for this morning.", "For the files, as usual.", "Please see to it soon.",
    "Nothing else has to be done about it.", "This was settled in writing.", "To be looked at once more next week.",
    "With thanks for your help.",
)  # fmt: skip
_TRIES: Final = 6


class Known:
    """What has come up since the start: new records, and the plain values of results by name."""

    def __init__(self) -> None:
        self.fresh: dict[str, list[Any]] = {}
        self.named: dict[str, list[Any]] = {}
        self._alike: dict[str, list[str]] = {}

    def alike(self, name: str) -> list[str]:
        """The names whose values a parameter of this name may mean."""
        if name not in self._alike:
            self._alike[name] = alike(name, self.named)
        return self._alike[name]

    def learn(self, result: Any) -> None:
        """Take in a result."""
        self._alike.clear()
        for name, value in leaves(result):
            values = self.named.setdefault(name, [])
            if value not in values:
                values.append(value)


class Arguments:
    """Draws from ``rng`` only."""

    def __init__(self, ground: Ground, rng: random.Random) -> None:
        self.ground = ground
        self.rng = rng
        self.vocabulary = Vocabulary.of(ground.world)
        self.fakes = Fakes(rng, "en_US")
        self.known = Known()
        self._tool: ToolInfo
        self._focus: Record | None = None
        self._values: Mapping[str, list[Any]] = {}
        self._near: Mapping[str, Sequence[Any]] = {}
        self._taken: set[Any] = set()

    def of(self, tool: ToolInfo, focus: Record | None, related: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Arguments of one call about ``focus``, to which the ``related`` records belong."""
        self._tool, self._focus, self._near = tool, focus, related
        self._taken = set()
        self._values = self._values_of(focus)
        rng = self.rng
        if tool.examples and rng.random() < 0.2:
            example = rng.choice(tool.examples)
            return {
                name: self._value(name, tool.params[name]) if name in tool.params and rng.random() < 0.3 else value
                for name, value in example.items()
            }
        return {
            name: self._value(name, param)
            for name, param in tool.params.items()
            if param.required or rng.random() < 0.35
        }

    def _values_of(self, focus: Record | None) -> Mapping[str, list[Any]]:
        if focus is None or focus[1] not in self.ground.key_sets[focus[0]]:
            return {}
        known = self.ground.memo.get(("values", focus))
        if known is None:
            known = {}
            near = self.ground.related(focus)
            beside = [(name, key) for name, keys in near.items() for key in keys[:4]]
            for at in [focus, *beside]:
                for name, value in leaves(self.ground.record(at)):
                    known.setdefault(name, []).append(value)
            self.ground.memo["values", focus] = known
        return known

    # -- by shape

    def _value(self, name: str, field: s.Field) -> Any:
        return self._shaped(name, field.shape, field)

    def _shaped(self, name: str, shape: s.Shape, field: s.Field) -> Any:
        rng = self.rng
        match shape:
            case s.Nullable():
                return None if rng.random() < 0.1 else self._shaped(name, shape.of, field)
            case s.Ref():
                return self._key(shape.collection)
            case s.Enum():
                return rng.choice(shape.values)
            case s.Const():
                return shape.value
            case s.Struct():
                return self._struct(shape)
            case s.Union():
                return self._struct(rng.choice(shape.members))
            case s.Partial():
                whole = self._struct(shape.of)
                wanted = rng.sample(list(whole), rng.choice((1, 1, 2)) if len(whole) > 1 else 1)
                return {key: value for key, value in whole.items() if key in wanted}
            case s.ListOf():
                return self._list(name, shape)
            case s.DictOf():
                return self._mapping(name, shape)
        return self._scalar(name, shape, field)

    def _struct(self, shape: s.Struct) -> dict[str, Any]:
        return {one.json: self._value(one.json, one) for one in shape.fields if one.required or self.rng.random() < 0.5}

    def _list(self, name: str, shape: s.ListOf) -> list[Any]:
        told = self.vocabulary.texts.get(name)
        one, rng = name.removesuffix("s"), self.rng
        found: list[Any] = []
        item = s.Field(one, shape.item)
        if isinstance(shape.item, s.Const) or (told and shape.item is s.ANY):
            return [rng.choice(told)] if told else []
        if isinstance(shape.item, s.Enum) and rng.random() < 0.15:
            return list(shape.item.values)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            value = self._shaped(one, shape.item, item)
            if value not in found:
                found.append(value)
        return found

    def _mapping(self, name: str, shape: s.DictOf) -> dict[Any, Any]:
        examples = [call[name] for call in self._tool.examples if isinstance(call.get(name), dict)]
        if examples and self.rng.random() < 0.7:
            return dict(self.rng.choice(examples))
        if isinstance(shape.key, s.Enum):
            key: Any = self.rng.choice(shape.key.values)
        elif isinstance(shape.key, s.Ref):
            key = self._key(shape.key.collection)
        else:
            return dict(self.rng.choice(examples)) if examples else {}
        return {key: self._shaped(name, shape.value, s.Field(name, shape.value))}

    def _key(self, collection: str) -> Any:
        rng, way = self.rng, self.rng.random()
        fresh = self.known.fresh.get(collection, ())
        keys = self.ground.keys[collection]
        if self._focus is not None and self._focus[0] == collection and self._focus not in self._taken and way < 0.9:
            self._taken.add(self._focus)
            return self._focus[1]
        near = self._near.get(collection, ())
        if near and way < 0.75:
            return rng.choice(near)
        if fresh and (way > 0.85 or not keys):
            return rng.choice(fresh)
        return rng.choice(keys) if keys else "none"

    # -- plain values

    def _scalar(self, name: str, shape: s.Shape, field: s.Field) -> Any:
        if shape is s.BOOL:
            return self.rng.random() < 0.5
        value: Any = None
        for _ in range(_TRIES):
            value = self._drawn(name, shape, field)
            if value is not None and _within(value, shape, field):
                return value
        return drawn(field.pattern, self.rng) if field.pattern is not None else value

    def _drawn(self, name: str, shape: s.Shape, field: s.Field) -> Any:
        match shape.name if isinstance(shape, s.Scalar) else "":
            case "money" | "float" | "number" | "int":
                return self._number(name, shape, field)
            case "date" | "datetime" | "local_datetime" | "time":
                return self._time(name, shape)
            case "zone":
                return self._known(name) or "Europe/Paris"
            case "str":
                return self._text(name, field)
            case "any":
                return self._any(name)
        return self._known(name)

    def _number(self, name: str, shape: s.Shape, field: s.Field) -> Any:
        rng, way = self.rng, self.rng.random()
        value: Any = None
        if way < 0.25:
            value = self._told(name)
        elif way < 0.45:
            value = self._focal(name)
        elif way < 0.5:
            numbers = [v for values in self._values.values() for v in values if v.__class__ in (int, float)]
            value = abs(rng.choice(numbers)) if numbers else None
        elif way < 0.56:
            bounds = [v for v in (field.ge, field.gt, field.le, field.lt) if v.__class__ in (int, float)]
            value = rng.choice(bounds) / (100 if shape is s.MONEY else 1) if bounds else None
        elif way < 0.62 and self.vocabulary.constants:
            value = rng.choice(self.vocabulary.constants)
        elif way < (0.66 if shape in (s.INT, s.MONEY) else 0.74):
            words = self.vocabulary.numbers(self._tool.name)
            value = rng.choice(words) if words else None
        elif shape is s.INT and field.ge is not None and field.le is not None and field.le - field.ge < 500:
            value = rng.randint(int(field.ge), int(field.le))
        if value.__class__ not in (int, float):
            value = rng.choice(_WHOLE if shape is s.INT else _AMOUNTS)
        return int(value) if shape is s.INT else round(value, 2) if shape is s.MONEY else value

    def _time(self, name: str, shape: s.Shape) -> Any:
        rng, way = self.rng, self.rng.random()
        now = self.ground.world.spec.clock
        value: Any = None
        if way < 0.2:
            value = self._told(name)
        elif way < 0.45:
            value = self._focal(name)
        elif way < 0.6:
            kin = [v for values in self._values.values() for v in values if _dated(v)]
            value = rng.choice(kin) if kin else None
        if shape is s.DATE:
            if isinstance(value, str) and _dated(value):
                return value[:10]
            away = rng.choice((0, 1, 1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 60, -1, -2, -3, -7, -30))
            return (date.fromisoformat(now[:10]) + timedelta(days=away)).isoformat()
        if shape is s.TIME:
            if isinstance(value, str) and ":" in value:
                return value[11:19] if _dated(value) else value
            return f"{rng.randint(7, 19):02d}:{rng.choice((0, 0, 30, 15)):02d}:00"
        if isinstance(value, str) and len(value) > 10 and way < 0.5:
            return value
        day = date.fromisoformat(now[:10]) + timedelta(days=rng.choice((0, 0, -1, 1, 2, -2, -7, 7)))
        return f"{day.isoformat()}T{rng.randint(0, 23):02d}:{rng.choice((0, 30)):02d}:00{'Z' if shape is s.DATETIME else ''}"

    def _text(self, name: str, field: s.Field) -> Any:
        """A text such as people would give: one of the record in focus, an invented one where it is known what it is, one
        of the state, of the examples or of a comparison in the logic; else a sentence."""
        rng, way = self.rng, self.rng.random()
        hint = self._hint(name, field)
        if way < 0.3 and (found := self._same(self._values, name)) is not None:
            return found
        if hint is not None and way < 0.75:
            return self._invented(hint)
        if way < 0.6 and (words := self.vocabulary.words(self._tool.name, name)):
            return rng.choice(words)
        sources = (
            lambda: self._same(self.known.named, name),
            lambda: self._same(self.ground.named, name),
            lambda: self._told(name),
        )
        for source in sources if way < 0.85 else reversed(sources):
            found = source()
            if found is not None and (rng.random() < 0.9 or not is_text(name)):
                return found
        if field.pattern is not None:
            return drawn(field.pattern, rng)
        return self._invented(hint or "sentence")

    def _invented(self, hint: str) -> str:
        return self.rng.choice(_SENTENCES) if hint in _WORDY else self.fakes.text(hint, {}, {})

    def _hint(self, name: str, field: s.Field) -> str | None:
        """What texts of a parameter look like: as it says, as the field of the state with its name says, as its name tells."""
        said = field.like or self.vocabulary.likes.get(name) or _CALLED.get(name)
        return said or next((h for h in reversed(_HINTS) if f"_{h}_" in f"_{name}_"), None)

    def _same(self, values: Mapping[str, list[Any]], name: str) -> Any:
        """One of the texts that stand under a name, or under one that says what kind of it this is; None for none."""
        for one in (name, *same_names(name)):
            found = [value for value in values.get(one, ()) if value.__class__ is str and value]
            if found:
                return self.rng.choice(found)
        return None

    def _any(self, name: str) -> Any:
        rng = self.rng
        keys = [key for key_list in self.ground.keys.values() for key in key_list]
        return self._known(name) if rng.random() < 0.7 or not keys else rng.choice(keys)

    def _told(self, name: str) -> Any:
        found = [call[name] for call in self._tool.examples if name in call]
        found = found or self.vocabulary.texts.get(name, [])
        value = self.rng.choice(found) if found else None
        return None if value.__class__ in (dict, list) else value

    def _focal(self, name: str) -> Any:
        """A value of the record in focus, or of one beside it, under a name like this."""
        known = ("alike", self._focus, name)
        names = self.ground.memo.get(known)
        if names is None:
            names = self.ground.memo[known] = alike(name, self._values)
        return self.rng.choice(self._values[names[0]]) if names else self._known(name)

    def _known(self, name: str) -> Any:
        rng = self.rng
        if self.known.named and rng.random() < 0.5:
            names = self.known.alike(name)
            if names:
                return rng.choice(self.known.named[names[0] if rng.random() < 0.7 else rng.choice(names)])
        names = self.ground.alike(name)
        if not names:
            return None
        return rng.choice(self.ground.named[names[0] if rng.random() < 0.7 else rng.choice(names)])


def is_text(name: str) -> bool:
    """Whether a parameter of this name takes what people write in their own words."""
    return any(name == one or name.endswith(f"_{one}") for one in _TEXTS)


def same_names(name: str) -> list[str]:
    """Names that mean the same as a parameter's: `new_email` an email, `customer_name` a name, `tag_ids` a `tag_id`."""
    stems = [name.removeprefix("new_"), name.removesuffix("s"), name.removesuffix("_ids") + "_id"]
    kinds = [hint for hint in _HINTS if name.endswith(f"_{hint}")]
    return [one for one in dict.fromkeys([*stems, *kinds]) if one != name]


def _dated(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= 10 and value[4:5] == "-" and value[7:8] == "-"


def _within(value: Any, shape: s.Shape, field: s.Field) -> bool:
    """Whether a number or text is within the bounds that the field declares; true for other values."""
    if value.__class__ in (int, float):
        unit = 100 if shape is s.MONEY else 1
        bounds = (field.ge, field.gt, field.le, field.lt)
        ge, gt, le, lt = (b / unit if b.__class__ in (int, float) else None for b in bounds)
        return not (
            (ge is not None and value < ge)
            or (gt is not None and value <= gt)
            or (le is not None and value > le)
            or (lt is not None and value >= lt)
        )
    if value.__class__ is str:
        if field.pattern is not None and re.search(field.pattern, value) is None:
            return False
        return (field.min_length or 0) <= len(value) <= (field.max_length or 10_000)
    return True

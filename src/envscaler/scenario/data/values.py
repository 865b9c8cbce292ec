"""Values in JSON form for fields: invented from the type alone, or varied from one that there was."""

from __future__ import annotations

import datetime
import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.fakes import Fakes
from envscaler.scenario.data.patterns import drawn

__all__ = ["BORN", "NUMBERS", "Values", "around", "fits", "likes_of", "plain", "recoded", "scalar_of", "shifted"]

_ZONES: Final = ("UTC", "Europe/Lisbon", "America/New_York", "Asia/Kolkata", "Australia/Sydney")
_TRIES: Final = 30
BORN: Final = ("born", "birth", "birthday", "date_of_birth", "birth_date")
_ROUND: Final = tuple(f * 10**n for n in range(7) for f in (1, 5))
NUMBERS: Final = (s.INT, s.MONEY, s.FLOAT, s.NUMBER)
_ODD_NAMES: Final = ("Zoë Ångström", "Nguyễn Thị Hằng", "José Ñuñez O’Neill", "Łukasz Żółć", "李 小龍")


def scalar_of(field: s.Field) -> s.Shape:
    """The shape of a field, without null."""
    return field.shape.of if isinstance(field.shape, s.Nullable) else field.shape


def likes_of(fields: Sequence[s.Field]) -> dict[str, str]:
    """The hints of fields by outside name."""
    return {f.json: f.like for f in fields if f.like is not None}


def fits(field: s.Field, value: Any) -> bool:
    """Whether a number or text lies within the bounds of its field."""
    if isinstance(value, str) and scalar_of(field) is s.STR:
        if field.pattern is not None and re.fullmatch(field.pattern, value) is None:
            return False
        return (field.min_length or 0) <= len(value) and (field.max_length is None or len(value) <= field.max_length)
    at = round(value * 100) if scalar_of(field) is s.MONEY else value
    return not (
        (field.ge is not None and at < field.ge)
        or (field.gt is not None and at <= field.gt)
        or (field.le is not None and at > field.le)
        or (field.lt is not None and at >= field.lt)
    )


class Values:
    """Draws values. ``clock``: the moment that dates lie around. ``keys``: what there is to refer to, by collection."""

    def __init__(
        self, rng: random.Random, fakes: Fakes, clock: str, keys: Callable[[str], Sequence[Any]] = lambda name: ()
    ) -> None:
        self.rng, self.fakes, self.clock, self.keys = rng, fakes, clock, keys
        self.now = datetime.datetime.fromisoformat(clock[:19])

    # -- from nothing

    def struct(self, shape: s.Struct) -> dict[str, Any] | None:
        """A record or a part of one; None where it must refer to something and there is nothing."""
        made: dict[str, Any] = {}
        likes = likes_of(shape.fields)
        for field in sorted(shape.fields, key=lambda f: f.like in ("email", "username")):  # these follow from names
            if not field.required and self.rng.random() < (0.9 if field.absent else 0.5):
                continue
            value = self.invented(field, made, likes)
            if value is None and not isinstance(field.shape, s.Nullable):
                if field.required:
                    return None
                continue
            made[field.json] = value
        return {f.json: made[f.json] for f in shape.fields if f.json in made}

    def invented(self, field: s.Field, record: Mapping[str, Any], likes: Mapping[str, str]) -> Any:
        """A value of the field's type and within its bounds; None where there is none but null."""
        return self._of(field.shape, field, record, likes)

    def _of(self, shape: s.Shape, field: s.Field, record: Mapping[str, Any], likes: Mapping[str, str]) -> Any:
        match shape:
            case s.Nullable():
                return None if self.rng.random() < 0.3 else self._of(shape.of, field, record, likes)
            case s.ListOf():
                found = [
                    self._of(shape.item, _item(field, shape.item), record, likes) for _ in range(self._many(field))
                ]
                left = [value for value in found if value is not None or isinstance(shape.item, s.Nullable)]
                return left if len(left) >= (field.min_length or 0) else None
            case s.DictOf():
                pairs = (
                    (self._key(shape.key), self._of(shape.value, _item(field, shape.value), {}, {})) for _ in range(2)
                )
                return {str(k): v for k, v in pairs if k is not None and v is not None}
            case s.Enum():
                return self.rng.choice(shape.values)
            case s.Const():
                return shape.value
            case s.Ref():
                known = self.keys(shape.collection)
                return self.rng.choice(known) if known else None
            case s.Struct():
                return self.struct(shape)
            case s.Partial():
                return {}
            case s.Union():
                made = [one for one in map(self.struct, shape.members) if one is not None]
                return self.rng.choice(made) if made else None
            case s.Scalar():
                return self._scalar(shape, field, record, likes)
        raise TypeError(f"no values for {shape!r}")

    def _many(self, field: s.Field) -> int:
        least = field.min_length or 0
        return self.rng.randint(least, max(least, 2 if field.max_length is None else min(2, field.max_length)))

    def _key(self, shape: s.Shape) -> Any:
        if shape is s.STR:
            return f"k{self.rng.randint(1, 999)}"
        if shape is s.INT:
            return self.rng.randint(1, 999)
        return self._of(shape, s.Field("key", shape), {}, {})

    def _scalar(self, shape: s.Scalar, field: s.Field, record: Mapping[str, Any], likes: Mapping[str, str]) -> Any:
        match shape.name:
            case "str":
                return self.text(field, record, likes)
            case "bool":
                return self.rng.random() < 0.5
            case "int" | "number" | "float" | "money":
                return self._number(shape, field)
            case "date":
                return self._day(field).date().isoformat()
            case "time":
                return f"{self.rng.randint(8, 17):02d}:{self.rng.choice((0, 15, 30, 45)):02d}:00"
            case "datetime" | "local_datetime":
                zoned = shape.name == "datetime" and self.clock.endswith("Z")
                return self._day(field).isoformat() + ("Z" if zoned else "")
            case "zone":
                return self.rng.choice(_ZONES)
            case "duration":
                return self.rng.randint(1, 240) * 60
        return f"{field.name} {self.rng.randint(1, 99)}"

    def _number(self, shape: s.Scalar, field: s.Field) -> Any:
        unit = 100 if shape is s.MONEY else 1
        low = next((int(v) + d for v, d in ((field.ge, 0), (field.gt, 1)) if v is not None), None)
        high = next((int(v) - d for v, d in ((field.le, 0), (field.lt, 1)) if v is not None), None)
        if low is None:
            low = 0 if high is None or high >= 0 else high - 100 * unit
        if high is None:
            high = low + 500 * unit
        value = self.rng.randint(low, max(low, high))
        return value / unit if unit > 1 and value % unit else value // unit if unit > 1 else value

    def _day(self, field: s.Field) -> datetime.datetime:
        back = self.rng.randint(18 * 365, 85 * 365) if field.name in BORN else self.rng.randint(-30, 700)
        at = self.now - datetime.timedelta(days=back)
        low, high = _time_bound(field.ge or field.gt), _time_bound(field.le or field.lt)
        at = at if low is None or at > low else low + datetime.timedelta(days=self.rng.randint(1, 30))
        at = at if high is None or at < high else high - datetime.timedelta(days=1)
        return at.replace(hour=self.rng.randint(8, 17), minute=self.rng.randint(0, 59), second=0)

    # -- texts

    def text(self, field: s.Field, record: Mapping[str, Any], likes: Mapping[str, str], before: str = "") -> str:
        """A text for the field, by its hint and pattern, and like ``before`` where these say nothing."""
        for _ in range(_TRIES):
            made = self._text(field, record, likes, before)
            if field.max_length is not None:
                made = made[: field.max_length].rstrip()
            if fits(field, made):
                return made
            if field.pattern is not None:
                made = drawn(field.pattern, self.rng)
                if fits(field, made):
                    return made
        return before or "x" * max(1, field.min_length or 0)

    def _text(self, field: s.Field, record: Mapping[str, Any], likes: Mapping[str, str], before: str) -> str:
        if field.like == "product" and before:
            return f"{self.fakes.text('last_name', {}, {})} {before}"
        if field.like is not None:
            return self.fakes.text(field.like, record, likes)
        if before:
            return recoded(before, self.rng)
        if field.pattern is not None:
            return drawn(field.pattern, self.rng)
        words = field.name.replace("_", " ")
        return f"{words} {self.rng.randint(1, 999)}".rjust(field.min_length or 0, "-")

    # -- from what there was

    def varied(self, field: s.Field, value: Any, pool: Sequence[Any] = ()) -> Any:
        """Another value of the field near the one it has; ``pool``: what other records have. The same where none fits."""
        shape = scalar_of(field)
        if value is None:
            return None
        if isinstance(shape, s.Enum) or shape is s.BOOL or shape is s.ZONE:
            return self.rng.choice(list(pool)) if pool else value
        if not isinstance(shape, s.Scalar):
            return value
        for _ in range(_TRIES if shape in NUMBERS else 0):
            made = around(value, self.rng)
            if fits(field, made):
                return made
        return value

    def odd(self, field: s.Field, value: Any, pool: Sequence[Any]) -> Any:
        """A value at an edge of what the field allows; the same where it has none."""
        shape = scalar_of(field)
        found: list[Any] = []
        if shape is s.STR and field.like in ("name", "title", "company"):
            found += [
                *self.rng.sample(list(pool), min(len(pool), len(_ODD_NAMES))),
                *(_ODD_NAMES if field.like == "name" else ()),
            ]
        elif shape in NUMBERS:
            unit = 100 if shape is s.MONEY else 1
            found += [0, *(v / unit if unit > 1 else v for v in (field.ge, field.le) if v is not None)]
        elif shape is s.DATE and field.name not in BORN:
            found.append(shifted(value, -self.rng.randint(3000, 9000)))
        left = [one for one in found if one != value and (shape is s.DATE or fits(field, one))]
        return self.rng.choice(left) if left else value


def _item(field: s.Field, shape: s.Shape) -> s.Field:
    """The items of a field as a field."""
    return s.Field(field.name, shape, like=field.like)


def _time_bound(value: Any) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(value[:19]) if isinstance(value, str) and "-" in value else None


def around(value: float, rng: random.Random) -> float:
    """A number between half and one and a half times this one, about as round as it is."""
    scale = 1 if value == int(value) else 100
    units = round(value * scale)
    step = max((r for r in _ROUND if units % r == 0 and abs(units) >= 3 * r), default=1)
    made = round(units * rng.uniform(0.5, 1.5) / step) * step
    return made if scale == 1 else made / scale


def shifted(value: str, days: int) -> str:
    """A date, or a moment, some days later."""
    try:
        at = datetime.date.fromisoformat(value[:10]) + datetime.timedelta(days=days)
    except (ValueError, OverflowError):
        return value
    return at.isoformat() + value[10:]


def recoded(text: str, rng: random.Random) -> str:
    """A code of the same form with other digits, or, where it has none, the text with a number behind it."""
    if any(c.isdigit() for c in text):
        return "".join(rng.choice("0123456789") if c.isdigit() else c for c in text)
    return f"{text} {rng.randint(2, 9999)}"


def plain(name: str) -> str:
    """A name in small Latin letters, for keys that are made of names."""
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()

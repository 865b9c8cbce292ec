"""How a value is said in a task: an amount, a date, a word of a list, a text in quotes. `told` reads the same forms back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.wording.english import listed, plural, words_of

__all__ = [
    "EMPTY",
    "MONTHS",
    "NONE",
    "currency",
    "enum_words",
    "fields_of",
    "label_of",
    "looks_like",
    "member_of",
    "number",
    "said",
    "strip_null",
    "unit_of",
]

NONE: Final = "none"
"""How null, and a list or mapping without anything in it, are said."""

EMPTY: Final = "left empty"
"""How a text without a character is said."""

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_CURRENCY: Final = re.compile(
    r"\b(?:amounts?|values?|prices?|fees?|money|sums?)\b[^.;]{0,40}?\bin (euros|dollars|pounds|francs|yen|crowns|rupees)\b",
    re.I,
)
_TEMPORAL: Final = (s.DATE, s.TIME, s.DATETIME, s.LOCAL_DATETIME)
_LOOKS: Final = (
    (re.compile(r"\d{4}-\d\d-\d\d"), s.DATE),
    (re.compile(r"\d\d:\d\d(:\d\d)?"), s.TIME),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?"), s.DATETIME),
)
_WORD: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")
_UNITS: Final = frozenset(("ml", "mg", "kg", "km", "mm", "cm"))
_NO_UNIT: Final = re.compile(
    r"(?:an?|the|what|how|whether|where|which|who|as|from|one|either|such|for|its|only|when|if|by|to|at|on|of|more|less|part)\b",
    re.I,
)


def currency(*texts: str) -> str:
    """The currency of a world, as its prose says it (`Amounts are in euros`), or an empty text."""
    for text in texts:
        if (found := _CURRENCY.search(" ".join(text.split()))) is not None:
            return found[1].lower()
    return ""


def looks_like(value: str) -> s.Shape:
    """What a text is where its type does not say: a date, a time, a date with time, a word of an enumeration, or any text."""
    for pattern, shape in _LOOKS:
        if pattern.fullmatch(value):
            return shape
    return s.Enum((value,)) if _WORD.fullmatch(value) else s.STR


def strip_null(shape: s.Shape) -> s.Shape:
    """The shape without its null."""
    return shape.of if isinstance(shape, s.Nullable) else shape


def label_of(field: s.Field) -> str:
    """How a field or parameter is called in a sentence: its outside name as words. What names a record loses its `id`."""
    parts = words_of(field.json).split(" ")
    shape = strip_null(field.shape)
    many = isinstance(shape, s.ListOf)
    of = strip_null(shape.item) if isinstance(shape, s.ListOf) else shape
    if len(parts) > 1 and parts[-1] in (
        {"id", "ids", "no", "key", "str"} if isinstance(of, s.Ref) else {"str", *_UNITS}
    ):
        ended = parts.pop()
        if many and ended == "ids":
            parts[-1] = plural(parts[-1])
    return " ".join(parts)


def unit_of(field: s.Field) -> str:
    """The unit of a number, from its name or from a description that is hardly more than one (`Degrees Celsius.`)."""
    last = words_of(field.json).split(" ")[-1]
    if last in _UNITS:
        return last
    text = field.description.strip().partition(";")[0].rstrip(".").removeprefix("In ")
    if not text or _NO_UNIT.match(text) or len(text.split()) > 3 or not re.fullmatch(r"[A-Za-z ]+", text):
        return ""
    return text if re.search(r"[a-z][A-Z]", text) else text[:1].lower() + text[1:]


def member_of(shape: s.Union, value: Mapping[str, Any]) -> s.Struct | None:
    """The member of a union that a value is one of, told by its tag."""
    for member in shape.members:
        tag = member.field(shape.tag)
        if isinstance(tag.shape, s.Const) and value.get(tag.json) == tag.shape.value:
            return member
    return None


def said(value: Any, shape: s.Shape, money: str = "", *, quote: bool = True) -> str:
    """A JSON value as a person would write it. ``money``: the currency named after amounts; ``quote``: texts stand in
    quotes. Records are said by their key."""
    shape = strip_null(shape)
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _said_text(value, shape, quote)
    if isinstance(value, list | tuple):
        item = shape.item if isinstance(shape, s.ListOf) else s.ANY
        return listed([said(one, item, money, quote=quote) for one in value]) if value else NONE
    if isinstance(value, Mapping):
        return _said_mapping(value, shape, money, quote)
    if shape is s.MONEY:
        amount = f"{Decimal(repr(value)):.2f}"
        return f"{amount} {money}" if money else amount
    return number(value)


def number(value: float) -> str:
    """A number in plain digits, without a fraction of zeros."""
    plain = f"{Decimal(repr(value)):f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _said_text(value: str, shape: s.Shape, quote: bool) -> str:
    if shape is s.ANY or shape in _TEMPORAL:
        shape = looks_like(value)
    if isinstance(shape, s.Enum | s.Const):
        return enum_words(value)
    if isinstance(shape, s.Ref) or shape is s.ZONE:
        return value
    try:
        if shape is s.DATE:
            return _said_date(date.fromisoformat(value))
        if shape is s.TIME:
            return _said_time(time.fromisoformat(value))
        if shape is s.DATETIME:
            return _said_moment(value)
    except ValueError:
        return value
    if not value:
        return EMPTY
    if not quote:
        return value
    return f'"{value}"' if '"' not in value else f"“{value}”"


def enum_words(value: str) -> str:
    """A word of an enumeration as it is said: `suspected_fraud` gives `suspected fraud`."""
    return value.replace("_", " ")


def _said_date(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year:04d}"


def _said_time(at: time) -> str:
    return f"{at:%H:%M}" if not at.second else f"{at:%H:%M:%S}"


def _said_moment(value: str) -> str:
    at = datetime.fromisoformat(value.removesuffix("Z"))
    return f"{_said_date(at.date())} at {_said_time(at.time())}" + (" UTC" if value.endswith("Z") else "")


def _said_mapping(value: Mapping[str, Any], shape: s.Shape, money: str, quote: bool) -> str:
    if not value:
        return NONE
    parts = []
    fields = fields_of(shape, value)
    for name, one in value.items():
        field = fields.get(name)
        of = field.shape if field is not None else shape.value if isinstance(shape, s.DictOf) else s.ANY
        label = label_of(field) if field is not None else enum_words(str(name))
        shown = said(one, of, money, quote=quote)
        unit = (
            unit_of(field) if field is not None and isinstance(one, int | float) and not isinstance(one, bool) else ""
        )
        parts.append(f"{label}: {shown}" + (f" {unit}" if unit else ""))
    return f"({'; '.join(parts)})"


def fields_of(shape: s.Shape, value: Mapping[str, Any]) -> Mapping[str, s.Field]:
    """The declared fields of a value by outside name; none for a mapping that declares none."""
    shape = strip_null(shape)
    if isinstance(shape, s.Partial):
        shape = shape.of
    if isinstance(shape, s.Union):
        found = member_of(shape, value)
        if found is None:
            return {}
        shape = found
    return {f.json: f for f in shape.fields} if isinstance(shape, s.Struct) else {}

"""The functions that compiled logic calls: bounded operations, money, dates, random numbers, trees, conversions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sized
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.arith import arith
from envscaler.runtime.reading import BAD, MONEY_MAX, field_reader, reader
from envscaler.runtime.results import Failure
from envscaler.runtime.shapes import MAX
from envscaler.runtime.state import State
from envscaler.runtime.store import Collection
from envscaler.runtime.times import (
    add_months,
    at_zone,
    combine,
    date,
    date_diff,
    date_part,
    date_shift,
    datetime_diff,
    datetime_shift,
    day,
    days,
    hour,
    hours,
    instant,
    instant_at,
    minute,
    minutes,
    month,
    month_start,
    second,
    time_diff,
    time_of,
    time_part,
    time_shift,
    time_text,
    weekday,
    year,
)  # fmt: skip
from envscaler.runtime.values import copy, same, show, shown
from envscaler.runtime.writing import money_json, writer

__all__ = [
    "MAX", "MAX_ITEMS", "MAX_TEXT", "MONEY_MAX", "add_months", "also", "arith", "as_type", "at_zone", "byte_len", "center",
    "charge", "child", "children", "choice", "coerce", "combine", "copy", "count", "date", "date_diff", "date_part",
    "date_shift", "datetime_diff", "datetime_shift", "day", "days", "extend", "fail", "finite", "first", "first_or",
    "fresh_items", "fresh_values", "hour", "hours", "instant", "instant_at", "integer", "is_type", "items", "join",
    "json_text", "ljust", "loop", "minute", "minutes", "money", "money_json", "money_mul", "money_over", "money_ratio",
    "money_text", "month", "month_start", "mul", "out", "path", "power", "rand_float", "rand_int", "range_", "repeat",
    "replace", "require", "reversed_", "rjust", "round_to", "same", "second", "show", "split", "text", "time_diff",
    "time_of", "time_part", "time_shift", "time_text", "to_float", "to_int", "to_str", "walk", "weekday", "year", "zfill",
]  # fmt: skip

MAX_TEXT: Final = 1_000_000
MAX_ITEMS: Final = 1_000_000

_EXACT: Final = Context(prec=60)  # enough digits that a product of an amount and a float is exact
_CENT: Final = Decimal(1)


# -- arguments and types


def coerce(_state: State, param: s.Field, value: Any) -> Any:
    """An argument in internal form, under the episode's policy; Failure `invalid_argument` with every reason."""
    if value is s.MISSING or (value is None and not param.required and not _takes_null(param.shape)):
        if param.default is not s.MISSING:
            return copy(param.default)
        if param.absent:
            return None
        raise Failure("invalid_argument", f"{param.json}: is missing")
    problems: list[str] = []
    result = field_reader(param, _state._policy)(value, param.json, problems)  # type: ignore[arg-type]
    if result is BAD:
        raise Failure("invalid_argument", "; ".join(problems[:8]) or f"{param.json}: is wrong")
    return result


def _takes_null(shape: s.Shape) -> bool:
    return isinstance(shape, s.Nullable) or shape is s.ANY


def as_type(shape: s.Shape, value: Any) -> Any:
    """The value as one of the shape; Failure when it is none. Text is read where the shape has a text form."""
    problems: list[str] = []
    result = reader(shape, "strict")(value, "the value", problems)
    if result is BAD:
        raise Failure("refused", problems[0])
    return result


def is_type(shape: s.Shape, value: Any) -> bool:
    """Whether the value is one of the shape."""
    return reader(shape, "state")(value, "", []) is not BAD


def out(shape: s.Shape, value: Any) -> Any:
    """The JSON form of an internal value, made of fresh containers."""
    return writer(shape)(value)


def json_text(value: Any) -> str:
    """Compact JSON text of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- refusing


def fail(message: str, rule: str | None = None) -> Any:
    """Fail the call; for use within expressions."""
    raise Failure("refused", message, rule)


def require(condition: bool, message: str, rule: str | None = None) -> None:
    """Fail the call unless the condition holds (generated code writes the test out)."""
    if not condition:
        raise Failure("refused", message, rule)


# -- bounded growth


def text(value: str) -> str:
    """The text, if it has at most MAX_TEXT characters."""
    if len(value) > MAX_TEXT:
        raise _limit(f"a text of more than {MAX_TEXT} characters")
    return value


def items(value: list[Any]) -> list[Any]:
    """The list, if it has at most MAX_ITEMS items."""
    if len(value) > MAX_ITEMS:
        raise _limit(f"a list of more than {MAX_ITEMS} items")
    return value


def extend(value: list[Any], more: Iterable[Any]) -> None:
    """``value.extend(more)``, bounded."""
    value.extend(more)
    items(value)


def integer(value: Any) -> Any:
    """The number, if it lies within ±2^53 (for floats: if it is finite)."""
    if value.__class__ is float:
        return finite(value)
    if not -MAX < value < MAX:
        raise _limit("a whole number outside ±2^53")
    return value


def finite(value: Any) -> Any:
    """The number, if it is finite (for ints: within ±2^53)."""
    if value.__class__ is int:
        return integer(value)
    if value - value != 0:
        raise Failure("arithmetic", "The result is not a finite number.")
    return value


def mul(a: Any, b: Any) -> Any:
    """``a * b`` of numbers, bounded."""
    return integer(a * b)


def power(a: Any, b: Any) -> Any:
    """``a ** b`` of numbers, bounded before it is computed."""
    if a.__class__ is int and b.__class__ is int and b > 0 and abs(a) > 1 and b * math.log2(abs(a)) > 53.5:
        raise _limit("a whole number outside ±2^53")
    result = a**b
    if result.__class__ is complex:
        raise Failure("arithmetic", "The result is not a real number.")
    return integer(result)


def round_to(x: Any, digits: int) -> Any:
    """``round(x, digits)`` as Python does; beyond 400 digits left of the point no number has any."""
    return round(x, max(digits, -400))


def repeat(value: Any, n: Any) -> Any:
    """``value * n`` of a text or list (either way round), bounded before it is made."""
    if value.__class__ is int:
        value, n = n, value
    if len(value) * n > MAX_TEXT:
        raise _limit(f"a repetition of more than {MAX_TEXT}")
    return value * n


def replace(value: str, old: str, new: str) -> str:
    """``value.replace(old, new)``, bounded before it is made."""
    if len(new) > len(old) and len(value) + value.count(old) * (len(new) - len(old)) > MAX_TEXT:
        raise _limit(f"a text of more than {MAX_TEXT} characters")
    return value.replace(old, new)


def join(separator: str, texts: Iterable[str]) -> str:
    """``separator.join(texts)``, bounded before it is made."""
    parts = list(texts)
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_TEXT:
        raise _limit(f"a text of more than {MAX_TEXT} characters")
    return separator.join(parts)


def ljust(value: str, width: int, fill: str = " ") -> str:
    """``value.ljust``, bounded."""
    return value.ljust(_width(width), fill)


def rjust(value: str, width: int, fill: str = " ") -> str:
    """``value.rjust``, bounded."""
    return value.rjust(_width(width), fill)


def center(value: str, width: int, fill: str = " ") -> str:
    """``value.center``, bounded."""
    return value.center(_width(width), fill)


def zfill(value: str, width: int) -> str:
    """``value.zfill``, bounded."""
    return value.zfill(_width(width))


def _width(width: int) -> int:
    if width > MAX_TEXT:
        raise _limit(f"a text of more than {MAX_TEXT} characters")
    return width


def _limit(what: str) -> Failure:
    return Failure("limit", f"The call would make {what}.")


def also(keys: list[Any] | None, key: Any) -> list[Any]:
    """The keys (None: none yet) and one more; for check functions."""
    if keys is None:
        return [key]
    keys.append(key)
    return keys


# -- loops


def charge(_state: State, n: int) -> None:
    """Take n steps of the call's budget."""
    _state._meter.charge(n)


def loop(_state: State, iterable: Any) -> Any:
    """The iterable, its length charged; one without a length is taken whole first."""
    if not isinstance(iterable, Sized):
        iterable = list(iterable)
    _state._meter.charge(len(iterable))
    return iterable


def range_(*bounds: int) -> range:
    """``range``, of at most MAX_ITEMS elements."""
    result = range(*bounds)
    if len(result) > MAX_ITEMS:
        raise _limit(f"a range of more than {MAX_ITEMS} numbers")
    return result


_NOTHING: Final = object()


def first(iterable: Iterable[Any], default: Any = _NOTHING) -> Any:
    """The first element; of nothing the default, or Failure `not_found`."""
    for item in iterable:
        return item
    if default is _NOTHING:
        raise Failure("not_found", "Nothing matches.")
    return default


def first_or(iterable: Iterable[Any], default: Any) -> Any:
    """The first element, or the default."""
    return first(iterable, default)


def count(iterable: Iterable[Any]) -> int:
    """How many elements there are."""
    return len(iterable) if isinstance(iterable, Sized) else sum(1 for _ in iterable)


def fresh_items(_collection: Collection) -> list[tuple[Any, Any]]:
    """For goals: keys and records that were not there at the start of the episode, in order."""
    base = _collection.base
    return [(key, record) for key, record in _collection.own.items() if key not in base]


def fresh_values(_collection: Collection) -> list[Any]:
    """For goals: the records that were not there at the start of the episode, in order."""
    return [record for _, record in fresh_items(_collection)]


def reversed_(values: Iterable[Any]) -> list[Any]:
    """The elements from the last to the first."""
    return list(values)[::-1]


# -- money, in minor units


def money(x: Any) -> int:
    """A number, or a text of one, as money, half a cent away from zero; exact on the decimal digits the number shows."""
    if x.__class__ is str:
        x = to_float(x)
    return _whole(_EXACT.multiply(Decimal(repr(finite(x))), Decimal(100)))


def money_mul(amount: int, x: Any) -> int:
    """Money times a number, half up on the exact product."""
    return _whole(_EXACT.multiply(Decimal(amount), Decimal(repr(finite(x)))))


def money_over(amount: int, x: Any) -> int:
    """Money divided by a number, half up."""
    return _whole(_EXACT.divide(Decimal(amount), _divisor(x)))


def money_ratio(a: int, b: int) -> float:
    """Money divided by money, a number."""
    return a / b


def _divisor(x: Any) -> Decimal:
    if x == 0:
        raise Failure("arithmetic", "division by zero")
    return Decimal(repr(finite(x)))


def _whole(value: Decimal) -> int:
    if abs(value) > MONEY_MAX:
        raise _limit("an amount that is too large")
    return int(value.quantize(_CENT, ROUND_HALF_UP, _EXACT))


def split(amount: int, parts: int) -> list[int]:
    """Shares that differ by a cent at most and add up to the amount; the larger ones first."""
    if not 1 <= parts <= MAX_ITEMS:
        raise Failure("arithmetic", f"An amount cannot be split into {parts} parts.")
    share, rest = divmod(abs(amount), parts)
    sign = -1 if amount < 0 else 1
    return [sign * (share + 1)] * rest + [sign * share] * (parts - rest)


def money_text(amount: int) -> str:
    """As JSON writes it: 100 or 1.5."""
    return str(amount // 100) if amount % 100 == 0 else repr(amount / 100)


# -- text and numbers


def byte_len(value: str) -> int:
    """Length in UTF-8 bytes."""
    return len(value.encode())


def to_int(x: Any) -> int:
    """A number cut to a whole number, or a text of digits read as one."""
    try:
        return integer(int(x))  # type: ignore[no-any-return]
    except (ValueError, OverflowError):
        raise Failure("arithmetic", f"{shown(x)} is not a whole number") from None


def to_float(x: Any) -> float:
    """A number or a text of one as float."""
    try:
        return finite(float(x))  # type: ignore[no-any-return]
    except (ValueError, OverflowError):
        raise Failure("arithmetic", f"{shown(x)} is not a number") from None


def to_str(x: Any) -> str:
    """A value as the text that JSON writes (money: see money_text)."""
    return show(x)


# -- random numbers of the episode


def rand_int(_state: State, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return _state._meter.draws.rng().randint(low, high)


def rand_float(_state: State, low: float, high: float) -> float:
    """A number between low and high."""
    return float(finite(_state._meter.draws.rng().uniform(low, high)))


def choice(_state: State, values: Any) -> Any:
    """An element of a list, text or the like; Failure when it is empty."""
    if not isinstance(values, list | str | tuple):
        values = list(values)
    if not values:
        raise Failure("arithmetic", "There is nothing to choose from.")
    return _state._meter.draws.rng().choice(values)


# -- trees


def child(tree: Collection, key: Any, name: str) -> Any:
    """The child of that name, or None; key None: among the roots."""
    shape = tree.plan.shape.tree
    assert shape is not None
    found = tree.by((shape.parent, shape.name), (key, name))
    return found[0] if found else None


def children(tree: Collection, key: Any) -> list[Any]:
    """The children in order; key None: the roots."""
    found = tree.children(key)
    tree.meter.charge(len(found))
    return found


def walk(tree: Collection, key: Any) -> list[Any]:
    """The record and everything below it, parents first, siblings in order."""
    return tree.walk(key)


def path(tree: Collection, key: Any) -> list[str]:
    """The names from the root down to the record."""
    shape = tree.plan.shape.tree
    assert shape is not None
    names: list[str] = []
    while key is not None:
        record = tree.at(key)
        tree.meter.charge(1)
        names.append(record[shape.name])
        key = record.get(shape.parent)
    return names[::-1]

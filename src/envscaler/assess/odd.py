"""Values that tools are sent and did not ask for: edges of what is allowed, wrong types, hostile text, numbers too large."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from envscaler.runtime import shapes as s

__all__ = ["JUNK", "ODD", "TEXTS", "edges"]


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


TEXTS: Final = (
    "", " ", "x", "null", "None", "true", "0", "-1", "1e999", "NaN", "2030-02-30", "ñ", "é", "İ", "ß", "\u00a0", "\ufeff",
    "日本語", "🦊", "a\u0301", "\u202eabc", "\x00", "\x1b[31mred", "a\nb", "\ud800", "a" * 5000, "'; DROP TABLE x; --",
    "{0.__class__}", "{message}", "%s%n", "../../etc/passwd", "<script>alert(1)</script>", "__class__", "\\", '"',
)  # fmt: skip
"""Texts that have broken programs: case and form changes, controls, half a surrogate pair, markup, format strings."""

ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 0.001, -0.0, 1.5, 2**31, 2**53 - 1, 2**53, -(2**53), 2**64, 10**400, 1e308, -1e308,
    float("inf"), float("-inf"), float("nan"), [], {}, [None], [[]], {"": ""}, ["x", 1], {"x": {"y": []}}, _nested(50),
    *TEXTS,
)  # fmt: skip
"""Values of every type, most of which fit nowhere."""

JUNK: Final[tuple[Any, ...]] = (
    None, "", "null", "[]", "7", '"text"', "{", "{}{}", '{"a": 1,}', '{"a": NaN}', '{"a": 1e999}', '{"a": ' + "9" * 5000 + "}",
    "[" * 5000, '{"a":' * 2000, '"{\\"a\\": 1}"', b"{}", b"\xff", 7, 1.5, True, [], ["a"], {"": 1}, {"__class__": 1},
    {"self": 1}, {"_state": {}}, {"\ud800": 1}, _nested(200),
)  # fmt: skip
"""What stands in the place of arguments as a whole."""


def edges(field: s.Field) -> list[Any]:
    """Values at the bounds of a field and just past them, in JSON form."""
    return _edges(field.shape, field)


def _edges(shape: s.Shape, field: s.Field) -> list[Any]:
    match shape:
        case s.Nullable():
            return [None, *_edges(shape.of, field)]
        case s.Scalar(name="int" | "number" | "float" | "money"):
            return _numbers(shape, field)
        case s.Scalar(name="str"):
            return _texts(field)
        case s.Scalar(name="date" | "time" | "datetime"):
            return [*_bounds(field).values(), *_TIMES[shape.name]]
        case s.ListOf():
            return [[]]
        case s.Enum():
            return list(shape.values[:1] + shape.values[-1:])
    return []


_TIMES: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2000-02-29", "2100-02-28", "0001-01-01", "9999-12-31", "2031-12-31"),
    "time": ("00:00", "23:59:59", "12:00"),
    "datetime": ("2030-03-31T02:30:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2031-01-01T00:00:00"),
}


def _bounds(field: s.Field) -> dict[str, Any]:
    named = {"ge": field.ge, "gt": field.gt, "le": field.le, "lt": field.lt}
    return {name: value for name, value in named.items() if value is not None}


def _numbers(shape: s.Scalar, field: s.Field) -> list[Any]:
    unit = 100 if shape is s.MONEY else 1
    step = 0.01 if shape is s.MONEY else 1
    found: list[Any] = [0, 1, -1]
    for value in _bounds(field).values():
        at = value / unit if unit != 1 else value
        found += [at, round(at - step, 2), round(at + step, 2)]
    if shape is s.MONEY:
        found += [0.01, 0.005, 99999999.99]
    elif shape is not s.INT:
        found += [0.5, 1e-9, 1e15]
    else:
        found += [2**53 - 1, 1000]
    return found


def _texts(field: s.Field) -> list[Any]:
    if field.pattern is not None:
        return []
    lengths = [n for n in (field.min_length, field.max_length) if n is not None]
    return ["", *("a" * n for at in lengths for n in (at - 1, at, at + 1) if 0 <= n <= 5000)]

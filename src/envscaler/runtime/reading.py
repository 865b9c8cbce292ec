"""JSON in: readers built from shapes, for states and for arguments, that note every problem as ``path: reason``.

Three modes. `state`: exact types, null is never "not given". `strict` and `lenient` (arguments): null for an optional
field is "not given"; lenient also takes numbers and booleans written as text, and whole floats for integers.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal

from envscaler.diagnostics import nearest
from envscaler.runtime import shapes as s
from envscaler.runtime.times import canonical_date, canonical_datetime, canonical_time, canonical_zone
from envscaler.runtime.values import any_problem, clean_text, copy, kind, shown

__all__ = ["BAD", "MONEY_MAX", "Mode", "Read", "bound_problem", "decode", "field_reader", "reader"]

Mode = Literal["state", "strict", "lenient"]
Read = Callable[[Any, str, list[str]], Any]
"""(value, path, problems) -> internal value, or BAD with the reason appended to problems."""

BAD: Final = s.Missing()
MONEY_MAX: Final = 10**15
"""Amounts lie within ±MONEY_MAX minor units: two decimals survive a JSON number up to there."""

_INTEGER: Final = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


def reader(shape: s.Shape, mode: Mode) -> Read:
    """The reader of a shape, built once."""
    found: Read | None = shape.memo.get(mode)
    if found is None:
        found = shape.memo[mode] = _build(shape, mode)
    return found


def _build(shape: s.Shape, mode: Mode) -> Read:
    match shape:
        case s.Scalar():
            return _scalar(shape, mode)
        case s.Nullable():
            return _nullable(reader(shape.of, mode))
        case s.ListOf():
            return _list(reader(shape.item, mode))
        case s.DictOf():
            return _dict(shape, reader(shape.value, mode), mode)
        case s.Enum():
            return _enum(shape.values, mode)
        case s.Const():
            return _enum((shape.value,), mode)
        case s.Ref():
            return reader(shape.of, mode)
        case s.Union():
            return _union(shape, mode)
        case s.Partial():
            return _struct(shape.of, mode, partial=True)
        case s.Struct():
            return _struct(shape, mode)
    raise TypeError(f"no such shape: {shape!r}")


def _bad(problems: list[str], where: str, reason: str) -> Any:
    problems.append(f"{where}: {reason}")
    return BAD


def _expected(problems: list[str], where: str, words: str, value: Any) -> Any:
    return _bad(problems, where, f"expected {words}, got {shown(value)}")


# -- scalars


def _scalar(shape: s.Scalar, mode: Mode) -> Read:
    convert = _CONVERT[shape.name]
    words = shape.words
    lenient = mode == "lenient"
    arguments = mode != "state"

    def read(value: Any, where: str, problems: list[str]) -> Any:
        result = convert(value, lenient, arguments)
        if result is BAD:
            return _expected(problems, where, words, value)
        if result.__class__ is _Reason:
            return _bad(problems, where, result.reason)
        return result

    return read


class _Reason:
    """A more telling refusal than "expected X, got Y"."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


_TOO_LARGE: Final = _Reason("expected a whole number within ±2^53")
_NOT_FINITE: Final = _Reason("expected a finite number")
_NOT_UNICODE: Final = _Reason("text is not valid Unicode")


def _str(value: Any, lenient: bool, arguments: bool) -> Any:
    if value.__class__ is not str:
        return BAD
    return value if clean_text(value) else _NOT_UNICODE


def _int(value: Any, lenient: bool, arguments: bool) -> Any:
    if (lenient and value.__class__ is str and _INTEGER.fullmatch(value)) or (
        lenient and value.__class__ is float and value.is_integer()
    ):
        value = int(value)
    if value.__class__ is not int:
        return BAD
    return value if -s.MAX < value < s.MAX else _TOO_LARGE


def _number(value: Any, lenient: bool, arguments: bool) -> Any:
    if lenient and value.__class__ is str and _NUMBER.fullmatch(value):
        value = int(value) if _INTEGER.fullmatch(value) else float(value)
    if value.__class__ is int:
        return value if -s.MAX < value < s.MAX else _TOO_LARGE
    if value.__class__ is not float:
        return BAD
    return value if math.isfinite(value) else _NOT_FINITE


def _float(value: Any, lenient: bool, arguments: bool) -> Any:
    if value.__class__ is int and value.bit_length() < 64 and int(float(value)) == value:
        return float(value)  # a float holds some whole numbers beyond 2^53 exactly
    value = _number(value, lenient, arguments)
    return float(value) if value.__class__ is int else value


def _bool(value: Any, lenient: bool, arguments: bool) -> Any:
    if value.__class__ is bool:
        return value
    if lenient and value.__class__ is str:
        return {"true": True, "false": False}.get(value, BAD)
    return BAD


def _money(value: Any, lenient: bool, arguments: bool) -> Any:
    if value.__class__ is str:
        if not (lenient and _NUMBER.fullmatch(value)):
            return BAD
        text = value
    else:
        value = _number(value, False, arguments)
        if value.__class__ is not int and value.__class__ is not float:
            return value
        text = repr(value)
    try:
        minor = Decimal(text) * 100
        whole = int(minor)
    except (InvalidOperation, OverflowError, ValueError):
        return BAD
    if minor != whole:
        return _Reason(f"expected an amount with at most 2 decimals, got {shown(value)}")
    return whole if -MONEY_MAX <= whole <= MONEY_MAX else _Reason("the amount is too large")


def _date(value: Any, lenient: bool, arguments: bool) -> Any:
    found = canonical_date(value) if value.__class__ is str else None
    return BAD if found is None else found


def _time(value: Any, lenient: bool, arguments: bool) -> Any:
    found = canonical_time(value) if value.__class__ is str else None
    return BAD if found is None or (found != value and not lenient) else found


def _datetime(zoned: bool) -> Callable[[Any, bool, bool], Any]:
    def convert(value: Any, lenient: bool, arguments: bool) -> Any:
        found = canonical_datetime(value, zoned) if value.__class__ is str else None
        return BAD if found is None or (found != value and not lenient) else found

    return convert


def _zone(value: Any, lenient: bool, arguments: bool) -> Any:
    found = canonical_zone(value) if value.__class__ is str and len(value) < 64 else None
    return BAD if found is None else found


def _any(value: Any, lenient: bool, arguments: bool) -> Any:
    problem = any_problem(value)
    return copy(value) if problem is None else _Reason(problem)


_CONVERT: Final[dict[str, Callable[[Any, bool, bool], Any]]] = {
    "str": _str, "int": _int, "float": _float, "number": _number, "bool": _bool, "money": _money, "date": _date,
    "time": _time, "datetime": _datetime(True), "local_datetime": _datetime(False), "zone": _zone, "duration": _int,
    "any": _any,
}  # fmt: skip


def _enum(values: tuple[Any, ...], mode: Mode) -> Read:
    by_text = {str(v): v for v in values if v.__class__ is int} if mode == "lenient" else {}
    words = "one of " + ", ".join(json.dumps(v, ensure_ascii=False) for v in values)
    if len(values) == 1:
        words = words.removeprefix("one of ")
    index = {(v.__class__, v): v for v in values}

    def read(value: Any, where: str, problems: list[str]) -> Any:
        cls = value.__class__
        if cls is str or cls is int or cls is bool:
            found = index.get((cls, value), BAD)
            if found is not BAD or (found := by_text.get(value, BAD)) is not BAD:
                return found
        hint = nearest(value, (v for v in values if isinstance(v, str))) if cls is str and len(value) < 80 else None
        problem = f"expected {words}, got {shown(value)}"
        return _bad(problems, where, f"{problem}; did you mean {hint}?" if hint else problem)

    return read


# -- parts


def _nullable(read_value: Read) -> Read:
    def read(value: Any, where: str, problems: list[str]) -> Any:
        return None if value is None else read_value(value, where, problems)

    return read


def _list(read_item: Read) -> Read:
    def read(value: Any, where: str, problems: list[str]) -> Any:
        if value.__class__ is not list and value.__class__ is not tuple:
            if value == "" and value.__class__ is str:
                return _bad(problems, where, "expected a list, got empty text; omit the field or send []")
            return _expected(problems, where, "a list", value)
        before = len(problems)
        result = [read_item(item, f"{where}[{i}]", problems) for i, item in enumerate(value)]
        return result if len(problems) == before else BAD

    return read


def _dict(shape: s.DictOf, read_value: Read, mode: Mode) -> Read:
    read_key = key_reader(shape.key)

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if value.__class__ is not dict:
            return _expected(problems, where, "an object", value)
        before = len(problems)
        result = {}
        for k, v in value.items():
            key = read_key(k, where, problems)
            result[key] = read_value(v, f"{where}.{_name(k)}", problems)
        return result if len(problems) == before else BAD

    return read


def key_reader(shape: s.Shape) -> Read:
    """The reader of a key of a JSON object: the text, or the whole number it writes."""
    of = shape.of if isinstance(shape, s.Ref) else shape
    if of is s.INT:
        return _int_key
    read = reader(of, "state")

    def read_text(value: Any, where: str, problems: list[str]) -> Any:
        if value.__class__ is not str:
            return _bad(problems, where, f"expected text as key, got {kind(value)}")
        return read(value, f"{where}.{_name(value)}", problems)

    return read_text


def _int_key(value: Any, where: str, problems: list[str]) -> Any:
    if value.__class__ is str and _INTEGER.fullmatch(value):
        number = int(value)
        if str(number) == value and -s.MAX < number < s.MAX:
            return number
    return _bad(problems, where, f"expected a whole number as key, got {shown(value)}")


def _name(key: Any) -> str:
    text = key if key.__class__ is str else kind(key)
    return text if len(text) <= 40 and clean_text(text) else shown(text)


def _union(shape: s.Union, mode: Mode) -> Read:
    readers: dict[Any, Read] = {}
    tag_json = shape.tag
    for member in shape.members:
        field = member.field(shape.tag)
        tag_json = field.json
        assert isinstance(field.shape, s.Const)
        readers[field.shape.value] = reader(member, mode)
    words = ", ".join(json.dumps(v, ensure_ascii=False) for v in readers)

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if value.__class__ is not dict:
            return _expected(problems, where, "an object", value)
        tag = value.get(tag_json)
        member = readers.get(tag) if tag.__class__ in (str, int, bool) else None
        if member is None:
            found = f"got {shown(tag)}" if tag_json in value else "it is missing"
            return _bad(problems, f"{where}.{tag_json}", f"expected one of {words}, {found}")
        return member(value, where, problems)

    return read


# -- structs and fields


def _struct(shape: s.Struct, mode: Mode, partial: bool = False) -> Read:
    plan: list[tuple[s.Field, str, str, Any, Read]] = [
        (f, f.name, f.json, _plain_class(f), field_reader(f, mode)) for f in shape.fields
    ]
    names = {f.json for f in shape.fields}

    def read(value: Any, where: str, problems: list[str]) -> Any:
        if value.__class__ is not dict:
            return _expected(problems, where, "an object", value)
        before = len(problems)
        result: dict[str, Any] = {}
        seen = 0
        for field, name, outside, plain, read_value in plan:
            item: Any = value.get(outside, BAD)
            if item.__class__ is plain and (plain is bool or item.isascii()):
                seen += 1
                result[name] = item
                continue
            if item is BAD:
                if not partial:
                    _fill(field, result, where, problems)
                continue
            seen += 1
            if item is None and mode != "state" and (partial or not field.required) and not nullable(field.shape):
                if not partial:
                    _fill(field, result, where, problems)
                continue
            result[name] = read_value(item, f"{where}.{outside}" if where else outside, problems)
        if seen != len(value):
            _unknown(value, names, where, problems)
        return result if len(problems) == before else BAD

    return read


def _fill(field: s.Field, result: dict[str, Any], where: str, problems: list[str]) -> None:
    if field.default is not s.MISSING:
        result[field.name] = copy(field.default)
    elif not field.absent:
        problems.append(f"{where}.{field.json}: is missing" if where else f"{field.json}: is missing")


def _unknown(value: dict[Any, Any], names: set[str], where: str, problems: list[str]) -> None:
    for key in value:
        if key not in names:
            shown_key = _name(key)
            hint = nearest(shown_key, names) if len(shown_key) < 80 else None
            place = f"{where}.{shown_key}" if where else shown_key
            problems.append(f"{place}: unknown field" + (f"; did you mean {hint}?" if hint else ""))


def nullable(shape: s.Shape) -> bool:
    """Whether null is a value of the shape."""
    return isinstance(shape, s.Nullable) or shape is s.ANY


def _plain_class(field: s.Field) -> type | None:
    """The class whose instances need no further look (text: when ASCII), or None when every value needs one."""
    if bound_problem(field) is not None:
        return None
    if field.shape is s.STR:
        return str
    return bool if field.shape is s.BOOL else None


def field_reader(field: s.Field, mode: Mode) -> Read:
    """The reader of a field: its shape, then its bounds."""
    found: Read | None = field.memo.get(mode)
    if found is None:
        found = field.memo[mode] = _bounded(reader(field.shape, mode), bound_problem(field))
    return found


def _bounded(read_value: Read, problem_of: Callable[[Any], str | None] | None) -> Read:
    if problem_of is None:
        return read_value

    def read(value: Any, where: str, problems: list[str]) -> Any:
        result = read_value(value, where, problems)
        if result is not BAD and (reason := problem_of(result)) is not None:
            return _bad(problems, where, reason)
        return result

    return read


def bound_problem(field: s.Field) -> Callable[[Any], str | None] | None:
    """A function from an internal value to the bound it breaks, in words, or None. None when there are no bounds."""
    if "bounds" not in field.memo:
        field.memo["bounds"] = _bounds(field)
    found: Callable[[Any], str | None] | None = field.memo["bounds"]
    return found


def _bounds(field: s.Field) -> Callable[[Any], str | None] | None:
    of = field.shape.of if isinstance(field.shape, s.Nullable) else field.shape
    tests: tuple[tuple[str, Callable[[Any, Any], Any], Any], ...] = (
        ("at least", operator.ge, field.ge),
        ("more than", operator.gt, field.gt),
        ("at most", operator.le, field.le),
        ("less than", operator.lt, field.lt),
    )
    limits = [test for test in tests if test[2] is not None]
    shortest, longest = field.min_length, field.max_length
    pattern = None if field.pattern is None else re.compile(field.pattern)
    if not limits and pattern is None and shortest is None and longest is None:
        return None
    unit = "characters" if of is s.STR else "items"

    def problem(value: Any) -> str | None:
        if value is None:
            return None
        for words, test, limit in limits:
            if not test(value, limit):
                return f"must be {words} {_money_text(limit) if of is s.MONEY else limit}"
        if shortest is not None and len(value) < shortest:
            return f"must have at least {shortest} {unit}"
        if longest is not None and len(value) > longest:
            return f"must have at most {longest} {unit}"
        if pattern is not None and pattern.search(value) is None:
            return f"must match the pattern {field.pattern}"
        return None

    return problem


def _money_text(minor: int) -> str:
    return str(minor // 100) if minor % 100 == 0 else repr(minor / 100)


# -- text


_NESTED: Final = 200
_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.S)


def _depth(text: str) -> int:
    """How deep brackets nest outside of JSON strings, counted to one more than is allowed; in linear time."""
    deepest = depth = 0
    for match in _BRACKET.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > _NESTED:
                break
        elif match[0] in "]}":
            depth -= 1
    return deepest


def decode(text: str | bytes) -> Any:
    """JSON text decoded once; ValueError says why it cannot be. Constants such as NaN and repeated keys are refused."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        if text.count("[") + text.count("{") > _NESTED and _depth(text) > _NESTED:
            raise ValueError("it nests too deeply")  # Python's own limit depends on how deep the caller stands
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {_name(key)} is given twice")
            seen.add(key)
    return result

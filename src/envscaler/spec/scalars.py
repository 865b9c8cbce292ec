"""Text as a value of a scalar type: strict, with the reason when it is none."""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
import zoneinfo
from typing import Any, Final

from envscaler.spec.types import Scalar

__all__ = ["MAX_INT", "MAX_MONEY", "NotA", "any_value", "datetime_text", "parse_scalar", "plain_json"]

MAX_INT: Final = 2**53
MAX_MONEY: Final = 10**15  # minor units; up to there two decimals survive a JSON number

_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,19})\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?\Z")
_NUMERIC = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_MONEY = re.compile(r"(-?)(0|[1-9][0-9]{0,19})(?:\.([0-9]{1,40}))?\Z")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?\Z")
_DATETIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(Z|[+-][0-9]{2}:[0-9]{2})?\Z")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z0-9_+-]{1,30}){0,2}\Z")


class NotA(ValueError):
    """The text is no value of the type; the message says what was expected."""


def parse_scalar(text: str, kind: Scalar, *, zoned: bool) -> Any:
    """The internal value of ``text`` (money in minor units, dates as canonical text). Raises NotA.

    ``zoned`` is whether the spec's datetimes have a zone. Not for `any`, whose values need the style of the text.
    """
    if kind.name == "str":
        return text
    if kind.name == "datetime":
        return datetime_text(text, zoned=zoned)
    return _PARSERS[kind.name](text)


def _int(text: str) -> int:
    if not _INT.match(text):
        if text[:1] in "0+" and text[1:].isdigit():
            raise NotA(f"a whole number is written without leading {text[0]!r}; is it meant to be str?")
        raise NotA("expected a whole number such as 7 or -12, without quotes")
    return _bounded(int(text))


def _bounded(value: int) -> int:
    if abs(value) >= MAX_INT:
        raise NotA("whole numbers are below 2**53 in size")
    return value


def _float(text: str) -> float:
    if not _NUMBER.match(text):
        raise NotA("expected a number such as 7, 0.5 or 1e6, without quotes; NaN and infinity are none")
    value = float(text)
    if not math.isfinite(value):
        raise NotA("the number is too large")
    return value


def _number(text: str) -> int | float:
    return _int(text) if _INT.match(text) else _float(text)


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        near = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(text.lower(), text.lower())
        raise NotA(f"expected true or false{f'; write {near}' if near in ('true', 'false') else ''}, without quotes")
    return text == "true"


def _money(text: str) -> int:
    match = _MONEY.match(text)
    if not match:
        raise NotA("expected an amount such as 12 or 0.25, without quotes")
    sign, whole, cents = match[1], match[2], match[3] or ""
    if cents[2:].strip("0"):
        raise NotA("an amount has at most two decimals")
    minor = int(whole) * 100 + int(cents[:2].ljust(2, "0"))
    if minor > MAX_MONEY:
        raise NotA("amounts are at most 10**13 in size")
    return -minor if sign else minor


def _date(text: str) -> str:
    match = _DATE.match(text)
    try:
        if match:
            return dt.date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    except ValueError as error:
        raise NotA(f"there is no such day: {error}") from None
    raise NotA("expected a date such as 2030-03-04")


def _time(text: str) -> str:
    match = _TIME.match(text)
    try:
        if match:
            return dt.time(int(match[1]), int(match[2]), int(match[3] or 0)).isoformat()
    except ValueError as error:
        raise NotA(f"there is no such time: {error}") from None
    raise NotA("expected a time such as 09:00 or 09:00:30")


def datetime_text(text: str, *, zoned: bool | None) -> str:
    """Canonical text of a datetime: `2030-03-04T09:00:00`, in UTC with Z when zoned. None takes either. Raises NotA."""
    match = _DATETIME.match(text)
    if not match:
        raise NotA(f"expected a datetime such as 2030-03-04T09:00:00{'' if zoned is False else 'Z'}")
    zone = match[3]
    if zoned is True and not zone:
        raise NotA("expected a zone at the end, as the spec's clock has one: Z, or an offset such as +01:00")
    if zoned is False and zone:
        raise NotA("expected no zone at the end, as the spec's clock has none")
    local = dt.datetime.fromisoformat(f"{_date(match[1])}T{_time(match[2])}")
    if not zone:
        return local.isoformat()
    try:
        return (local - _offset(zone)).isoformat() + "Z"
    except OverflowError:
        raise NotA("the datetime is out of range") from None


def _offset(zone: str) -> dt.timedelta:
    if zone == "Z":
        return dt.timedelta()
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise NotA(f"there is no offset {zone}")
    return dt.timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)


@functools.cache
def zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _zone(text: str) -> str:
    if not _ZONE.match(text) or (text not in zones() and text != "UTC"):
        raise NotA("expected the name of a time zone such as Europe/Lisbon or UTC")
    return text


_PARSERS: Final = {
    "int": _int,
    "float": _float,
    "number": _number,
    "bool": _bool,
    "money": _money,
    "date": _date,
    "time": _time,
    "zone": _zone,
}


def any_value(text: str, plain: bool) -> Any:
    """What unquoted (``plain``) or quoted text is where no type is declared: null, bool, number or text, as in JSON.

    Raises NotA for numbers past the bounds.
    """
    if not plain:
        return text
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _INT.match(text) or _NUMBER.match(text):
        return _number(text)
    if _NUMERIC.match(text):
        raise NotA("the number has too many digits")
    return text


def plain_json(kind: Scalar, text: str, value: Any) -> Any:
    """The JSON form of an internal value: money as a number, the rest as it is. ``text`` is how it was written."""
    if kind.name == "money":
        return int(text) if _INT.match(text) else float(text)
    return value

"""Dates, times, zones and durations in their canonical text: the whole of the language's calendar."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, timedelta
from datetime import date as _date
from datetime import datetime as _datetime
from datetime import time as _time
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from envscaler.runtime.results import Failure

__all__ = [
    "add_months", "at_zone", "canonical_date", "canonical_datetime", "canonical_time", "canonical_zone", "combine", "date",
    "date_diff", "date_part", "date_shift", "datetime_diff", "datetime_shift", "day", "days", "hour", "hours", "instant",
    "instant_at", "minute", "minutes", "month", "month_start", "second", "time_diff",
    "time_of", "time_part", "time_shift", "time_text", "weekday", "year",
]  # fmt: skip

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d(:\d\d)?", re.ASCII)
_DATETIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.0{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII)


# -- reading; None when the text is no such thing


def canonical_date(text: str) -> str | None:
    """The date if the text is one."""
    if _DATE.fullmatch(text) is None:
        return None
    try:
        return _date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def canonical_time(text: str) -> str | None:
    """``HH:MM:SS`` of a text with or without seconds."""
    if _TIME.fullmatch(text) is None:
        return None
    try:
        return _time.fromisoformat(text).isoformat("seconds")
    except ValueError:
        return None


def canonical_datetime(text: str, zoned: bool) -> str | None:
    """Canonical text of an instant (``zoned``: with Z, offsets turned into UTC) or of a wall-clock time (no zone)."""
    found = _DATETIME.fullmatch(text)
    if found is None or (found[3] is not None) != zoned:
        return None
    try:
        moment = _datetime.fromisoformat(f"{found[1]}T{found[2]}{(found[3] or '').replace('Z', '+00:00')}")
        return _text(moment.astimezone(UTC) if zoned else moment, zoned)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=512)
def canonical_zone(text: str) -> str | None:
    """The name of a time zone if the zone database has it."""
    try:
        return text if ZoneInfo(text).key == text else None
    except Exception:  # zoneinfo raises a dozen kinds, OSError among them, for names of other shapes
        return None


def _text(moment: _datetime, zoned: bool) -> str:
    text = moment.replace(tzinfo=None).isoformat("T", "seconds")
    return text + "Z" if zoned else text


def _parse(text: str) -> tuple[_datetime, bool]:
    zoned = text.endswith("Z")
    return _datetime.fromisoformat(text[:-1] if zoned else text), zoned


def _outside(error: Exception) -> Failure:
    return Failure("arithmetic", f"The date is out of range: {error}.")


# -- durations, in seconds


def days(n: int) -> int:
    """A duration of n days."""
    return n * 86400


def hours(n: int) -> int:
    """A duration of n hours."""
    return n * 3600


def minutes(n: int) -> int:
    """A duration of n minutes."""
    return n * 60


# -- arithmetic


def date_shift(day_: str, seconds: int) -> str:
    """The date a duration later; parts of a day are cut off."""
    try:
        return (_date.fromisoformat(day_) + timedelta(days=seconds // 86400)).isoformat()
    except OverflowError as error:
        raise _outside(error) from None


def datetime_shift(moment: str, seconds: int) -> str:
    """The time a duration later."""
    parsed, zoned = _parse(moment)
    try:
        return _text(parsed + timedelta(seconds=seconds), zoned)
    except OverflowError as error:
        raise _outside(error) from None


def time_shift(clock: str, seconds: int) -> str:
    """The time of day a duration later, round the clock."""
    at = (_seconds(clock) + seconds) % 86400
    return f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}"


def _seconds(clock: str) -> int:
    return int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:8])


def time_diff(a: str, b: str) -> int:
    """a - b of two times of one day, in seconds; negative when b is later."""
    return _seconds(a) - _seconds(b)


def date_diff(a: str, b: str) -> int:
    """a - b of two dates, in seconds."""
    return (_date.fromisoformat(a) - _date.fromisoformat(b)).days * 86400


def datetime_diff(a: str, b: str) -> int:
    """a - b of two datetimes of one form, in seconds."""
    gap = _parse(a)[0] - _parse(b)[0]
    return gap.days * 86400 + gap.seconds


def add_months(x: str, n: int) -> str:
    """The same day n months on, or the last day of that month; a datetime keeps its time."""
    index = int(x[:4]) * 12 + int(x[5:7]) - 1 + n
    y, m = index // 12, index % 12 + 1
    if not 1 <= y <= 9999:
        raise Failure("arithmetic", "The date is out of range.")
    last = calendar.monthrange(y, m)[1]
    return f"{y:04d}-{m:02d}-{min(int(x[8:10]), last):02d}{x[10:]}"


def month_start(x: str) -> str:
    """The first day of the month, a date."""
    return x[:8] + "01"


# -- parts


def year(x: str) -> int:
    """The year of a date or datetime."""
    return int(x[:4])


def month(x: str) -> int:
    """The month of a date or datetime, 1 to 12."""
    return int(x[5:7])


def day(x: str) -> int:
    """The day of the month of a date or datetime."""
    return int(x[8:10])


def weekday(x: str) -> int:
    """The day of the week of a date or datetime; Monday is 0."""
    return _date.fromisoformat(x[:10]).weekday()


def hour(x: str) -> int:
    """The hour of a datetime or time."""
    return int(time_part(x)[:2])


def minute(x: str) -> int:
    """The minute of a datetime or time."""
    return int(time_part(x)[3:5])


def second(x: str) -> int:
    """The second of a datetime or time."""
    return int(time_part(x)[6:8])


def date_part(x: str) -> str:
    """The date of a datetime."""
    return x[:10]


def time_part(x: str) -> str:
    """The time of day of a datetime (or time)."""
    return x if x[2] == ":" else x[11:19]


# -- making


def date(x: str | int, m: int | None = None, d: int | None = None) -> str:
    """A date from its text, from a datetime, or from year, month and day."""
    if isinstance(x, int):
        try:
            return _date(x, m or 0, d or 0).isoformat()
        except (ValueError, OverflowError) as error:
            raise _outside(error) from None
    found = canonical_date(x[:10]) if len(x) == 10 or _DATETIME.fullmatch(x) else None
    if found is None:
        raise Failure("arithmetic", f"{_cut(x)} is not a date.")
    return found


def time_of(x: str | int, minutes_: int | None = None) -> str:
    """A time of day from its text, or from hour and minute."""
    found = canonical_time(x) if isinstance(x, str) else canonical_time(f"{x:02d}:{minutes_:02d}")
    if found is None:
        raise Failure("arithmetic", f"{_cut(x if isinstance(x, str) else f'{x}:{minutes_}')} is not a time of day.")
    return found


def instant(x: str, clock: str | None = None, zoned: bool = True) -> str:
    """A datetime from its text, or from a date and a time of day. ``zoned``: the spec's clock has a zone."""
    if clock is not None:
        return combine(x, clock, zoned)
    found = canonical_datetime(x, zoned)
    if found is None:
        raise Failure("arithmetic", f"{_cut(x)} is not a time like 2030-03-04T09:00:00{'Z' if zoned else ''}.")
    return found


def combine(day_: str, clock: str, zoned: bool) -> str:
    """The datetime of a date and a time of day (in UTC when zoned)."""
    return f"{day_}T{clock}{'Z' if zoned else ''}"


def at_zone(moment: str, zone: str) -> str:
    """The wall clock of a zone at an instant: a datetime without zone."""
    if canonical_zone(zone) is None:
        raise Failure("arithmetic", f"{_cut(zone)} is not a time zone.")
    try:
        return _text(_parse(moment)[0].replace(tzinfo=UTC).astimezone(ZoneInfo(zone)), False)
    except OverflowError as error:
        raise _outside(error) from None


def instant_at(day_: str, clock: str, zone: str, zoned: bool = True) -> str:
    """The instant at which a zone's wall clock shows a date and time.

    The first of two when clocks go back; when they go forward, a time that is skipped counts as if they had not yet.
    """
    if canonical_zone(zone) is None:
        raise Failure("arithmetic", f"{_cut(zone)} is not a time zone.")
    try:
        local = _datetime.fromisoformat(f"{day_}T{clock}").replace(tzinfo=ZoneInfo(zone))
        return _text(local.astimezone(UTC), zoned)
    except OverflowError as error:
        raise _outside(error) from None


# -- showing

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DIRECTIVE: Final = re.compile(r"%([a-zA-Z%])")


def time_text(x: str, form: str) -> str:
    """A date, datetime or time of day in a form of `%Y %m %d %B %b %A %a` and `%H %M %S %I %p`; names are English."""
    return _DIRECTIVE.sub(lambda match: _directive(x, match[1]), form)


def _directive(x: str, letter: str) -> str:
    match letter:
        case "Y" | "m" | "d":
            return x[{"Y": slice(0, 4), "m": slice(5, 7), "d": slice(8, 10)}[letter]]
        case "H" | "M" | "S":
            return time_part(x)[{"H": slice(0, 2), "M": slice(3, 5), "S": slice(6, 8)}[letter]]
        case "B" | "b":
            return _MONTHS[month(x) - 1][: None if letter == "B" else 3]
        case "A" | "a":
            return _DAYS[weekday(x)][: None if letter == "A" else 3]
        case "I":
            return f"{(hour(x) - 1) % 12 + 1:02d}"
        case "p":
            return "AM" if hour(x) < 12 else "PM"
        case _:
            return "%"


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"

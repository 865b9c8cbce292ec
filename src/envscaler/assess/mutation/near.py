"""Dates and times beside one: where a bound on time is too far or too near, one of them shows it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["is_time", "times_near"]

_TIME: Final = re.compile(r"(?:(\d{4}-\d{2}-\d{2})(?:([T ])(?=\d))?)?(\d{2}:\d{2}(?::\d{2})?)?(Z?)")
_DAYS: Final = (-1, 1, 7, -30, 365)
_MINUTES: Final = (-1, 1)


def is_time(text: str) -> bool:
    """Whether a text is a date, a time of day or both, as values of these types are written."""
    return bool(text) and _TIME.fullmatch(text) is not None


def times_near(text: str) -> Iterator[str]:
    """The same kind of text for days and for minutes beside it; nothing for any other text."""
    found = _TIME.fullmatch(text)
    if found is None or not text:
        return
    day, between, time, zone = found[1], found[2] or "", found[3] or "", found[4]
    try:
        at = datetime.datetime.fromisoformat(f"{day or '2000-01-02'}T{time or '00:00'}")
    except ValueError:
        return
    steps = [datetime.timedelta(days=n) for n in _DAYS] if day else []
    steps += [datetime.timedelta(minutes=n) for n in _MINUTES] if time else []
    for step in steps:
        try:
            moved = at + step
        except OverflowError:
            continue
        clock = moved.time().isoformat()[: len(time)]
        yield f"{moved.date().isoformat() if day else ''}{between}{clock}{zone}"

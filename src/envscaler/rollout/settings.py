"""Settings of a part, told by name: read, and refused where they are unknown or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin.settings import refuse_unknown

__all__ = ["read_settings"]


def read_settings(who: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """What was ``given`` over the defaults of ``known``, each of the kind of its default: a number for a number, text for text;
    a default of None takes any number. Raises UsageError."""
    refuse_unknown(who, given, known)
    for name, value in given.items():
        if problem := _problem(value, known[name]):
            raise UsageError(f"{who}: {name} is {problem}, not {value!r}")
    return {**known, **given}


def _problem(value: Any, default: Any) -> str:
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        return "" if isinstance(value, str) else "text"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "a number"
    if isinstance(default, int) and (not isinstance(value, int) or value < 1):
        return "a whole number above 0"
    return ""

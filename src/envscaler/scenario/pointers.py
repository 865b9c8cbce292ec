"""What stands at the JSON pointers that sources of scenarios write: into results, whose members' names they may mean, and into
arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.runtime.pointers import parts
from envscaler.runtime.shapes import MISSING

__all__ = ["MISSING", "lookup", "members", "replaced"]


def lookup(value: Any, pointer: str) -> Any:
    """What stands at a pointer, or MISSING. One that ends with `#` means the name of the member that it points to."""
    named = pointer.endswith("#")
    names = parts(pointer[:-1] if named else pointer)
    for name in names:
        value = _member(value, name)
        if value is MISSING:
            return MISSING
    return names[-1] if named and names else value


def _member(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name, MISSING)
    if isinstance(value, list | tuple) and name.isdigit() and int(name) < len(value):
        return value[int(name)]
    return MISSING


def replaced(value: Any, pointer: str, new: Any) -> Any:
    """A copy of ``value`` with ``new`` at a pointer; what lies beside its way is shared."""
    return _replaced(value, parts(pointer), new)


def _replaced(value: Any, names: list[str], new: Any) -> Any:
    if not names:
        return new
    if isinstance(value, Mapping):
        return {**value, names[0]: _replaced(value.get(names[0]), names[1:], new)}
    at = int(names[0])
    return [*value[:at], _replaced(value[at], names[1:], new), *value[at + 1 :]]


def members(value: Any, pointer: str) -> tuple[list[Any], int, list[str]] | None:
    """The innermost list or map of records that a pointer leads through: its members, which of them is meant, and the rest
    of the way; None when it leads through none."""
    names = parts(pointer.removesuffix("#"))
    found = None
    for n, name in enumerate(names):
        if isinstance(value, list | tuple) and name.isdigit() and int(name) < len(value):
            found = (list(value), int(name), names[n + 1 :])
        elif isinstance(value, Mapping) and name in value and _records(value):
            found = (list(value.values()), list(value).index(name), names[n + 1 :])
        value = _member(value, name)
        if value is MISSING:
            return None
    return found


def _records(value: Mapping[str, Any]) -> bool:
    """Whether a map has records by key, rather than being one: all its members are maps with the same names."""
    kinds = {frozenset(one) if isinstance(one, Mapping) else None for one in value.values()}
    return len(kinds) == 1 and None not in kinds

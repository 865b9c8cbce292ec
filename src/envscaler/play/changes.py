"""Differences of a state as a person reads them: record, field, before and after, instead of a patch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from envscaler.runtime import pointers
from envscaler.runtime import shapes as s

__all__ = ["NOTHING", "Change", "changes"]


class _Nothing:
    """Where one side of a change has nothing."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. ``sign``: `+` came, `-` went, `~` is another. ``key`` is None in a single record; ``field`` is a
    dotted path in the record, empty for the record as a whole. Values in JSON form, or NOTHING."""

    sign: Literal["+", "-", "~"]
    state: str
    key: str | None
    field: str
    before: Any
    after: Any

    @property
    def record(self) -> str:
        """``accounts A-2001``, or the state's name alone."""
        return self.state if self.key is None else f"{self.state} {self.key}"


_SIGNS: Final[Mapping[str, Literal["+", "-", "~"]]] = {"add": "+", "remove": "-", "replace": "~"}


def changes(states: Iterable[s.StateShape], ops: Iterable[Mapping[str, Any]]) -> tuple[Change, ...]:
    """The operations of `Environment.diff` as changes of records and fields."""
    collections = {shape.name for shape in states if isinstance(shape, s.Collection)}
    flat = {
        f.json: shape.name
        for shape in states
        if isinstance(shape, s.Single) and shape.form == "flat"
        for f in shape.record.fields
    }
    return tuple(_change(op, collections, flat) for op in ops)


def _change(op: Mapping[str, Any], collections: set[str], flat: Mapping[str, str]) -> Change:
    parts = pointers.parts(op["path"])
    if not parts:
        state, key, rest = "", None, parts
    elif parts[0] in collections:
        state, key, rest = parts[0], parts[1], parts[2:]
    elif parts[0] in flat:
        state, key, rest = flat[parts[0]], None, parts
    else:
        state, key, rest = parts[0], None, parts[1:]
    return Change(_SIGNS[op["op"]], state, key, ".".join(rest), op.get("before", NOTHING), op.get("value", NOTHING))

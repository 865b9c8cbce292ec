"""Where the operations of a state difference stand: the state, the record, the field, by the names of the spec language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envscaler.runtime import Environment, pointers
from envscaler.runtime import shapes as s
from envscaler.scenario.literals import key_literal
from envscaler.scenario.wording.english import words_of

__all__ = ["Place", "places"]


@dataclass(frozen=True, slots=True)
class Place:
    """``key`` is the record's own (None for a single record), ``field`` the top-level field and ``path`` what of it is named
    by the operation; no field and no path for a whole record."""

    state: str
    shape: s.StateShape
    key: Any
    field: s.Field | None
    path: tuple[str, ...]

    @property
    def at(self) -> tuple[str, Any]:
        """State and key, by which records are told apart."""
        return self.state, self.key

    def expression(self, view: str = "final") -> str:
        """The record in a goal's words."""
        return f"{view}.{self.state}" if self.key is None else f"{view}.{self.state}[{key_literal(self.key)}]"

    def words(self) -> str:
        """The record in plain words: `account A-0001`."""
        return words_of(self.shape.record.name) + ("" if self.key is None else f" {self.key}")


def places(env: Environment, operations: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Place]]:
    """Each operation of `Environment.diff` with its place."""
    for operation in operations:
        yield operation, _place(env.states, tuple(pointers.parts(operation["path"])))


def _place(shapes: tuple[s.StateShape, ...], parts: tuple[str, ...]) -> Place:
    for shape in shapes:
        if isinstance(shape, s.Single) and shape.form == "flat":
            field = next((f for f in shape.record.fields if f.json == parts[0]), None)
            if field is not None:
                return Place(shape.name, shape, None, field, parts)
        elif shape.name == parts[0]:
            key: Any = None
            rest = parts[1:]
            if isinstance(shape, s.Collection):
                key, rest = (int(rest[0]) if shape.key.of is s.INT else rest[0]), rest[1:]
            field = next((f for f in shape.record.fields if f.json == rest[0]), None) if rest else None
            return Place(shape.name, shape, key, field, rest)
    raise KeyError(parts[0])

"""What a spec tells of values: bounds, members, what the logic compares with, constants, fields that may be absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from envscaler.assess.mutation.compared import compared
from envscaler.spec.model import Spec
from envscaler.spec.types import BOOL, MONEY, STR, Enum, Field, ListOf, Struct, Type, strip_null

__all__ = ["Bounds", "bounds_of"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a spec tells of values. ``fields``: those at and beside declared bounds and the members of enums, by the outside
    name of a field; ``constants``: the values of the spec's constants, as JSON; ``absent``: fields that an object may be
    without, each with the names of all fields of that object, and with values for it."""

    fields: Mapping[str, tuple[Any, ...]]
    constants: tuple[Any, ...] = ()
    absent: tuple[tuple[Set[str], str, tuple[Any, ...]], ...] = ()


def bounds_of(spec: Spec) -> Bounds:
    """What a spec tells of the values of its fields."""
    found: dict[str, list[Any]] = {name: list(numbers) for name, numbers in compared(spec).items()}
    for struct, _ in _structs(spec):
        for field in struct.fields.values():
            found.setdefault(field.json, []).extend(_declared(field))
    constants = (c.value / 100 if c.type == MONEY else c.value for c in spec.constants.values())
    absent = (
        (names, field.json, _some(field.type))
        for struct, names in _structs(spec)
        for field in struct.fields.values()
        if field.absent
    )
    return Bounds({name: tuple(values) for name, values in found.items()}, tuple(constants), tuple(absent))


def _structs(spec: Spec) -> Iterator[tuple[Struct, Set[str]]]:
    """Structures with the names that their fields, and a key that stands among them, have outside."""
    records = [(state.record, {state.key.json} if state.key else set()) for state in spec.states.values()]
    declared: list[tuple[Type, set[str]]] = [*records, *((of, set()) for of in spec.types.values())]
    for of, more in declared:
        if isinstance(of, Struct):
            yield of, more | {field.json for field in of.fields.values()}


def _declared(field: Field) -> Iterator[Any]:
    """Values at and beside the bounds of a field; the members of its enum."""
    inner = strip_null(field.type)
    for bound in (field.ge, field.gt, field.le, field.lt):
        if isinstance(bound, int | float):
            yield from (n / 100 if inner == MONEY else n for n in (bound - 1, bound, bound + 1))
    for length in (field.min_length, field.max_length):
        if length is not None and inner == STR:
            yield from ("x" * n for n in (length - 1, length, length + 1) if n >= 0)
    if isinstance(inner, Enum):
        yield from inner.values


def _some(of: Type) -> tuple[Any, ...]:
    """Some values of a type, in JSON."""
    inner = strip_null(of)
    if inner == BOOL:
        return (True, False)
    if isinstance(inner, Enum):
        return tuple(inner.values)
    if isinstance(inner, ListOf):
        return ([],)
    return (0, 1, 2, "x", "nobody")

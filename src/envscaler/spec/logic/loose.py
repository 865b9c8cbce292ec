"""Where a spec says `any`: each place is named, since nothing in it can be checked."""

from __future__ import annotations

from collections.abc import Iterator

from envscaler.diagnostics import Diagnostic
from envscaler.spec.logic.block import World
from envscaler.spec.model import Spec
from envscaler.spec.types import ANY, DictOf, Field, ListOf, Nullable, Struct, Type

__all__ = ["report_any"]


def report_any(world: World) -> None:
    """A note for every field and parameter that takes any value, when the spec has no errors."""
    if world.report.failed:  # a type that was refused counts as any
        return
    for field in _fields(world.spec):
        if _loose(field.type):
            world.report.extend([Diagnostic(
                "uses-any", field.span, f"'{field.name}' takes any value",
                help="declare its type where it has one; as_type(x, T) tells what a value is", severity="note",
            )])  # fmt: skip


def _loose(of: Type) -> bool:
    match of:
        case ListOf(item=inner) | Nullable(of=inner) | DictOf(value=inner):
            return _loose(inner)
        case _:
            return of == ANY


def _fields(spec: Spec) -> Iterator[Field]:
    structs = [of for of in spec.types.values() if isinstance(of, Struct)]
    for struct in (*structs, *(state.record for state in spec.states.values())):
        yield from struct.fields.values()
    for params in (d.params for d in (*spec.helpers.values(), *spec.setup.values())):
        yield from (p.field for p in params)
    for tool in spec.tools.values():
        yield from (p.field for p in tool.params)

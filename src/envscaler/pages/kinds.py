"""A type as a line of text in which the names of types and states lead to where they are explained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envscaler.spec.model import Spec
from envscaler.spec.types import (
    Const,
    DictOf,
    Enum,
    IterOf,
    Key,
    ListOf,
    Nullable,
    Obj,
    Partial,
    Struct,
    Type,
    Union,
)

__all__ = ["Part", "named_types", "type_parts"]

_INLINE = 60  # an inferred object longer than this stands on lines of its own


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text; ``target`` is the id of the element that explains it, or ""."""

    text: str
    target: str = ""


def named_types(spec: Spec) -> dict[str, str]:
    """Ids of declared types and of record types, by name."""
    found = {name: f"type-{name}" for name in spec.types}
    found.update({s.record.name: f"state-{s.name}" for s in spec.states.values()})
    return found


def type_parts(of: Type, named: dict[str, str], depth: int = 0) -> Iterator[Part]:
    """The pieces of a type, in the language's words."""
    match of:
        case Nullable(of=inner):
            yield from type_parts(inner, named, depth)
            yield Part(" or null")
        case ListOf(item=item) | IterOf(item=item):
            yield Part("list of ")
            yield from type_parts(item, named, depth)
        case DictOf(value=value, key=key):
            yield Part("dict from ")
            yield from type_parts(key, named, depth)
            yield Part(" to ")
            yield from type_parts(value, named, depth)
        case Key(collection=collection):
            yield Part("key of ")
            yield Part(collection, f"state-{collection}")
        case Enum(name=None, values=values):
            yield Part(" | ".join(map(str, values)))
        case Const(value=value):
            yield Part(f"always {value}")
        case Partial(of=struct):
            yield Part("some of ")
            yield from type_parts(struct, named, depth)
        case Enum() | Struct() | Union():
            name = str(of)
            yield Part(name, named.get(name, ""))
        case Obj(items=items):
            yield from _object(items, named, depth)
        case _:
            yield Part(str(of))


def _object(items: tuple[tuple[str, Type], ...], named: dict[str, str], depth: int) -> Iterator[Part]:
    inner = [[Part(f"{name}: "), *type_parts(of, named, depth + 1)] for name, of in items]
    length = sum(len(p.text) for parts in inner for p in parts) + 2 * len(inner)
    broken = length > _INLINE or any("\n" in p.text for parts in inner for p in parts)
    space = f"\n{'  ' * (depth + 1)}" if broken else ""
    yield Part("{")
    for i, parts in enumerate(inner):
        yield Part(("," if i else "") + (space or (" " if i else "")))
        yield from parts
    yield Part(f"\n{'  ' * depth}}}" if broken else "}")

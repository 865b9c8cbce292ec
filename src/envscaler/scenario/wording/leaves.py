"""The single values within an argument, each with its place, its shape and its name; and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import escaped
from envscaler.scenario.model import Source
from envscaler.scenario.wording.values import enum_words, fields_of, label_of, strip_null

__all__ = ["TOLD", "Leaf", "leaves", "source_of"]

TOLD: Final = Source("task")
"""Where a value comes from when nothing else is said: it is told in the task."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value without parts, or an empty list or mapping. ``path``: the parameter, and the JSON pointer below it
    (`to/account_id`). ``label``: what it is called in a sentence. ``key``: it is itself a key of a mapping."""

    path: str
    value: Any
    shape: s.Shape
    label: str
    key: bool = False


def leaves(name: str, value: Any, field: s.Field | None) -> Iterator[Leaf]:
    """The leaves of the argument ``name``; ``field`` is its parameter, None where the tool declares none."""
    label = label_of(field) if field is not None else enum_words(name)
    yield from _leaves(escaped(name), value, field.shape if field is not None else s.ANY, label)


def _leaves(path: str, value: Any, shape: s.Shape, label: str) -> Iterator[Leaf]:
    shape = strip_null(shape)
    if isinstance(value, Mapping) and value:
        fields = fields_of(shape, value)
        for name, one in value.items():
            at = f"{path}/{escaped(name)}"
            if name in fields:
                yield from _leaves(at, one, fields[name].shape, label_of(fields[name]))
            else:
                yield Leaf(at, name, shape.key if isinstance(shape, s.DictOf) else s.ANY, label, key=True)
                of = shape.value if isinstance(shape, s.DictOf) else s.ANY
                yield from _leaves(at, one, of, enum_words(str(name)))
    elif isinstance(value, list | tuple) and value:
        item = shape.item if isinstance(shape, s.ListOf) else s.ANY
        for n, one in enumerate(value):
            yield from _leaves(f"{path}/{n}", one, item, label)
    else:
        yield Leaf(path, value, shape, label)


def source_of(sources: Mapping[str, Source], path: str) -> Source:
    """The source of what stands at ``path``: its own, or that of the nearest part around it."""
    while path:
        if path in sources:
            return sources[path]
        path = path.rpartition("/")[0]
    return TOLD

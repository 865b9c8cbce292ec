"""What a person is told of a tool: its parameters in words, how it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envscaler.play.lines import write_value
from envscaler.runtime import shapes as s
from envscaler.runtime.writing import writer

if TYPE_CHECKING:
    from envscaler.runtime import Tool

__all__ = ["about", "bare", "is_text", "kind_of", "outer", "usage"]


def outer(tool: Tool) -> dict[str, s.Field]:
    """The parameters by the names that are typed."""
    return {p.json: p for p in tool.params.values()}


def usage(tool: Tool) -> str:
    """``transfer from_account= to_account= amount= [text=]``."""
    words = [f"{name}=" if p.required else f"[{name}=]" for name, p in outer(tool).items()]
    return " ".join([tool.name, *words])


def about(field: s.Field) -> str:
    """Type, bounds, default and description of a parameter or field."""
    parts = [", ".join([kind_of(field.shape), *_bounds(field)])]
    if field.default is not s.MISSING:
        parts.append(f"optional: {write_value(writer(field.shape)(field.default))}")
    elif field.absent:
        parts.append("optional")
    if field.description:
        parts.append(" ".join(field.description.split()))
    return "; ".join(parts)


def bare(shape: s.Shape) -> s.Shape:
    """The shape without null."""
    return shape.of if isinstance(shape, s.Nullable) else shape


def is_text(shape: s.Shape) -> bool:
    """Whether a value of the shape is written as text."""
    match bare(shape):
        case s.Ref(of=of):
            return of is not s.INT
        case s.Enum(values=values):
            return isinstance(values[0], str)
        case s.Const(value=value):
            return isinstance(value, str)
        case s.Scalar(name=name):
            return name in ("str", "date", "time", "datetime", "local_datetime", "zone")
    return False


def kind_of(shape: s.Shape, depth: int = 0) -> str:
    """A type in words."""
    match shape:
        case s.Scalar():
            return shape.words
        case s.Nullable():
            return f"{kind_of(shape.of, depth)} or null"
        case s.Ref():
            return f"an id of {shape.collection}"
        case s.Enum():
            return " | ".join(write_value(v) for v in shape.values)
        case s.Const():
            return write_value(shape.value)
        case s.ListOf():
            return f"a list of {kind_of(shape.item, depth).removeprefix('an ').removeprefix('a ')}"
        case s.DictOf():
            return f"an object of {kind_of(shape.value, depth)}"
        case s.Partial():
            return f"some of {kind_of(shape.of, depth)}"
        case s.Struct():
            return shape.name if depth > 1 else _struct(shape, depth + 1)
        case s.Union():
            return " | ".join(kind_of(m, depth) for m in shape.members)
    return "a value"


def _struct(shape: s.Struct, depth: int) -> str:
    fields = (f"{f.json}{'' if f.required else '?'}: {kind_of(f.shape, depth)}" for f in shape.fields)
    return "{" + ", ".join(fields) + "}"


def _bounds(field: s.Field) -> list[str]:
    of = bare(field.shape)
    limits: Mapping[str, Any] = {
        "at least": field.ge,
        "more than": field.gt,
        "at most": field.le,
        "less than": field.lt,
    }
    found = [f"{word} {_number(of, limit)}" for word, limit in limits.items() if limit is not None]
    unit = "items" if isinstance(of, s.ListOf) else "entries" if isinstance(of, s.DictOf) else "characters"
    if field.min_length is not None:
        found.append(f"at least {field.min_length} {unit}")
    if field.max_length is not None:
        found.append(f"at most {field.max_length} {unit}")
    if field.pattern is not None:
        found.append(f"matching {field.pattern}")
    return found


def _number(shape: s.Shape, value: Any) -> str:
    return f"{value / 100:g}" if shape is s.MONEY and isinstance(value, int) else str(value)

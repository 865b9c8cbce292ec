"""What is declared, in words for people: a field's bounds and default, a value of the internal form."""

from __future__ import annotations

import json
from typing import Any

from envscaler.spec.types import (
    MISSING,
    DictOf,
    Field,
    ListOf,
    Nullable,
    Partial,
    Scalar,
    Struct,
    Type,
    Union,
    strip_null,
)
from envscaler.spec.values import written_bound

__all__ = ["bound_words", "json_text", "value_json", "value_words"]


def bound_words(field: Field) -> list[str]:
    """The bounds of a field, `at least 1` and the like, in the order of the reference."""
    words = []
    for name, text in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
        bound = getattr(field, name)
        if bound is not None:
            words.append(f"{text} {written_bound(field.type, bound)}")
    kind = strip_null(field.type)
    units = ("item", "items") if isinstance(kind, ListOf) else ("character", "characters")
    units = ("entry", "entries") if isinstance(kind, DictOf) else units
    for length, text in ((field.min_length, "at least"), (field.max_length, "at most")):
        if length is not None:
            words.append(f"{text} {length} {units[length != 1]}")
    if field.pattern is not None:
        words.append(f"matches {field.pattern}")
    return words


def value_words(value: Any, of: Type) -> str:
    """A value of the internal form as JSON on one line."""
    return json_text(value_json(value, of))


def value_json(value: Any, of: Type) -> Any:
    """The JSON form of a value of the internal form: money in its major unit, fields by their outside names."""
    match of:
        case Nullable(of=inner):
            return None if value is None else value_json(value, inner)
        case Scalar(name="money") if isinstance(value, int):
            return value // 100 if value % 100 == 0 else value / 100
        case ListOf(item=item) if isinstance(value, (list, tuple)):
            return [value_json(v, item) for v in value]
        case DictOf(value=inner) if isinstance(value, dict):
            return {k: value_json(v, inner) for k, v in value.items()}
        case Partial(of=struct) if isinstance(value, dict):
            return _struct(value, struct)
        case Struct() if isinstance(value, dict):
            return _struct(value, of)
        case Union(members=members, tag=tag) if isinstance(value, dict):
            member = next((m for m in members if getattr(m.fields[tag].type, "value", MISSING) == value.get(tag)), None)
            return value if member is None else _struct(value, member)
    return value


def _struct(value: dict[str, Any], of: Struct) -> dict[str, Any]:
    return {of.fields[k].json: value_json(v, of.fields[k].type) for k, v in value.items() if k in of.fields}


def json_text(value: Any) -> str:
    """JSON as people write it on one line."""
    return json.dumps(value, ensure_ascii=False)
